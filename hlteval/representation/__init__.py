"""The canonical intermediate representation: tables that readers make and scorers read.

It knows no file format and no task. See docs/representation.md for its tables.
"""

from hlteval.representation.corpus import (
    WITH_ANNOTATORS,
    Corpus,
    documents_of_others,
    of_annotator,
    of_documents,
    without_orphans,
)
from hlteval.representation.keys import (
    LARGEST,
    SEPARATOR,
    align,
    are_distinct,
    distinct,
    documents_of,
    effective_fillers,
    fillers,
    first_case,
    frame_keys,
    has_repeated_identifiers,
    items,
    look_up,
    numbers,
    ordinals,
    row_hash,
    to_number,
    without_mentions,
)
from hlteval.representation.schema import FRAGMENTS, SCHEMA_VERSION, TABLES, Column, Table

__all__ = [
    "FRAGMENTS",
    "LARGEST",
    "SCHEMA_VERSION",
    "SEPARATOR",
    "TABLES",
    "WITH_ANNOTATORS",
    "Column",
    "Corpus",
    "Table",
    "align",
    "are_distinct",
    "distinct",
    "documents_of",
    "documents_of_others",
    "effective_fillers",
    "fillers",
    "first_case",
    "frame_keys",
    "has_repeated_identifiers",
    "items",
    "look_up",
    "numbers",
    "of_annotator",
    "of_documents",
    "ordinals",
    "row_hash",
    "to_number",
    "without_mentions",
    "without_orphans",
]
