"""Formats of UIMA and INCEpTION: CAS as XMI and JSON, and WebAnno TSV."""
