"""Situation frames of speech: precision and recall over confidence; those of texts: `lorehlt`."""
