"""Syntax with places: JSON and XML, whatever is written in them."""
