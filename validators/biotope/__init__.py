"""Rules of Bacteria Biotope."""
