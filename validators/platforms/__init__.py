"""Bundles for competition platforms: their configurations and files, by the rules of a platform."""
