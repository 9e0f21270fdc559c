"""Reports: renderers of findings, scores, comparisons and lists for people and programs."""
