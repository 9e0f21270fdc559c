"""Situation frames: Appen annotations, JSON and TSV of systems."""
