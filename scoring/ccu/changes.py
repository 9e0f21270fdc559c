"""Change points of CCU phase 1: average precision by data type, at one or several deltas.

The steps are those of Appendix A of the plan: change points are aligned and labelled (Steps 1 and
2), `instance_detection.average_precision` and `detection_metric` compute (Step 3). The distance of
a correct change point from that of the reference is at most a delta, in characters of text or in
seconds (2.5.2). Points in regions that nobody annotated are not scored.

In `official`, each point of the system belongs to the nearest of the reference, the earlier of two
that are as near; a second-nearest is never tried. What lies before the first or after the last
segment is not scored, their limits included. Curves of several genres are written as that of the
first.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring import instance_detection
from hlteval.scoring.ccu import detection_metric, detections, official_files, spans
from hlteval.scoring.ccu.detection_metric import GENRES, GROUP, Detection, Values, with_congruence
from hlteval.scoring.ccu.detections import CORRECT, FALSE, MISSED, ChangeOptions, to_rows
from hlteval.scoring.ccu.official_detections import REFERENCE, SYSTEM, UNSCORED, as_read, outside
from hlteval.scoring.ccu.official_files import number, table, whole
from hlteval.scoring.metric import SCORINGS, Tables

MEASURES = ("ap", "ap_interpolated", "precision", "recall", "f1")
CLASS = "cp"
_ROW = pl.int_range(pl.len(), dtype=pl.Int64)


def points(corpus: Corpus, names: pl.DataFrame, options: ChangeOptions | None) -> pl.DataFrame:
    """The change points of a side in the documents of the reference, as its files list them.

    Args:
        corpus: the side; what a system says of documents that it could not process does not count.
        names: the documents.
        options: which points of a system are scored.
    """
    rows = detections.of_processed(corpus, corpus.changes.select("document", "at", "llr"))
    placed = rows.drop_nulls("at").join(names, on="document", maintain_order="left")
    score = pl.col("llr").fill_nan(None)
    kept = placed.select("document", "genre", "text", at="at", start="at", end="at", llr=score)
    least = options.llr_filter if options else None
    return detections.above_least(kept, least, least.when) if least else kept


def plan_rows(reference: Corpus, system: Corpus, options: ChangeOptions) -> pl.DataFrame:
    """The evaluation label of each change point of a batch of documents (`detections.ROWS`).

    Args:
        reference: whole documents.
        system: the submission.
        options: what was chosen.
    """
    names = detections.documents(reference)
    expected, found = (
        side.sort("document", "at", "llr", descending=[False, False, True])
        for side in (points(reference, names, None), points(system, names, options))
    )
    # What has no score is the last, as of norms and emotions.
    found = found.with_columns(pl.col("llr").fill_null(-math.inf))
    found = found.filter(spans.inside(found, detections.segments(reference)))
    parts = [to_rows(names.select("document", "genre"))]
    for text, deltas in ((False, options.delta), (True, options.delta_text)):
        own, other = (side.filter(pl.col("text") == text) for side in (found, expected))
        place, target = (side["at"].to_numpy() for side in (own, other))
        for delta in deltas:
            left, right = spans.within(own, other, ("document",), delta)
            scores = own["llr"].to_numpy()[left]
            correct = instance_detection.greedy(left, right, scores, place[left], target[right])
            pairs = pl.DataFrame({"_system": left[correct], "_reference": right[correct]})
            parts.append(labels(own, other, pairs, delta))
    return pl.concat(parts)


def labels(
    system: pl.DataFrame, reference: pl.DataFrame, pairs: pl.DataFrame, delta: float
) -> pl.DataFrame:
    """The rows of correct pairs, and of what is in none.

    Args:
        system: change points.
        reference: the same.
        pairs: their rows, `_system` and `_reference`.
        delta: how far a correct one may be.
    """
    own = system.select("document", "genre", "llr", system_start="at", _system=_ROW)
    others = reference.select("document", "genre", reference_start="at", _reference=_ROW)
    both = pairs.join(own, on="_system").join(
        others.select("_reference", "reference_start"), on="_reference"
    )
    distance = (
        (pl.col("system_start") - pl.col("reference_start")).abs().round(instance_detection.DIGITS)
    )
    parts = {
        CORRECT: both.with_columns(distance=distance),
        FALSE: own.join(pairs, on="_system", how="anti"),
        MISSED: others.join(pairs, on="_reference", how="anti"),
    }
    shared = {"criterion": whole(delta), "class": CLASS}
    return pl.concat(to_rows(part, outcome=name, **shared) for name, part in parts.items())


@dataclass(frozen=True)
class ChangeDetection(Detection):
    """How change points are scored.

    Attributes:
        options: what was chosen.

    Examples:
        >>> point = {"document": 0, "origin": 0, "record": 1, "row": 0, "at": 5.0, "llr": 1.5}
        >>> region = {"document": 0, "origin": 0, "record": 1, "row": 0, "region": "s"}
        >>> regions = [region | {"start": 0.0, "end": 9.0}]
        >>> documents = [{"row": 0, "name": "d1", "modality": "audio"}]
        >>> corpus = Corpus(documents=documents, changes=[point], regions=regions)
        >>> scorer = ChangeDetection()
        >>> rows, _ = scorer.statistics(corpus, corpus)
        >>> scorer.score(scorer.total([rows]))[0]["cd.ap.audio@10"]
        1.0
    """

    options: ChangeOptions = field(default_factory=ChangeOptions)

    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The evaluation labels of the documents that are scored."""
        return plan_rows(reference, system, self.options)

    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The measures by delta and genre, and the points of the curves."""
        instances = total.drop_nulls("outcome")
        swept = detection_metric.curves(instances)
        return detection_metric.classes(instances, swept), swept

    def evaluate(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        measured, swept = self.measures(total)
        curve = pl.format("{}@{}", "genre", "criterion").alias("class")
        counts = ("relevant", "tp", "fp", "md", "llr")
        columns = {"references": "relevant", **{name: name for name in MEASURES}}
        # as people read them: by data type and delta; without any, no values
        named = {f"{row['genre']} at {row['criterion']}": row for row in measured.to_dicts()}
        rows = [
            ("Change points", name, title, own.get(column))
            for name, own in sorted(named.items()) or [("none", {})]
            for title, column in columns.items()
        ]
        tables = {
            "scorings": pl.DataFrame(rows, schema=dict(SCORINGS), orient="row"),
            "changes": measured.select("genre", "criterion", *counts, *MEASURES),
            "detections": with_congruence(total.drop_nulls("outcome")),
            "pr": swept.select(curve, "precision", "recall", threshold="llr"),
        }
        return self.values_from(measured), tables

    def values_from(self, *tables: pl.DataFrame) -> Values:
        """All values, from the measures."""
        return dict(self._values(*tables))

    def _values(self, measured: pl.DataFrame) -> Iterator[tuple[str, float | None]]:
        """The values by name: those of the first delta of each genre, then those of all."""
        deltas = {
            genre: self.options.delta_text if genre == "text" else self.options.delta
            for genre in GENRES
        }
        rows: dict[tuple[str, str], Values] = {
            (row["genre"], row["criterion"]): row for row in measured.to_dicts()
        }
        firsts = {genre: rows.get((genre, whole(own[0])), {}) for genre, own in deltas.items()}
        areas = [value for own in firsts.values() if (value := own.get("ap")) is not None]
        yield "cd.ap", sum(areas) / len(areas) if areas else None
        for name in MEASURES:
            yield from ((f"cd.{name}.{genre}", own.get(name)) for genre, own in firsts.items())
        for genre, own in deltas.items():
            for delta in map(whole, own):
                for name in MEASURES if (genre, delta) in rows else ():
                    yield f"cd.{name}.{genre}@{delta}", rows[genre, delta][name]


# The public scorer.


#: The criteria of what is counted of each side.
SIDES: official_files.Sides = {"ref": (REFERENCE, UNSCORED), "sys": (SYSTEM,)}


def official_rows(reference: Corpus, system: Corpus, options: ChangeOptions) -> pl.DataFrame:
    """The rows of a batch of documents (`detections.ROWS`)."""
    names = detections.documents(reference)
    expected = points(reference, names, None)
    expected = expected.sort("document", "at", "llr", descending=[False, False, True])
    # A line that a submission repeats counts once; strengths are numbers.
    strength = pl.col("strength").cast(pl.Float64, strict=False).cast(pl.String)
    lines = system.changes.with_columns(pl.coalesce(strength, "strength"))
    key = ["document", "at", "llr", "direction", "strength"]
    lines = lines.unique(key, keep="first", maintain_order=True)
    found = points(system.replace(changes=lines), names, options)
    found = found.with_columns(as_read(found["llr"]))
    regions = outside(detections.segments(reference), names.with_columns(text=pl.lit(value=False)))
    # Points that lie in no region, nor at its limits.
    numbered = found.with_row_index("_order")
    limits = regions.select("document", begin="start", until="end")
    in_regions = numbered.join(limits, on="document").filter(
        pl.col("at").is_between("begin", "until")
    )
    scored = numbered.join(in_regions, on="_order", how="anti").drop("_order")
    parts = [to_rows(names.select("document", "genre"))]
    first = reference.changes.group_by(key="document").agg(distance=pl.col("record").min())
    order = names.join(first, on="key", how="left").select("document", "distance")
    starts = regions.with_columns(at="start")
    for what, side in ((REFERENCE, expected), (UNSCORED, starts), (SYSTEM, found)):
        own = side.select("document", "genre", reference_start="at")
        own = own.join(order, on="document", how="left", maintain_order="left")
        parts.append(to_rows(own, criterion=what, **{"class": CLASS}))
    for text, deltas in ((False, options.delta), (True, options.delta_text)):
        own, other = (part.filter(pl.col("text") == text) for part in (scored, expected))
        near = nearest(own, other)
        # Of references that are repeated, each after the first is a false alarm.
        rows = near["_system"].repeat_by(near["same"] - 1).explode().drop_nulls()
        again = (own[rows] if rows.len() else own.clear()).select(
            "document", "genre", "llr", system_start="at", system_end="at"
        )
        for delta in deltas:
            # Correct is the pair of the highest score with a reference.
            hits = near.filter(pl.col("distance") <= delta)
            ranked = hits.sort("llr", "_system", descending=[True, False], nulls_last=True)
            pairs = ranked.unique("_reference", keep="first", maintain_order=True)
            parts.append(labels(own, other, pairs.select("_system", "_reference"), delta))
            shared = {"criterion": whole(delta), "class": CLASS}
            parts.append(to_rows(again, outcome=FALSE, **shared))
    return pl.concat(parts)


def nearest(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
    """The nearest reference of each change point, the earlier of two that are as near.

    Args:
        system: change points.
        reference: the same, by document and place.

    Returns:
        `_system`, its `llr`, `_reference`, the `distance`, and how many `same` references there
        are.
    """
    own = system.select("document", "at", "llr", _system=_ROW).sort("at")
    others = reference.select("document", other="at", _reference=_ROW)
    others = others.with_columns(same=pl.len().over("document", "other"))
    others = others.unique(["document", "other"], keep="first", maintain_order=True).sort("other")
    join = partial(
        own.join_asof, others, left_on="at", right_on="other", by="document", check_sortedness=False
    )
    sides = pl.concat([join(strategy="backward"), join(strategy="forward")])
    distance = (pl.col("at") - pl.col("other")).abs()
    pairs = sides.drop_nulls("_reference").with_columns(distance=distance)
    ordered = pairs.sort("_system", "distance", "other")
    return ordered.unique("_system", keep="first", maintain_order=True)


COLUMNS = ("class", "file_id", "eval", "ref", "sys", "llr", "parameters")
_CURVE = ("precision", "recall", "llr")
#: The scorer writes this without a change point of the reference; in curves, its letters.
_NOTHING = "NA"


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
        own = scored.filter(criterion=whole(delta))
        areas = dict(own.select("genre", "ap_interpolated").rows())
        rows += [(CLASS, name, "AP", number(areas.get(name, 0.0)), shown) for name in genres]
        points = swept.filter(criterion=whole(delta), genre=(genres or [""])[0])
        points = points.select(pl.col(_CURVE).fill_null(math.nan))
        curve = json.dumps({name: points[name].to_list() or [0.0] for name in _CURVE})
        rows += [(CLASS, name, "PRCurve_json", curve, shown) for name in genres]
    return rows


def _alignment(total: pl.DataFrame) -> list[tuple[str, ...]]:
    """The rows of `instance_alignment.tab`, of data types that have references.

    Where the system has nothing, they are all places of the reference, and the starts of regions.
    """
    lines: dict[tuple[str, ...], None] = {}
    if total.filter(criterion=SYSTEM).is_empty():
        own = total.filter(pl.col("criterion").is_in(SIDES["ref"]))
        places = own.select("document", "reference_start").rows()
        silent = [(CLASS, name, "unmapped", _point(at), "{}", "", "{}") for name, at in places]
        return _in_order(silent)
    # Distances are integers where the scorer reads all places as integers.
    ends = total.filter(pl.col("criterion") == UNSCORED, pl.col("reference_start") > 0)
    columns = ["timestamp", "reference", *["segments"] * (ends.height > 0)]
    numbers = official_files.NUMBERS
    integers = not any(official_files.count(total, numbers, name) for name in columns)
    for genre in _genres(total):
        own = total.drop_nulls("outcome").filter(pl.col("genre") == genre)
        hit = own.filter(outcome=CORRECT)["reference_start"]
        # a missed point is not listed where one of the same place, in any document, was found
        missed = pl.col("outcome") == MISSED
        listed = own.filter(~(missed & pl.col("reference_start").is_in(hit.implode())))
        expected = own.filter(pl.col("reference_start").is_not_null())["document"]
        alone = own.filter(outcome=FALSE).filter(~pl.col("document").is_in(expected.implode()))
        distance = whole if integers and alone.is_empty() else str
        for _, rows in listed.group_by("criterion", maintain_order=True):
            ranked = rows.sort("llr", descending=True, nulls_last=True, maintain_order=True)
            lines |= dict.fromkeys(_line(row, distance) for row in ranked.iter_rows(named=True))
    return _in_order(lines)


def _in_order(lines: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Lines by document, the point of the system, and that of the reference."""
    return sorted(lines, key=lambda line: (line[1], line[4], line[3]))


def _line(row: Mapping[str, Any], distance: Callable[[float], str]) -> tuple[str, ...]:
    expected, own = (_point(row[f"{side}_start"]) for side in ("reference", "system"))
    mapped = row["outcome"] == CORRECT
    delta = distance(abs(row["system_start"] - row["reference_start"])) if mapped else ""
    parameters = f"{{delta_cp={delta}}}" if mapped else "{}"
    state = "mapped" if mapped else "unmapped"
    return CLASS, str(row["document"]), state, expected, own, number(row["llr"]), parameters


def _point(at: object) -> str:
    return f"{{timestamp={whole(at)}}}" if isinstance(at, float) else "{}"


@dataclass(frozen=True)
class OfficialChangeDetection(official_files.OfficialDetection, ChangeDetection):
    """How the public scorer scores change points; nothing has a score where it crashes."""

    records = "changes"

    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The rows of the documents that are scored."""
        return official_rows(reference, system, self.options)

    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The measures by delta and genre, and the points of the curves."""
        measured, swept = super().measures(total)
        own = official_files.areas(swept).select(*GROUP, "ap")
        measured = measured.drop("ap").join(own, on=GROUP, how="left", maintain_order="left")
        area = pl.col("ap").fill_null(0.0)
        return measured.with_columns(ap=area, ap_interpolated=area), swept

    def crash(self, total: pl.DataFrame) -> str:
        """The case in which the scorer crashes; empty if it does not."""
        if total.is_empty():
            return ""
        if official_files.count(total, official_files.RECORDS, "system") == 0:
            return "on a submission without change points"
        genres = _genres(total)
        # A curve of points of the system is written if that of the first data type has any.
        found = total.filter(pl.col("outcome").is_in([CORRECT, FALSE]))["genre"].unique().to_list()
        curve = any(own[:1] and own[0] in found for *_, own in _criteria(genres, self.options))
        if official_files.count(total, official_files.NUMBERS, "llr") == 0 and curve:
            return "where all scores are whole numbers: it cannot write a curve of them"
        if genres and official_files.count(total, official_files.WORDS, "reference"):
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
            lines = [(CLASS, *[_NOTHING] * 6)]
            curve = json.dumps({name: [*_NOTHING] for name in _CURVE})
            scores: list[tuple[str, ...]] = [
                (CLASS, _NOTHING, name, value, shown)
                for _, shown, _ in _criteria([], self.options)
                for name, value in (("AP", _NOTHING), ("PRCurve_json", curve))
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
            "scores_by_class.tab": table(official_files.SCORES, scores),
            "statistics_by_class.tab": official_files.statistics_by_class(total, SIDES),
            "statistics_aggregated.tab": table(official_files.STATISTICS, files),
        }


def change_detection(
    profile: str = "plan", options: ChangeOptions | None = None
) -> ChangeDetection:
    """The metric of change points."""
    metrics = {"plan": ChangeDetection, "official": OfficialChangeDetection}
    return metrics[profile](profile, options or ChangeOptions())
