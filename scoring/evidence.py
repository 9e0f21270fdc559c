"""The evidence for an alignment: the texts of documents, and what items of each side are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus

#: The text of each document by its name; `system` is null where the text is the same.
TEXTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"document": pl.String, "reference": pl.String, "system": pl.String}
)
#: What an item of a side, such as an event, consists of: a row per argument, its text and place
#: (half-open offsets in code points; null where it has none).
MARKS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {
        "document": pl.String,
        "side": pl.String,
        "item": pl.String,
        "role": pl.String,
        "text": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
    }
)


@dataclass(frozen=True)
class Evidence:
    """What people need beside an alignment to judge its rows.

    Attributes:
        texts: as `TEXTS`.
        marks: as `MARKS`.
    """

    texts: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=dict(TEXTS)))
    marks: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=dict(MARKS)))

    @classmethod
    def merged(cls, parts: Iterable[Evidence]) -> Evidence:
        """The evidence of several batches of documents."""
        every = [cls(), *parts]
        return cls(
            pl.concat([part.texts for part in every])
            .unique("document", keep="first")
            .sort("document"),
            pl.concat([part.marks for part in every]),
        )


def texts(reference: Corpus, system: Corpus) -> pl.DataFrame:
    """The texts of the documents of two corpora, as `TEXTS`.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "Osh."}])
        >>> texts(corpus, corpus).rows()
        [('d', 'Osh.', None)]
    """
    ours, theirs = (
        corpus.documents.select("name", "text").unique("name", keep="first")
        for corpus in (reference, system)
    )
    both = ours.join(theirs, on="name", how="full", coalesce=True, suffix="_system")
    own = pl.coalesce("text", "text_system")
    other = pl.when(pl.col("text_system") != own).then("text_system")
    rows = both.select(document="name", reference=own, system=other)
    return rows.drop_nulls("reference").sort("document").cast(dict(TEXTS))  # type: ignore[arg-type]
