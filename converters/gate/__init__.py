"""GATE documents."""
