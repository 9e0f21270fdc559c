"""Results as values: verdicts, scores, comparisons, agreement, packages and evaluations."""
