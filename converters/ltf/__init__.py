"""Documents and their segments: LTF, LAF, raw text, plain text, CoNLL-U."""
