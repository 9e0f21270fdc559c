"""Which documents are scored: LoReHLT 2019, section 16.1.

"The entire test set must be processed even though only a subset of documents will be scored": the
documents that the reference has, or those of a list. Frames of the other documents of the test set
are neither right nor wrong; frames of documents outside of the test set are false alarms.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl


def is_scored(
    document: str,
    *,
    annotated: pl.Series,
    scored: Collection[str] | None,
    processed: Collection[str] | None,
) -> pl.Expr:
    """Return whether the rows of a document are scored.

    Args:
        document: the column that names the document.
        annotated: the documents that the reference has in any of its tables.
        scored: the documents of the list of scored documents; None for those annotated.
        processed: the documents of the list of the whole test set, if there is one.

    Examples:
        >>> rows = pl.DataFrame({"docid": ["annotated", "processed", "unknown"]})
        >>> expression = is_scored(
        ...     "docid", annotated=rows["docid"][:1], scored=None, processed=["processed"]
        ... )
        >>> rows.filter(expression)["docid"].to_list()
        ['annotated', 'unknown']
    """
    own = {*annotated} if scored is None else {*scored}
    test_set = {*annotated, *(processed or ()), *own}
    left_out = pl.Series(sorted(test_set - own), dtype=pl.String)
    return ~pl.col(document).is_in(left_out.implode())
