"""Conversion: inputs in any format become outputs in another, with a list of losses."""
