"""Rules of HUB-4 templettes."""
