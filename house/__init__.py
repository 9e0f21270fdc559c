"""Measures of the code and skeletons of new parts: `make size`, `make new-task` and the like."""
