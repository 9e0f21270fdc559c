"""Standoff annotations: BioNLP-ST (`standoff`) and `brat`, dialects of one notation."""
