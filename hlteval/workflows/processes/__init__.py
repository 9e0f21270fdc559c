"""Processes and clusters: batches, orders and graphs of calls in other processes."""
