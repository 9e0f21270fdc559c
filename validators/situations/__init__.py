"""Rules of situation frames."""
