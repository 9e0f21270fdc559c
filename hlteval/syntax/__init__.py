"""Syntax with places: JSON, XML, TOML and tab-separated values, in any format."""
