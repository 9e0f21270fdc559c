"""Change points of CCU phase 1: average precision by data type, at one or several deltas.

The steps are those of Appendix A of the plan: change points are aligned and labelled (Steps 1 and
2), `average_precision` and `detection_measures` compute (Step 3). The distance of a correct change
point from that of the reference is at most a delta, in characters of text or in seconds (2.5.2).
Points in regions that nobody annotated are not scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring import metric
from hlteval.scoring.ccu import detection_measures, detections, spans
from hlteval.scoring.ccu.detection_measures import GENRES
from hlteval.scoring.ccu.detection_metric import Detection, Values, with_congruence
from hlteval.scoring.ccu.detections import ChangeOptions, LlrFilter, conformed
from hlteval.scoring.metric import Tables

MEASURES = ("ap", "ap_interpolated", "precision", "recall", "f1")
_COUNTS = ("relevant", "tp", "fp", "md", "llr")
CLASS = "cp"


def rows(reference: Corpus, system: Corpus, options: ChangeOptions) -> pl.DataFrame:
    """The evaluation label of each change point of a batch of documents (`detections.ROWS`).

    Args:
        reference: whole documents.
        system: the submission.
        options: what was chosen.
    """
    names = detections.documents(reference)
    expected = points(reference, names)
    # What has no score is the last, as of norms and emotions.
    found = detections.ranked(points(system, names, options.llr_filter))
    segments = reference.regions.select("start", "end", key="document")
    segments = segments.join(names.select("document", "key"), on="key")
    found = found.filter(spans.inside(found, segments))
    parts = [conformed(names.select("document", "genre"))]
    for text, deltas in ((False, options.delta), (True, options.delta_text)):
        own, other = (side.filter(pl.col("text") == text) for side in (found, expected))
        place, target = (side["at"].to_numpy() for side in (own, other))
        for delta in deltas:
            left, right = spans.within(own, other, ("document",), delta)
            scores = own["llr"].to_numpy()[left]
            correct = spans.greedy(left, right, scores, place[left], target[right])
            pairs = pl.DataFrame({"_system": left[correct], "_reference": right[correct]})
            parts.append(labels(own, other, pairs, delta))
    return pl.concat(parts)


def points(corpus: Corpus, names: pl.DataFrame, chosen: LlrFilter | None = None) -> pl.DataFrame:
    """The change points of a side in the documents of the reference, by place.

    The arguments are those of `points_in_files`.
    """
    found = points_in_files(corpus, names, chosen)
    return found.sort("document", "at", "llr", descending=[False, False, True])


def points_in_files(
    corpus: Corpus, names: pl.DataFrame, chosen: LlrFilter | None = None
) -> pl.DataFrame:
    """The change points of a side in the documents of the reference, as its files list them.

    Args:
        corpus: the side; what a system says of documents that it could not process does not count.
        names: the documents.
        chosen: which points of a system are scored.
    """
    found = detections.of_processed(corpus, corpus.changes.select("document", "at", "llr"))
    placed = found.drop_nulls("at").join(names, on="document", maintain_order="left")
    score = pl.col("llr").fill_nan(None)
    kept = placed.select("document", "genre", "text", at="at", start="at", end="at", llr=score)
    for when in ("after_read", "after_transforms"):
        kept = detections.filtered(kept, chosen, when)
    return kept


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
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    own = system.select("document", "genre", "llr", system_start="at", _system=row)
    others = reference.select("document", "genre", reference_start="at", _reference=row)
    both = pairs.join(own, on="_system").join(
        others.select("_reference", "reference_start"), on="_reference"
    )
    distance = (pl.col("system_start") - pl.col("reference_start")).abs().round(spans.DIGITS)
    parts = {
        detections.CORRECT: both.with_columns(distance=distance),
        detections.FALSE: own.join(pairs, on="_system", how="anti"),
        detections.MISSED: others.join(pairs, on="_reference", how="anti"),
    }
    shared = {"criterion": pl.lit(written(delta)), "class": pl.lit(CLASS)}
    return pl.concat(
        conformed(part.with_columns(outcome=pl.lit(outcome), **shared))
        for outcome, part in parts.items()
    )


def written(delta: float) -> str:
    """A delta in the names of metrics.

    Examples:
        >>> written(100.0), written(2.5)
        ('100', '2.5')
    """
    return str(int(delta)) if float(delta).is_integer() else str(delta)


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
        return rows(reference, system, self.options)

    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The measures by delta and genre, and the points of the curves."""
        instances = total.drop_nulls("outcome")
        swept = detection_measures.curves(instances)
        return detection_measures.classes(instances, swept), swept

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        measured, swept = self.measures(total)
        curve = pl.format("{}@{}", "genre", "criterion").alias("class")
        tables = {
            "scorings": _scorings(measured),
            "changes": measured.select("genre", "criterion", *_COUNTS, *MEASURES),
            "detections": with_congruence(total.drop_nulls("outcome")),
            "pr": swept.select(curve, "precision", "recall", threshold="llr"),
        }
        return dict(self._values(measured)), tables

    def _values(self, measured: pl.DataFrame) -> Iterator[tuple[str, float | None]]:
        deltas = {
            genre: self.options.delta_text if genre == "text" else self.options.delta
            for genre in GENRES
        }
        rows = measured.to_dicts()
        found: dict[object, Values] = {(row["genre"], row["criterion"]): row for row in rows}
        firsts = [found.get((genre, written(own[0])), {}) for genre, own in deltas.items()]
        areas = [value for own in firsts if (value := own.get("ap")) is not None]
        yield "cd.ap", sum(areas) / len(areas) if areas else None
        for name in MEASURES:
            for genre, own in zip(GENRES, firsts, strict=True):
                yield f"cd.{name}.{genre}", own.get(name)
        for genre in GENRES:
            for delta in map(written, deltas[genre]):
                if (genre, delta) in found:
                    for name in MEASURES:
                        yield f"cd.{name}.{genre}@{delta}", found[genre, delta][name]


def _scorings(measured: pl.DataFrame) -> pl.DataFrame:
    """The values as people read them: by data type and delta; without any, no values."""
    columns = {"references": "relevant", **{name: name for name in MEASURES}}
    named = {f"{row['genre']} at {row['criterion']}": row for row in measured.to_dicts()}
    rows = [
        {"evaluation": "Change points", "scoring": name, "measure": title, "value": own.get(column)}
        for name, own in sorted(named.items()) or [("none", {})]
        for title, column in columns.items()
    ]
    return metric.scorings(rows)
