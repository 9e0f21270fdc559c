"""Workflows: what a command does, as functions that return values."""
