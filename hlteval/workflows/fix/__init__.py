"""Corrections of submissions that need no decision."""
