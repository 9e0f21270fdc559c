"""Bacteria Biotope: entities with their referents, relations, and knowledge bases of them."""
