"""Change points as the public scorer compares and writes them.

Each point of the system belongs to the nearest of the reference, the earlier of two that are as
near; a second-nearest is never tried. What lies before the first or after the last segment is not
scored, their limits included. Curves of several genres are written as that of the first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu import change_metric, official_files
from hlteval.scoring.ccu import official_inventory as inventory
from hlteval.scoring.ccu.change_metric import CLASS, written
from hlteval.scoring.ccu.detection_measures import GROUP
from hlteval.scoring.ccu.detection_metric import Values
from hlteval.scoring.ccu.detections import (
    CORRECT,
    FALSE,
    MISSED,
    ChangeOptions,
    conformed,
    documents,
)
from hlteval.scoring.ccu.official_detections import REFERENCE, SYSTEM, UNSCORED
from hlteval.scoring.ccu.official_files import number, table, whole
from hlteval.scoring.ccu.official_reference import as_read
from hlteval.scoring.metric import Tables

#: The criteria of what is counted of each side.
SIDES: official_files.Sides = {"ref": (REFERENCE, UNSCORED), "sys": (SYSTEM,)}


def rows(reference: Corpus, system: Corpus, options: ChangeOptions) -> pl.DataFrame:
    """The rows of a batch of documents (`detections.ROWS`)."""
    names = documents(reference)
    expected = change_metric.points(reference, names)
    found = change_metric.points_in_files(system, names, options.llr_filter)
    found = found.with_columns(as_read(found["llr"]))
    regions = outside(reference, names)
    # Points that lie in no region, nor at its limits.
    numbered = found.with_row_index("_order")
    in_regions = numbered.join(regions.drop("genre"), on="document").filter(
        pl.col("at").is_between("begin", "until")
    )
    scored = numbered.join(in_regions, on="_order", how="anti").drop("_order")
    parts = [conformed(names.select("document", "genre"))]
    first = reference.changes.group_by(key="document").agg(distance=pl.col("record").min())
    order = names.join(first, on="key", how="left").select("document", "distance")
    limits = regions.with_columns(at="begin")
    for what, side in ((REFERENCE, expected), (UNSCORED, limits), (SYSTEM, found)):
        own = side.select("document", "genre", reference_start="at", criterion=pl.lit(what))
        own = own.join(order, on="document", how="left", maintain_order="left")
        parts.append(conformed(own.with_columns(pl.lit(CLASS).alias("class"))))
    for text, deltas in ((False, options.delta), (True, options.delta_text)):
        own, other = (part.filter(pl.col("text") == text) for part in (scored, expected))
        near = nearest(own, other)
        for delta in deltas:
            pairs = first_of_each(near, own, delta)
            parts.append(change_metric.labels(own, other, pairs, delta))
            # Of references that are repeated, each after the first is a false alarm.
            again = near["_system"].repeat_by(near["same"] - 1).explode().drop_nulls()
            beside = own[again] if again.len() else own.clear()
            beside = beside.select("document", "genre", "llr", system_start="at", system_end="at")
            beside = beside.with_columns(pl.lit(CLASS).alias("class"), outcome=pl.lit(FALSE))
            parts.append(conformed(beside.with_columns(criterion=pl.lit(written(delta)))))
    return pl.concat(parts)


def outside(reference: Corpus, names: pl.DataFrame) -> pl.DataFrame:
    """The regions before the first and after the last segment of each document."""
    limits = reference.regions.group_by(key="document", maintain_order=True).agg(
        pl.col("start").min(), pl.col("end").max()
    )
    limits = limits.join(names, on="key", maintain_order="left")
    before = limits.select("document", "genre", begin=pl.lit(0.0), until="start")
    after = limits.select("document", "genre", begin="end", until="length")
    return pl.concat([before, after]).filter(pl.col("begin") < pl.col("until"))


def nearest(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
    """The nearest reference of each change point, the earlier of two that are as near.

    Args:
        system: change points.
        reference: the same, by document and place.

    Returns:
        `_system`, `_reference`, the `distance`, and how many `same` references there are.
    """
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    own = system.select("document", "at", _system=row).sort("at")
    others = reference.select("document", other="at", _reference=row)
    others = others.with_columns(same=pl.len().over("document", "other"))
    others = others.unique(["document", "other"], keep="first", maintain_order=True).sort("other")
    sides = [
        own.join_asof(
            others,
            left_on="at",
            right_on="other",
            by="document",
            strategy=strategy,
            check_sortedness=False,
        )
        for strategy in ("backward", "forward")
    ]
    distance = (pl.col("at") - pl.col("other")).abs()
    pairs = pl.concat(sides).drop_nulls("_reference").with_columns(distance=distance)
    return pairs.sort("_system", "distance", "other").unique(
        "_system", keep="first", maintain_order=True
    )


def first_of_each(near: pl.DataFrame, system: pl.DataFrame, delta: float) -> pl.DataFrame:
    """The correct pairs: of those with one reference, that of the highest score.

    Args:
        near: the nearest references.
        system: change points, in the order of the files.
        delta: how far a correct one may be.
    """
    scores = system.select("llr").with_row_index("_system").cast({"_system": pl.Int64})
    hits = near.filter(pl.col("distance") <= delta).join(scores, on="_system")
    ranked = hits.sort("llr", "_system", descending=[True, False], nulls_last=True)
    return ranked.unique("_reference", keep="first", maintain_order=True).select(
        "_system", "_reference"
    )


COLUMNS = ("class", "file_id", "eval", "ref", "sys", "llr", "parameters")
_SCORES = ("class", "genre", "metric", "value", "correctness_criteria")
_CURVE = ("precision", "recall", "llr")
#: The scorer writes this without a change point of the reference; in curves, its letters.
_NOTHING = "NA"
_NO_ALIGNMENT = (CLASS, *[_NOTHING] * 6)


def _genres(total: pl.DataFrame, *criteria: str) -> list[str]:
    """The data types that have references, in the order in which the scorer meets them."""
    own = total.filter(pl.col("criterion").is_in(criteria or [REFERENCE]))
    order = pl.col("criterion").replace_strict({REFERENCE: 0, UNSCORED: 1})
    ranked = own.sort(order, "distance", maintain_order=True, nulls_last=True)
    return ranked["genre"].unique(maintain_order=True).to_list()


def _criteria(
    genres: list[str], options: ChangeOptions, *, nothing: bool = False
) -> Iterator[tuple[float, str, list[str]]]:
    """Each delta, as a number and as written, with the data types that have it.

    A number of seconds that is also one of characters counts as both; where the system has nothing,
    as seconds.
    """
    for text, deltas in ((True, options.delta_text), (False, options.delta)):
        for delta in deltas:
            of_time = delta in options.delta
            of_text = delta in options.delta_text and not (nothing and of_time)
            own = [name for name in genres if (of_text if name == "text" else of_time)]
            yield delta, f"{{delta_cp={whole(delta) if text else float(delta)}}}", own


def _scores(
    total: pl.DataFrame, scored: pl.DataFrame, swept: pl.DataFrame, options: ChangeOptions
) -> list[tuple[str, ...]]:
    """The rows of `scores_by_class.tab`."""
    rows: list[tuple[str, ...]] = []
    nothing = total.filter(criterion=SYSTEM).is_empty()
    every = _genres(total, REFERENCE, UNSCORED) if nothing else _genres(total)
    for delta, shown, genres in _criteria(every, options, nothing=nothing):
        own = scored.filter(criterion=written(delta))
        areas = dict(own.select("genre", "ap_interpolated").rows())
        rows += [(CLASS, name, "AP", number(areas.get(name, 0.0)), shown) for name in genres]
        points = swept.filter(criterion=written(delta), genre=(genres or [""])[0])
        points = points.select(pl.col(_CURVE).fill_null(math.nan))
        curve = json.dumps({name: points[name].to_list() or [0.0] for name in _CURVE})
        rows += [(CLASS, name, "PRCurve_json", curve, shown) for name in genres]
    return rows


def _in_order(lines: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted(lines, key=lambda line: (line[1], line[4], line[3]))


def _alignment(total: pl.DataFrame) -> list[tuple[str, ...]]:
    """The rows of `instance_alignment.tab`, of data types that have references.

    Where the system has nothing, they are all places of the reference, and the starts of regions.
    """
    if total.filter(criterion=SYSTEM).is_empty():
        own = total.filter(pl.col("criterion").is_in(SIDES["ref"]))
        places = own.select("document", "reference_start").rows()
        return _in_order(
            (CLASS, name, "unmapped", _point(at), "{}", "", "{}") for name, at in places
        )
    lines: dict[tuple[str, ...], None] = {}
    # Distances are integers where the scorer reads all places as integers.
    ends = total.filter(pl.col("criterion") == UNSCORED, pl.col("reference_start") > 0)
    columns = ["timestamp", "reference", *(["segments"] if ends.height else [])]
    integers = not any(inventory.counted(total, inventory.NUMBERS, name) for name in columns)
    for genre in _genres(total):
        own = total.drop_nulls("outcome").filter(pl.col("genre") == genre)
        hit = own.filter(outcome=CORRECT)["reference_start"]
        # a missed point is not listed where one of the same place, in any document, was found
        missed = pl.col("outcome") == MISSED
        listed = own.filter(~(missed & pl.col("reference_start").is_in(hit.implode())))
        expected = own.filter(pl.col("reference_start").is_not_null())["document"]
        alone = own.filter(outcome=FALSE).filter(~pl.col("document").is_in(expected.implode()))
        shown = whole if integers and alone.is_empty() else str
        for _, rows in listed.group_by("criterion", maintain_order=True):
            ranked = rows.sort("llr", descending=True, nulls_last=True, maintain_order=True)
            lines |= dict.fromkeys(_line(row, shown) for row in ranked.iter_rows(named=True))
    return _in_order(lines)


def _line(row: Mapping[str, Any], shown: Callable[[float], str]) -> tuple[str, ...]:
    expected, own = (_point(row[f"{side}_start"]) for side in ("reference", "system"))
    mapped = row["outcome"] == CORRECT
    delta = shown(abs(row["system_start"] - row["reference_start"])) if mapped else ""
    distance = f"{{delta_cp={delta}}}" if mapped else "{}"
    state = "mapped" if mapped else "unmapped"
    return CLASS, str(row["document"]), state, expected, own, number(row["llr"]), distance


def _point(at: object) -> str:
    return f"{{timestamp={whole(at)}}}" if isinstance(at, float) else "{}"


@dataclass(frozen=True)
class OfficialChangeDetection(inventory.OfficialDetection, change_metric.ChangeDetection):
    """How the public scorer scores change points; nothing has a score where it crashes."""

    records: ClassVar[str] = "changes"

    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The rows of the documents that are scored."""
        return rows(reference, system, self.options)

    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The measures by delta and genre, and the points of the curves."""
        measured, swept = super().measures(total)
        own = official_files.areas(swept).select(*GROUP, "ap")
        measured = measured.drop("ap").join(own, on=GROUP, how="left", maintain_order="left")
        area = pl.col("ap").fill_null(0.0)
        return measured.with_columns(ap=area, ap_interpolated=area), swept

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        values, tables = super().score(total)
        return self.none_of_a_crash(values, total), tables

    def crash(self, total: pl.DataFrame) -> str:
        """Where the scorer crashes; empty if it does not."""
        if total.is_empty():
            return ""
        if inventory.has_none(total, inventory.RECORDS, "system"):
            return "on a submission without change points"
        genres = _genres(total)
        # A curve of points of the system is written if that of the first data type has any.
        found = total.filter(pl.col("outcome").is_in([CORRECT, FALSE]))["genre"].unique().to_list()
        curve = any(own[:1] and own[0] in found for *_, own in _criteria(genres, self.options))
        if inventory.has_none(total, inventory.NUMBERS, "llr") and curve:
            return "where all scores are whole numbers: it cannot write a curve of them"
        if genres and inventory.counted(total, inventory.WORDS, "reference"):
            where = "where the reference has none for a change point, or EMPTY_TBD"
            return f"{where}: its places are then words"
        return ""

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of the public scorer."""
        if self.crash(total):
            return {}
        if total.filter(criterion=REFERENCE).is_empty():
            # Regions need a reference.
            total = total.filter(pl.col("criterion").ne_missing(UNSCORED))
            lines = [_NO_ALIGNMENT]
            curve = json.dumps({name: [*_NOTHING] for name in _CURVE})
            scores: list[tuple[str, ...]] = [
                (CLASS, _NOTHING, metric, value, shown)
                for _, shown, _ in _criteria([], self.options)
                for metric, value in (("AP", _NOTHING), ("PRCurve_json", curve))
            ]
        else:
            lines = _alignment(total)
            scores = _scores(total, *self.measures(total), self.options)
        schema = dict.fromkeys(COLUMNS, pl.String)
        files = official_files.file_counts(official_files.scored_files(total, SIDES), silent=0)
        return {
            "instance_alignment.tab": table(COLUMNS, lines),
            "instance_alignment_class_stats.tab": official_files.of_outcomes(
                pl.DataFrame(lines, schema=schema, orient="row")
            ),
            "scores_by_class.tab": table(_SCORES, scores),
            "statistics_by_class.tab": official_files.statistics_by_class(total, SIDES),
            "statistics_aggregated.tab": table(("data", "genre", "metric", "value"), files),
        }
