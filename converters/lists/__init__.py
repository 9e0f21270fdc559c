"""Lists beside a submission: documents, sentences."""
