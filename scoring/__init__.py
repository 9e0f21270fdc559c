"""Scoring: the measures of the tasks, over the representation only."""
