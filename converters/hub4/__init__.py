"""HUB-4 templettes: template sets, corpora, listings, global maps."""
