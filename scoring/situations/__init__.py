"""Situation frames: precision and recall over confidence."""
