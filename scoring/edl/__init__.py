"""Entity discovery and linking: sets, clusterings and overlaps of mentions."""
