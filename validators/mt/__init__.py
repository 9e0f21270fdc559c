"""Rules of machine translation: what is submitted beside the documents that were translated."""
