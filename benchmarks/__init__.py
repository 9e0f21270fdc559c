"""Speed and memory, measured; see benchmarks/measuring.py."""
