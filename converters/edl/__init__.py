"""Entity discovery and linking: tables of mentions, knowledge bases, neleval, coreference."""
