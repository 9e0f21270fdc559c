"""What tasks need only when they run: readers of their options, and metrics chosen by profile."""
