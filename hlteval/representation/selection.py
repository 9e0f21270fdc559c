"""Selection: some documents of a corpus, with all their annotations."""

from __future__ import annotations

import polars as pl

from hlteval.representation.corpus import Corpus
from hlteval.representation.schema import TABLES


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
