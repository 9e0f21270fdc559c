"""PubAnnotation JSON."""
