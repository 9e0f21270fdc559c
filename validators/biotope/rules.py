"""The rules of Bacteria Biotope, by code."""

RULES = ()
