"""The engine: one submission and its reference are opened, checked, counted and judged."""
