"""Annotation tools: what they export in JSON."""
