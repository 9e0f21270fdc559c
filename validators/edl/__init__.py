"""Rules of entity discovery and linking."""
