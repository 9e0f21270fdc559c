"""HUB-4 templettes: instances mapped to each other, and the points they get."""
