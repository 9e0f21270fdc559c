"""Formats of machine translation: sources, reference translations and the output of systems."""
