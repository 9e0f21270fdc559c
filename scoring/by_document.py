"""The values of a metric for each document by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from hlteval.scoring.metric import Metric

#: The most documents that are scored one by one, where counts do not add.
MOST = 100
_CHUNK = 256


def by_document(metric: Metric, counts: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The values of each document as if it were the only one; null where undefined.

    Where counts do not add, each document is scored by itself; of more than `MOST` there are no
    rows.

    Args:
        metric: the metric.
        counts: what it has counted, of all documents.
        names: of the values.

    Returns:
        A row per document, sorted: `document`, and a column per value that the metric has.
    """
    parts = metric.decompose(names)
    documents = metric.documents(counts) if parts else []
    if len(documents) > MOST and not all(part.additive for part in parts):
        documents = []
    rows = [
        _values(parts, counts, documents[at : at + _CHUNK], names)
        for at in range(0, len(documents), _CHUNK)
    ]
    return pl.concat([pl.DataFrame(schema={"document": pl.String}), *rows], how="diagonal")


def _values(
    parts: Sequence[Metric], counts: pl.DataFrame, documents: Sequence[str], names: Sequence[str]
) -> pl.DataFrame:
    """The values of some documents, from the counts of these alone."""
    alone = np.eye(len(documents), dtype=np.int64)
    table = pl.DataFrame({"document": documents}, schema={"document": pl.String})
    for part in parts:
        wanted = pl.Series(documents, dtype=pl.String).implode()
        own = counts.filter(pl.col(part.document_column).is_in(wanted))
        values = part.replicates(own, documents, alone)
        known = {name: values[name] for name in names if name in values}
        table = table.with_columns(pl.Series(n, v).fill_nan(None) for n, v in known.items())
    return table
