"""The alignment of mentions, as people read it."""

import numpy as np
import polars as pl

from hlteval.representation import Corpus, first_case
from hlteval.scoring.generic.comparison import Comparison, others
from hlteval.scoring.generic.spans import Floats, Mask, Whole


def alignment_of(comparison: Comparison) -> pl.DataFrame:
    """A row per pair of mentions, or per mention that has no partner.

    Returns:
        `document`; of either side the label, the text and the offsets, null where it has none; the
        `credit` of the pair, from 0 to 1; and the `outcome`.
    """
    left, right = comparison.both.reference, comparison.both.system
    pairs, count = comparison.all_pairs, len(comparison.right.left)
    alone = others(pairs.left, len(left)), others(pairs.right, len(right))
    none = [np.full(len(each), -1) for each in alone]
    ours, theirs = np.r_[pairs.left, alone[0], none[1]], np.r_[pairs.right, none[0], alone[1]]
    credit = np.r_[comparison.credit / comparison.unit, np.zeros(len(ours) - count)]
    both = (ours >= 0) & (theirs >= 0)
    same_span = both & (_column(left.span, ours) == _column(right.span, theirs))
    same_label = both & (_column(left.label, ours) == _column(right.label, theirs))
    document = np.where(ours >= 0, _column(left.document, ours), _column(right.document, theirs))
    rows = pl.DataFrame(
        {
            "row": document,
            **_side("reference", comparison.reference, _column(left.at, ours)),
            **_side("system", comparison.system, _column(right.at, theirs)),
            "credit": credit,
            "outcome": _outcomes(both, ours >= 0, credit, same_span, same_label),
        }
    )
    names = comparison.documents.select("row", document="name")
    named = rows.join(names, on="row", maintain_order="left").drop("row")
    place = pl.coalesce("reference_start", "system_start")
    ordered = named.sort("document", place, maintain_order=True)
    return ordered.select("document", pl.exclude("document"))


def _column(values: Whole, index: Whole) -> Whole:
    """The values at some places; -1 at -1."""
    return np.where(index < 0, -1, values[index]) if len(values) else index


def _side(name: str, corpus: Corpus, at: Whole) -> dict[str, pl.Series]:
    """The columns of a side: null where it has no mention; words are those of the document."""
    rows, mentions = pl.Series(at, dtype=pl.Int64).replace(-1, None), corpus.mentions
    if mentions["text"].null_count():
        texts = dict(corpus.documents.select("row", "text").iter_rows())
        places = mentions.select("document", "start", "end", "text").iter_rows()
        words = [
            (texts[row] or "")[start:end] or None if text is None else text
            for row, start, end, text in places
        ]
        mentions = mentions.with_columns(text=pl.Series(words, dtype=pl.String))
    columns = ("label", "text", "start", "end")
    return {f"{name}_{column}": mentions[column].gather(rows) for column in columns}


def _outcomes(
    both: Mask, ours: Mask, credit: Floats, same_span: Mask, same_label: Mask
) -> pl.Series:
    """Outcome of each row."""
    table = pl.DataFrame(
        {"both": both, "ours": ours, "credit": credit, "span": same_span, "label": same_label}
    )
    outcome = first_case(
        (~pl.col("both") & pl.col("ours"), "missing"),
        (~pl.col("both"), "extra"),
        (pl.col("credit") == 1, "correct"),
        (pl.col("label"), "wrong boundary"),
        (pl.col("span"), "wrong label"),
        otherwise="wrong label and boundary",
    )
    return table.select(outcome).to_series()
