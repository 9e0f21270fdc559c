"""Formats of the representation itself: Parquet (`corpus`) and JSON Lines."""
