"""Benchmarks of time and memory; see benchmarks/measuring.py."""
