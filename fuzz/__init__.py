"""Damaged files for every reader; see fuzz/__main__.py."""
