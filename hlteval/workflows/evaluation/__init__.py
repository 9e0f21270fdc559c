"""Evaluations: campaigns and pipelines over many submissions, and their manifests."""
