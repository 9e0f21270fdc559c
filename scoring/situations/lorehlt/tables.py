"""The tables of a scored submission of situation frames: why its scores are what they are.

- `situations`: each situation of either side, with its gravity, gain and rank, and what it adds;
- `frames`: each frame as matched, missed or spurious, by type and place;
- `sec`: the sentiments of each target;
- `ndcg`, `precision_at`: the value at every rank; `pr`: the points of the curves;
- `annotators`: who was drawn; `annotation_draws`, `annotation_scores`: the scores of other draws.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import polars.selectors as cs

from hlteval.scoring import metric
from hlteval.scoring.situations.lorehlt import frame_scores
from hlteval.scoring.situations.lorehlt import frame_sides as sec
from hlteval.scoring.situations.lorehlt.frame_matches import FrameMatches
from hlteval.scoring.situations.lorehlt.frame_rows import NUMBER
from hlteval.scoring.situations.lorehlt.frame_scores import ScoredFrames
from hlteval.scoring.situations.lorehlt.frame_sides import GRAVE
from hlteval.scoring.situations.lorehlt.ranking import TIE_BREAKS, Ranking, shares

_TITLES = {
    "ndcg": "nDCG",
    "precision_at": "Precision at N",
    "map": "Situations",
    "mar": "Situations",
    "auc": "Frames",
    "frame": "Frames",
    "sec": "Sentiments",
}
_DOCUMENT_CLASS = "type,place"
_WITHOUT_MARK = cs.by_name("document", "place", require_all=False).str.strip_prefix(NUMBER)


def scorings(values: Mapping[str, float | None]) -> pl.DataFrame:
    """The values as a table: one evaluation per kind of metric, a row per class or tie-break."""
    grouped: dict[tuple[str, str], list[tuple[str, float | None]]] = {}
    for name, value in values.items():
        family, _, ending = name.partition(".")
        kind = "ndcg" if family.startswith("ndcg") else family.partition("_")[0]
        kind = family if family in _TITLES else kind
        title = _TITLES[kind]
        if kind in {"ndcg", "precision_at"}:
            group, measure = (title, family), ending
        else:
            group, measure = (title, ending), family
        grouped.setdefault(group, []).append((measure, value))
    order = list(dict.fromkeys(_TITLES.values()))
    # curves have a class more than rates: all rows of a title have the same measures
    curve = [measure for measure, _ in grouped.get((_TITLES["auc"], _DOCUMENT_CLASS), ())]
    if own := grouped.get((_TITLES["auc"], GRAVE)):
        own += [(measure, None) for measure in curve if measure != "auc"]
    rows = [
        {"evaluation": title, "scoring": scoring, "measure": measure, "value": value}
        for (title, scoring), pairs in sorted(
            grouped.items(), key=lambda item: order.index(item[0][0])
        )
        for measure, value in pairs
    ]
    return metric.scorings(rows)


def tables(values: Mapping[str, float | None], scored: ScoredFrames) -> dict[str, pl.DataFrame]:
    """All tables."""
    found = {"scorings": scorings(values)}
    if scored.is_stopped:
        return found
    found |= {
        "situations": situations(scored.shown),
        "frames": frames(scored.matches[_DOCUMENT_CLASS]),
        "ndcg": ndcg(scored),
        "precision_at": precisions(scored),
        "pr": curves(scored.matches),
    }
    if not scored.annotations.options.no_sec and scored.sentiments:
        found["sec"] = targets(scored.sentiments)
    if scored.annotations.several:
        kind = pl.when("issue").then(pl.lit("issue")).otherwise(pl.lit("need"))
        found["annotators"] = scored.annotations.chosen.select(
            document="docid", kind=kind, annotator="chosen"
        ).sort("document", "kind")
    if scored.annotations.options.draws:
        found["annotation_draws"] = frame_scores.draws(scored)
        found["annotation_scores"] = frame_scores.distribution(found["annotation_draws"])
    return found


def situations(ranking: Ranking) -> pl.DataFrame:
    """Each situation of either side: gravity, gain and rank, and its share of DCG."""
    key, own = ["type", "place"], ranking.ranked("standard")
    dcg = shares(own["gain"].to_numpy(), ranking.discount)
    gold, mine = (
        table.select(
            *key,
            pl.int_range(1, pl.len() + 1).alias(f"{side}_rank"),
            pl.col("gravity", "frames").name.prefix(f"{side}_"),
            last,
        )
        for side, table, last in (
            ("reference", ranking.reference, "gain"),
            ("system", own, pl.Series("dcg", dcg, dtype=pl.Float64)),
        )
    )
    both = gold.join(mine, on=key, how="full", coalesce=True)
    both = both.sort("reference_rank", "system_rank", nulls_last=True)
    return both.with_columns(_WITHOUT_MARK)


def frames(matches: FrameMatches) -> pl.DataFrame:
    """The frames of both sides by document, type and place."""
    predicted = matches.predicted
    known = pl.col("weight").is_not_null()
    outcome = (
        pl.when(known & predicted)
        .then(pl.lit("matched"))
        .when(known)
        .then(pl.lit("missed"))
        .when(predicted)
        .then(pl.lit("spurious"))
    )
    rows = matches.rows.select(
        pl.col("docid").alias("document"), "type", "place", "confidence", "weight", outcome=outcome
    )
    rows = rows.drop_nulls("outcome").sort("document", "type", "place")
    return rows.with_columns(_WITHOUT_MARK)


def targets(counts: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The sentiments about each target, by class."""
    rows = [
        sec.rates(table).select(
            pl.lit(name).alias("class"), pl.col("docid").alias("document"), pl.exclude("docid")
        )
        for name, table in counts.items()
    ]
    return pl.concat(rows)


def ndcg(scored: ScoredFrames) -> pl.DataFrame:
    """The nDCG at every rank, for each tie-break."""
    values = {ties: scored.shown.ndcg(ties) for ties in TIE_BREAKS}
    ranks = pl.int_range(1, pl.len() + 1).alias("k")
    return pl.DataFrame(values).select(ranks, pl.all())


def precisions(scored: ScoredFrames) -> pl.DataFrame:
    """Precision at every N that the reference has situations for."""
    table = pl.DataFrame({"precision": scored.shown.precisions}, schema={"precision": pl.Float64})
    return table.select(pl.int_range(1, pl.len() + 1).alias("n"), "precision")


def curves(matches: Mapping[str, FrameMatches]) -> pl.DataFrame:
    """The points of the curve of each class."""
    rows = [
        pl.DataFrame(
            {
                "class": pl.repeat(name, len(own.points.confidence), dtype=pl.String, eager=True),
                "threshold": own.points.confidence,
                "precision": own.points.precision,
                "recall": own.points.recall,
            }
        )
        for name, own in matches.items()
    ]
    return pl.concat(rows).fill_nan(None)
