"""Makers of pages: what can be made from code is made from it."""
