"""The canonical intermediate representation: what every reader makes and every scorer reads.

It knows no file format and no task. See docs/representation.md for its tables.
"""

from hlteval.representation.corpus import BrokenKey, Corpus
from hlteval.representation.jsonl import read_jsonl
from hlteval.representation.jsonl_writing import write_jsonl
from hlteval.representation.keys import SEPARATOR, frame_keys, hashed, numbers, ordinals
from hlteval.representation.resolution import (
    align,
    effective_fillers,
    fillers,
    has_repeated_identifiers,
    items,
)
from hlteval.representation.schema import FRAGMENTS, SCHEMA_VERSION, TABLES
from hlteval.representation.selection import of_documents
from hlteval.representation.store import StoreError, load, save
from hlteval.representation.table import Column, Table

__all__ = [
    "FRAGMENTS",
    "SCHEMA_VERSION",
    "SEPARATOR",
    "TABLES",
    "BrokenKey",
    "Column",
    "Corpus",
    "StoreError",
    "Table",
    "align",
    "effective_fillers",
    "fillers",
    "frame_keys",
    "has_repeated_identifiers",
    "hashed",
    "items",
    "load",
    "numbers",
    "of_documents",
    "ordinals",
    "read_jsonl",
    "save",
    "write_jsonl",
]
