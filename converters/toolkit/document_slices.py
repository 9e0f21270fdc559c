"""Slices of a corpus: whole documents that are written one slice at a time.

Writers make texts of rows, which take many times their memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

import polars as pl

from hlteval.converters.toolkit.per_document import original_files
from hlteval.representation import Corpus
from hlteval.representation.corpus import document_slices

#: Rows of a slice; a document is never divided.
ROWS = 100_000


def slices(corpus: Corpus, form: str, rows: int = ROWS) -> Iterator[Corpus]:
    """A corpus in slices whose files are those of the whole.

    Every slice has all `sources`. A corpus is one slice if the file of a document may depend on
    other documents.

    Args:
        corpus: any corpus.
        form: the name of the format that is written, with files of its own for each document.
        rows: of a slice, more or less.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> [part.documents["name"].to_list() for part in slices(corpus, "rsd", 1)]
        [['a'], ['b']]
    """
    total = sum(frame.height for _, frame in corpus.tables())
    divided = total > rows and _are_independent(corpus, form)
    return document_slices(corpus, rows) if divided else iter([corpus])


def _are_independent(corpus: Corpus, form: str) -> bool:
    """Whether each document certainly has a file of its own that no other document concerns."""
    documents = corpus.documents
    if corpus.entities.height or documents["name"].is_duplicated().any():
        return False
    members = original_files(corpus, form)
    originals = documents.filter(pl.col("origin").is_in(list(members)))["origin"]
    if originals.is_empty():
        # A suffix begins with a dot, so no file has the name of a folder without one.
        return not any("." in folder for folder in _folders(documents["name"]))
    if originals.len() < documents.height or originals.is_duplicated().any():
        return False
    paths = [members[origin] for origin in originals]
    return _folders(paths).isdisjoint(paths)


def _folders(paths: Iterable[str]) -> set[str]:
    """The folders that paths lead through."""
    folders = {folder for path in paths if "/" in path for folder in PurePath(path).parents}
    return {str(folder) for folder in folders} - {"."}
