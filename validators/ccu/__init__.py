"""CCU: rules over references, submissions and mappings of phase 1."""
