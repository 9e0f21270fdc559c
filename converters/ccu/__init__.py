"""CCU: references, submissions and indexes of phase 1."""
