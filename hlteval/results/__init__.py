"""Results: verdicts, scores and comparisons as values."""
