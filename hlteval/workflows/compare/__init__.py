"""Comparison of systems: resampling, ranks, leaderboards and their folders."""
