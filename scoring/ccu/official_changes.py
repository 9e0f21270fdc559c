"""Change points as the public scorer compares and writes them.

Each point of the system belongs to the nearest of the reference, the earlier of two that are as
near; a second-nearest is never tried. What lies before the first or after the last segment is not
scored, their limits included. Curves of several genres are written as that of the first.
"""

from __future__ import annotations

import json

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.changes import CLASS, labelled, points, written
from hlteval.scoring.ccu.detection_options import ChangeOptions
from hlteval.scoring.ccu.detections import CORRECT, MISSED, conformed
from hlteval.scoring.ccu.official_files import number, table, whole
from hlteval.scoring.ccu.system_instances import documents

UNSCORED, REFERENCE, SYSTEM = "unscored", "reference", "system"


def rows(reference: Corpus, system: Corpus, options: ChangeOptions) -> pl.DataFrame:
    """The rows of a batch of documents (`detections.ROWS`)."""
    names = documents(reference)
    expected, found = points(reference, names), points(system, names, options.llr_filter)
    regions = outside(reference, names)
    scored = _scored(found, regions)
    parts = [conformed(names.select("document", "genre"))]
    for what, side in ((REFERENCE, expected), (REFERENCE, regions), (SYSTEM, found)):
        own = side.select("document", "genre", criterion=pl.lit(what))
        parts.append(conformed(own.with_columns(pl.lit(CLASS).alias("class"))))
    for text, deltas in ((False, options.delta), (True, options.delta_text)):
        own, other = (part.filter(pl.col("text") == text) for part in (scored, expected))
        parts += [labelled(own, other, nearest(own, other, delta), delta) for delta in deltas]
    return pl.concat(parts)


def outside(reference: Corpus, names: pl.DataFrame) -> pl.DataFrame:
    """The regions before the first and after the last segment of each document."""
    keys = names.select("document", "genre", "length", key="key")
    limits = reference.regions.group_by("document", maintain_order=True).agg(
        pl.col("start").min(), pl.col("end").max()
    )
    limits = limits.rename({"document": "key"}).join(keys, on="key", maintain_order="left")
    before = limits.select("document", "genre", begin=pl.lit(0.0), until="start")
    after = limits.select("document", "genre", begin="end", until="length")
    every = pl.concat([before, after])
    return every.filter(pl.col("begin") < pl.col("until"))


def _scored(found: pl.DataFrame, regions: pl.DataFrame) -> pl.DataFrame:
    """Points that lie in no region, nor at its limits."""
    numbered = found.with_row_index("_order")
    inside = numbered.join(regions.drop("genre"), on="document").filter(
        pl.col("at").is_between("begin", "until")
    )
    return numbered.join(inside, on="_order", how="anti").drop("_order")


def nearest(system: pl.DataFrame, reference: pl.DataFrame, delta: float) -> pl.DataFrame:
    """The correct pairs: rows of points, `_system` and `_reference`.

    Args:
        system: change points.
        reference: the same, by document and place.
        delta: how far a correct one may be.
    """
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    own = system.select("document", "at", "llr", _system=row).sort("at")
    others = reference.select("document", other="at", _reference=row)
    others = others.unique(["document", "other"], keep="first", maintain_order=True).sort("other")
    found = []
    for strategy in ("backward", "forward"):
        near = own.join_asof(
            others,
            left_on="at",
            right_on="other",
            by="document",
            strategy=strategy,
            check_sortedness=False,
        )
        found.append(near.drop_nulls("_reference"))
    distance = (pl.col("at") - pl.col("other")).abs()
    pairs = pl.concat(found).with_columns(distance=distance)
    best = pairs.sort("_system", "distance", "other").unique("_system", keep="first")
    hits = best.filter(pl.col("distance") <= delta).sort("llr", "_system", descending=[True, False])
    return hits.unique("_reference", keep="first", maintain_order=True).select(
        "_system", "_reference"
    )


def files(
    total: pl.DataFrame, scored: pl.DataFrame, swept: pl.DataFrame, options: ChangeOptions
) -> dict[str, str]:
    """The files by name.

    Args:
        total: the rows of all documents.
        scored: the measures, by delta and genre.
        swept: the points of the curves.
        options: the deltas.
    """
    return {
        "instance_alignment.tab": _alignment(total),
        "scores_by_class.tab": _scores(scored, swept, options),
        "statistics_by_class.tab": _counts(total),
        "statistics_aggregated.tab": _documents(total),
    }


def _scores(scored: pl.DataFrame, swept: pl.DataFrame, options: ChangeOptions) -> str:
    rows: list[tuple[str, ...]] = []
    for text, deltas in ((True, options.delta_text), (False, options.delta)):
        of_genre = (pl.col("genre") == "text") == text
        for delta in deltas:
            shown = f"{{delta_cp={whole(delta) if text else float(delta)}}}"
            at = pl.col("criterion") == written(delta)
            own = scored.filter(of_genre, at).sort("genre")
            genres = own["genre"].to_list()
            rows += [
                (CLASS, genre, "AP", number(value), shown)
                for genre, value in own.select("genre", "ap_interpolated").rows()
            ]
            points = swept.filter(at, pl.col("genre").is_in(genres[:1]))
            names = ("precision", "recall", "llr")
            curve = json.dumps({name: points[name].to_list() or [0.0] for name in names})
            rows += [(CLASS, genre, "PRCurve_json", curve, shown) for genre in genres]
    return table(("class", "genre", "metric", "value", "correctness_criteria"), rows)


def _alignment(total: pl.DataFrame) -> str:
    columns = ("class", "file_id", "eval", "ref", "sys", "llr", "parameters")
    every = total.drop_nulls("outcome")
    hit = every.filter(outcome=CORRECT)["reference_start"]
    # a missed point is not listed where a point of the same place, in any document, was found
    missed = every.filter(
        pl.col("outcome") == MISSED, ~pl.col("reference_start").is_in(hit.implode())
    )
    listed = pl.concat([every.filter(pl.col("outcome") != MISSED), missed])
    lines = list(dict.fromkeys(map(_line, listed.iter_rows(named=True))))
    lines.sort(key=lambda line: (line[1], line[4], line[3]))
    return table(columns, lines)


def _line(row: dict[str, object]) -> tuple[str, ...]:
    expected, own = (_point(row[f"{side}_start"]) for side in ("reference", "system"))
    mapped = row["outcome"] == CORRECT
    distance = f"{{delta_cp={row['distance']}}}" if mapped else "{}"
    score = "" if row["llr"] is None else str(row["llr"])
    state = "mapped" if mapped else "unmapped"
    return CLASS, str(row["document"]), state, expected, own, score, distance


def _point(at: object) -> str:
    return f"{{timestamp={whole(at)}}}" if isinstance(at, float) else "{}"


def _counts(total: pl.DataFrame) -> str:
    rows = []
    for part, data in ((REFERENCE, "ref"), (SYSTEM, "sys")):
        own = total.filter(pl.col("outcome").is_null(), pl.col("criterion") == part)
        counts = own.group_by("genre").len().sort("genre")
        rows += [(data, CLASS, genre, "instance_counts", str(n)) for genre, n in counts.rows()]
    return table(("data", "class", "genre", "metric", "value"), rows)


def _documents(total: pl.DataFrame) -> str:
    rows = []
    listed = total["document"].n_unique()
    for part, data in ((REFERENCE, "ref"), (SYSTEM, "sys")):
        own = total.filter(pl.col("outcome").is_null(), pl.col("criterion") == part)
        rows.append((data, "all", "file_counts", str(listed)))
        rows.append((data, "all", "file_scoring_counts", str(own["document"].n_unique())))
        if data == "ref":
            rows.append((data, "all", "noann_segment_scoring_counts", "0"))
    return table(("data", "genre", "metric", "value"), rows)
