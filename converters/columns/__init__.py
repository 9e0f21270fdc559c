"""Columns of tokens and tables of labels."""
