"""Selection: some documents of a corpus, with everything on them."""

from __future__ import annotations

import polars as pl

from hlteval.representation.corpus import Corpus
from hlteval.representation.schema import TABLES


def of_documents(corpus: Corpus, names: pl.Series) -> Corpus:
    """The same corpus with those of its documents that are named.

    What belongs to no document, such as a record that could not be read, stays.

    Args:
        corpus: any corpus.
        names: names of documents; those that it has not got do not count.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> of_documents(corpus, pl.Series(["b", "c"])).documents["name"].to_list()
        ['b']
    """
    documents = corpus.documents.filter(pl.col("name").is_in(names.implode()))
    kept = documents["row"].implode()
    tables = {"documents": documents}
    for name, frame in corpus.tables():
        if "document" in TABLES[name].schema:
            inside = pl.col("document").is_in(kept).fill_null(value=True)
            tables[name] = frame.filter(inside)
    return corpus.replace(**tables)
