"""Selection: some documents of a corpus, with all their annotations."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.representation.corpus import Corpus
from hlteval.representation.schema import TABLES

_MOST = 64
"""The maximum number of slices: each is looked for in all rows."""


def document_slices(corpus: Corpus, rows: int) -> Iterator[Corpus]:
    """A corpus in slices of whole documents, in their order.

    Every slice has all rows of tables without documents, such as `sources`; rows without a
    document are in the first slice.

    Args:
        corpus: any corpus whose documents have different names.
        rows: of a slice, more or less.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> [part.documents["name"].to_list() for part in document_slices(corpus, 1)]
        [['a'], ['b']]
    """
    total = sum(frame.height for _, frame in corpus.tables())
    documents = corpus.documents.height
    size = max(1, documents * rows // max(total, 1), -(-documents // _MOST))
    if size >= documents:
        yield corpus
        return
    names, rest = corpus.documents["name"], corpus
    for begin in range(0, documents, size):
        yield of_documents(rest, names.slice(begin, size))
        if not begin:
            rest = corpus.replace(**_with_document(corpus))


def are_apart(corpus: Corpus) -> bool:
    """Whether documents follow each other by name, each with rows and sources of its own.

    What is found in the rows of each is then found in the same order in slices.

    Examples:
        >>> source = {"path": "", "member": "", "format": "", "sha256": ""}
        >>> documents = [{"row": row, "name": f"d{row}", "origin": 0} for row in range(2)]
        >>> corpus = Corpus(sources=[{"row": 0, **source}], documents=documents)
        >>> are_apart(corpus), are_apart(corpus.replace(documents=documents[:1]))
        (False, True)
    """
    documents = corpus.documents
    if not documents["name"].is_sorted() or not documents["row"].is_sorted():
        return False
    pairs = [documents.select("origin", document="row")]
    for name, rows in corpus.tables():
        if ("document", "documents") in TABLES[name].references:
            if not rows["document"].drop_nulls().is_sorted():
                return False
            pairs.append(rows.select("origin", "document").unique())
    return not pl.concat(pairs).drop_nulls("origin").unique()["origin"].is_duplicated().any()


def _with_document(corpus: Corpus) -> dict[str, pl.DataFrame]:
    """The tables with rows that have no document, without these."""
    return {
        name: rows.drop_nulls("document")
        for name, rows in corpus.tables()
        if "document" in TABLES[name].schema and rows["document"].has_nulls()
    }


def of_documents(corpus: Corpus, names: pl.Series) -> Corpus:
    """The same corpus with some of its documents.

    Rows without a document, such as records that could not be read, are kept.

    Args:
        corpus: any corpus.
        names: names of documents; unknown ones are ignored.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> of_documents(corpus, pl.Series(["b", "c"])).documents["name"].to_list()
        ['b']
    """
    documents = corpus.documents.filter(pl.col("name").is_in(names.implode()))
    kept = documents["row"].implode()
    tables = {"documents": documents}
    for name, frame in corpus.tables():
        if ("document", "documents") in TABLES[name].references:
            inside = pl.col("document").is_in(kept).fill_null(value=True)
            tables[name] = frame.filter(inside)
    return corpus.replace(**tables)
