"""Change points as the public scorer compares and writes them.

Each point of the system belongs to the nearest of the reference, the earlier of two that are as
near; a second-nearest is never tried. What lies before the first or after the last segment is not
scored, their limits included. Curves of several genres are written as that of the first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu import official_changes
from hlteval.scoring.ccu.changes import CLASS, labelled, listed, points, written
from hlteval.scoring.ccu.detections import (
    CORRECT,
    FALSE,
    MISSED,
    ChangeOptions,
    DetectionOptions,
    conformed,
    documents,
)
from hlteval.scoring.ccu.official_detections import INDIVISIBLE, UNLABELLED
from hlteval.scoring.ccu.official_detections import REFERENCE as DETECTION_REFERENCE
from hlteval.scoring.ccu.official_files import number, of_outcomes, table, whole
from hlteval.scoring.ccu.official_inventory import FILES, NUMBERS, RECORDS, WORDS, counted, has_none
from hlteval.scoring.ccu.official_reference import as_read

UNSCORED, REFERENCE, SYSTEM = "unscored", "reference", "system"


def rows(reference: Corpus, system: Corpus, options: ChangeOptions) -> pl.DataFrame:
    """The rows of a batch of documents (`detections.ROWS`)."""
    names = documents(reference)
    expected, found = points(reference, names), listed(system, names, options.llr_filter)
    found = found.with_columns(as_read(found["llr"]))
    regions = outside(reference, names)
    scored = _scored(found, regions)
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
        for delta in deltas:
            near = nearest(own, other)
            parts += [labelled(own, other, first_of_each(near, own, delta), delta),
                      _repeated(near, own, delta)]  # fmt: skip
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


def _repeated(near: pl.DataFrame, system: pl.DataFrame, delta: float) -> pl.DataFrame:
    """False alarms of the references that are repeated: each of them after the first is one."""
    again = near.filter(pl.col("same") > 1).select("_system", pl.col("same") - 1)
    rows = again["_system"].repeat_by(again["same"]).explode().drop_nulls()
    own = system[rows.cast(pl.Int64)] if rows.len() else system.clear()
    return conformed(
        own.with_columns(
            pl.lit(CLASS).alias("class"),
            criterion=pl.lit(written(delta)),
            outcome=pl.lit(FALSE),
            system_start="at",
            system_end="at",
        )
    )


COLUMNS = ("class", "file_id", "eval", "ref", "sys", "llr", "parameters")
_SCORES = ("class", "genre", "metric", "value", "correctness_criteria")
_CURVE = ("precision", "recall", "llr")
#: The scorer writes this without a change point of the reference; in curves, its letters.
_NOTHING = "NA"
_NO_ALIGNMENT = (CLASS, *[_NOTHING] * 6)


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
    if total.filter(criterion=REFERENCE).is_empty():
        total = total.filter(pl.col("criterion").ne_missing(UNSCORED))  # regions need a reference
        lines, scores = [_NO_ALIGNMENT], _scores_without_reference(options)
    else:
        nothing = total.filter(criterion=SYSTEM).is_empty()
        lines = _places(total) if nothing else _alignment(total)
        scores = _scores(total, scored, swept, options)
    return {
        "instance_alignment.tab": table(COLUMNS, lines),
        "instance_alignment_class_stats.tab": of_outcomes(
            pl.DataFrame(lines, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
        ),
        "scores_by_class.tab": scores,
        "statistics_by_class.tab": _counts(total),
        "statistics_aggregated.tab": _documents(total),
    }


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


def first_has_system(total: pl.DataFrame, options: ChangeOptions) -> bool:
    """Whether a curve is written that has points of the system: that of the first data type."""
    found = total.filter(pl.col("outcome").is_in([CORRECT, FALSE]))["genre"].unique().to_list()
    return any(own[:1] and own[0] in found for *_, own in _criteria(_genres(total), options))


def _scores(
    total: pl.DataFrame, scored: pl.DataFrame, swept: pl.DataFrame, options: ChangeOptions
) -> str:
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
    return table(_SCORES, rows)


def _scores_without_reference(options: ChangeOptions) -> str:
    """The scores of no data type at each delta, where the reference has no change points."""
    values = {"AP": _NOTHING, "PRCurve_json": json.dumps({name: [*_NOTHING] for name in _CURVE})}
    rows = [
        (CLASS, _NOTHING, metric, value, shown)
        for _, shown, _ in _criteria([], options)
        for metric, value in values.items()
    ]
    return table(_SCORES, rows)


def _places(total: pl.DataFrame) -> list[tuple[str, ...]]:
    """All places of the reference, with the starts of regions, where the system has nothing."""
    own = total.filter(pl.col("criterion").is_in([REFERENCE, UNSCORED]))
    lines = [
        (CLASS, name, "unmapped", _point(at), "{}", "", "{}")
        for name, at in own.select("document", "reference_start").rows()
    ]
    return _sorted(lines)


def _sorted(lines: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted(lines, key=lambda line: (line[1], line[4], line[3]))


def _alignment(total: pl.DataFrame) -> list[tuple[str, ...]]:
    """The rows of `instance_alignment.tab`, of data types that have references."""
    lines: dict[tuple[str, ...], None] = {}
    integers = _are_integers(total)
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
    return _sorted(lines)


def _are_integers(total: pl.DataFrame) -> bool:
    """Whether the scorer reads all places as integers, so that distances are integers too."""
    if counted(total, NUMBERS, "timestamp") or counted(total, NUMBERS, "reference"):
        return False
    ends = total.filter(pl.col("criterion") == UNSCORED, pl.col("reference_start") > 0)
    return not counted(total, NUMBERS, "segments") or ends.is_empty()


def _line(row: Mapping[str, Any], shown: Callable[[float], str]) -> tuple[str, ...]:
    expected, own = (_point(row[f"{side}_start"]) for side in ("reference", "system"))
    mapped = row["outcome"] == CORRECT
    delta = shown(abs(row["system_start"] - row["reference_start"])) if mapped else ""
    distance = f"{{delta_cp={delta}}}" if mapped else "{}"
    state = "mapped" if mapped else "unmapped"
    return CLASS, str(row["document"]), state, expected, own, number(row["llr"]), distance


def _point(at: object) -> str:
    return f"{{timestamp={whole(at)}}}" if isinstance(at, float) else "{}"


_SIDES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"ref": (REFERENCE, UNSCORED), "sys": (SYSTEM,)}
)


def _counts(total: pl.DataFrame) -> str:
    rows = []
    for data, criteria in _SIDES.items():
        own = total.filter(pl.col("criterion").is_in(criteria))
        counts = own.group_by("genre").len().sort("genre")
        rows += [(data, CLASS, genre, "instance_counts", str(n)) for genre, n in counts.rows()]
    return table(("data", "class", "genre", "metric", "value"), rows)


def _documents(total: pl.DataFrame) -> str:
    rows = []
    for data, criteria in _SIDES.items():
        own = total.filter(pl.col("criterion").is_in(criteria))
        files = counted(total, FILES, "reference" if data == "ref" else "system")
        rows.append((data, "all", "file_counts", str(files)))
        rows.append((data, "all", "file_scoring_counts", str(own["document"].n_unique())))
        if data == "ref":
            rows.append((data, "all", "noann_segment_scoring_counts", "0"))
    return table(("data", "genre", "metric", "value"), rows)


# Where the public scorer crashes: it then has no score, and neither has `official`.


def of_instances(total: pl.DataFrame, options: DetectionOptions) -> str:
    """Why the scorer crashes on norms or emotions; empty if it does not.

    Args:
        total: the rows of all documents.
        options: what was chosen.
    """
    marks = set(total["criterion"].unique())
    silent = has_none(total, RECORDS, "system")
    stops = {
        "with --file-merge where no segment of a part of a document has a label": (
            UNLABELLED in marks
        ),
        "where the reference has no instance, or writes zeros of no class": DETECTION_REFERENCE
        not in marks,
        "where it filters a submission without instances": silent and options.llr_filter,
        "with --file-merge where a submission has no instances": silent and options.file_merge,
        "with several criteria of overlap": len(options.overlap) > 1,
        f"with {options.align} where an instance meets no reference of its class, in a "
        "document that has some and no no-score region": INDIVISIBLE in marks,
    }
    found = (_crash(where) for where, crashes in stops.items() if crashes)
    return "" if total.is_empty() else next(found, "")


def of_changes(total: pl.DataFrame, options: ChangeOptions) -> str:
    """Why the scorer crashes on change points; empty if it does not.

    The arguments are those of `of_instances`.
    """
    if total.is_empty():
        return ""
    if has_none(total, RECORDS, "system"):
        return _crash("on a submission without change points")
    if has_none(total, NUMBERS, "llr") and official_changes.first_has_system(total, options):
        return _crash("where all scores are whole numbers: it cannot write a curve of them")
    some = not total.filter(criterion=official_changes.REFERENCE).is_empty()
    if some and counted(total, WORDS, "reference"):
        where = "the reference has none for a change point, or EMPTY_TBD"
        return _crash(f"where {where}: its places are then words")
    return ""


def _crash(where: str) -> str:
    return f"no official score: the public scorer crashes {where}"
