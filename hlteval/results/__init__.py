"""Results as values: verdicts, scores, comparisons and signatures."""
