"""BioC XML."""
