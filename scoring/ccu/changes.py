"""What is counted of change points: the evaluation label of each, as rows of `detections`.

CCU Phase 1 plan, section 2.5.2 and Appendix A: the distance of a correct change point from that of
the reference is at most a delta, in characters of text or in seconds. Points in regions that nobody
annotated are not scored.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu import spans
from hlteval.scoring.ccu.detections import (
    CORRECT,
    FALSE,
    MISSED,
    ChangeOptions,
    LlrFilter,
    conformed,
    documents,
    filtered,
)
from hlteval.scoring.ccu.spans import DIGITS, within

CLASS = "cp"
_WHENS = ("after_read", "after_transforms")


def rows(reference: Corpus, system: Corpus, options: ChangeOptions) -> pl.DataFrame:
    """The rows of a batch of documents (`detections.ROWS`).

    Args:
        reference: whole documents.
        system: the submission.
        options: what was chosen.
    """
    names = documents(reference)
    expected = points(reference, names)
    found = points(system, names, options.llr_filter)
    # What has no score is the last, as of norms and emotions.
    found = annotated(found.with_columns(pl.col("llr").fill_null(float("-inf"))), reference)
    parts = [conformed(names.select("document", "genre"))]
    for text, deltas in ((False, options.delta), (True, options.delta_text)):
        own, other = (part.filter(pl.col("text") == text) for part in (found, expected))
        parts += [labels(own, other, delta) for delta in deltas]
    return pl.concat(parts)


def points(corpus: Corpus, names: pl.DataFrame, chosen: LlrFilter | None = None) -> pl.DataFrame:
    """The change points of a side in the documents of the reference, by place.

    The arguments are those of `listed`.
    """
    found = listed(corpus, names, chosen)
    return found.sort("document", "at", "llr", descending=[False, False, True])


def listed(corpus: Corpus, names: pl.DataFrame, chosen: LlrFilter | None = None) -> pl.DataFrame:
    """The change points of a side in the documents of the reference, as its files list them.

    Args:
        corpus: the side; what a system says of documents that it could not process does not count.
        names: the documents.
        chosen: which points of a system are scored.
    """
    done = corpus.documents.filter(pl.col("processed").fill_null(value=True))
    own = done.select(document="row", name="name")
    points = corpus.changes.select("document", "at", "llr").drop_nulls("at")
    found = points.join(own, on="document", maintain_order="left")
    found = found.drop("document").rename({"name": "document"})
    placed = found.join(names, on="document", maintain_order="left")
    score = pl.col("llr").fill_nan(None)
    kept = placed.select("document", "genre", "text", at="at", start="at", end="at", llr=score)
    for when in _WHENS:
        kept = filtered(kept, chosen, when)
    return kept


def annotated(found: pl.DataFrame, reference: Corpus) -> pl.DataFrame:
    """Change points within segments, their limits included."""
    names = reference.documents.select(key="row", document="name")
    regions = reference.regions.select("start", "end", key="document").join(names, on="key")
    longest = regions.sort("document", "start", "end").with_columns(
        until=pl.col("end").cum_max().over("document")
    )
    numbered = found.with_row_index("_order").sort("at")
    placed = numbered.join_asof(
        longest.select("document", "start", "until").sort("start"),
        left_on="at",
        right_on="start",
        by="document",
        strategy="backward",
        check_sortedness=False,
    )
    inside = placed.filter(pl.col("at") <= pl.col("until")).sort("_order")
    return inside.select(found.columns)


def labels(system: pl.DataFrame, reference: pl.DataFrame, delta: float) -> pl.DataFrame:
    """The evaluation label of each change point.

    Args:
        system: change points.
        reference: the same.
        delta: how far a correct one may be.
    """
    own, expected = within(system, reference, ("document",), delta)
    place, other = (side["at"].to_numpy() for side in (system, reference))
    correct = spans.greedy(
        own,
        expected,
        system["llr"].fill_null(float("-inf")).to_numpy()[own],
        place[own],
        other[expected],
    )
    return labelled(
        system,
        reference,
        pl.DataFrame({"_system": own[correct], "_reference": expected[correct]}),
        delta,
    )


def labelled(
    system: pl.DataFrame, reference: pl.DataFrame, pairs: pl.DataFrame, delta: float
) -> pl.DataFrame:
    """The rows of correct pairs, and of what is in none.

    Args:
        system: change points.
        reference: the same.
        pairs: their rows, `_system` and `_reference`.
        delta: how far a correct one may be.
    """
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    own = system.select("document", "genre", "llr", system_start="at", _system=row)
    others = reference.select("document", "genre", reference_start="at", _reference=row)
    both = pairs.join(own, on="_system").join(
        others.select("_reference", "reference_start"), on="_reference"
    )
    distance = (pl.col("system_start") - pl.col("reference_start")).abs().round(DIGITS)
    parts = [
        both.with_columns(outcome=pl.lit(CORRECT), distance=distance),
        own.join(pairs, on="_system", how="anti").with_columns(outcome=pl.lit(FALSE)),
        others.join(pairs, on="_reference", how="anti").with_columns(outcome=pl.lit(MISSED)),
    ]
    shared = {"criterion": pl.lit(written(delta)), "class": pl.lit(CLASS)}
    return pl.concat([conformed(part.with_columns(**shared)) for part in parts])


def written(delta: float) -> str:
    """A delta in the names of metrics.

    Examples:
        >>> written(100.0), written(2.5)
        ('100', '2.5')
    """
    return str(int(delta)) if float(delta).is_integer() else str(delta)
