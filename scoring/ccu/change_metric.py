"""Change points of CCU phase 1: average precision by data type, at one or several deltas.

The steps are those of Appendix A of the plan: `changes` aligns and counts (Steps 1 and 2),
`average_precision` and `detection_measures` compute (Step 3). In `official`, `official_changes`
replaces the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring import metric
from hlteval.scoring.ccu import (
    changes,
    detection_measures,
    detection_metric,
    detections,
    official_changes,
    official_files,
    official_inventory,
)
from hlteval.scoring.ccu.changes import written
from hlteval.scoring.ccu.detection_measures import GENRES, GROUP
from hlteval.scoring.ccu.detections import ChangeOptions
from hlteval.scoring.metric import Metric, Tables

Values = dict[str, float | None]
MEASURES = ("ap", "ap_interpolated", "precision", "recall", "f1")
_COUNTS = ("relevant", "tp", "fp", "md", "llr")


@dataclass(frozen=True)
class ChangeDetection(Metric):
    """How change points are scored in a profile.

    Attributes:
        options: what was chosen.
    """

    options: ChangeOptions = field(default_factory=ChangeOptions)

    def statistics(
        self,
        reference: Corpus,
        system: Corpus,
        *,
        alignment: bool = True,  # noqa: ARG002
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The evaluation labels of the change points of a batch of documents.

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
        count = official_changes.rows if self.official else changes.rows
        scored = detections.selected((reference, system), self.options.index)
        counted = count(*scored, self.options)
        if self.official:
            others = official_inventory.inventory(reference, system, "changes")
            counted = pl.concat([counted, others])
        return counted, None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The labels of all batches."""
        return detections.total(counts)

    def scored(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The measures by delta and genre, and the points of the curves."""
        instances = total.drop_nulls("outcome")
        swept = detection_measures.curves(instances)
        measured = detection_measures.classes(instances, swept)
        if self.official:
            areas = official_files.areas(swept).select(*GROUP, "ap")
            measured = measured.drop("ap").join(areas, on=GROUP, how="left", maintain_order="left")
            measured = measured.with_columns(pl.col("ap").fill_null(0.0)).with_columns(
                ap_interpolated="ap"
            )
        return measured, swept

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        measured, swept = self.scored(total)
        shown = measured.select("genre", "criterion", *_COUNTS, *MEASURES)
        curve = pl.format("{}@{}", "genre", "criterion").alias("class")
        tables = {
            "scorings": _scorings(measured),
            "changes": shown,
            "detections": detection_metric.with_congruence(total.drop_nulls("outcome")),
            "pr": swept.select(curve, "precision", "recall", threshold="llr"),
        }
        values = dict(self._values(measured))
        return (dict.fromkeys(values) if self._crash(total) else values), tables

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know."""
        crash = self._crash(total)
        return (crash,) if crash else ()

    def _crash(self, total: pl.DataFrame) -> str:
        """Why the public scorer crashes; empty if it does not, and in the profile `plan`."""
        return official_changes.of_changes(total, self.options) if self.official else ""

    def _values(self, measured: pl.DataFrame) -> Iterator[tuple[str, float | None]]:
        rows = measured.to_dicts()
        found: dict[object, Values] = {(row["genre"], row["criterion"]): row for row in rows}
        firsts = [found.get((genre, self._deltas(genre)[0]), {}) for genre in GENRES]
        areas = [value for own in firsts if (value := own.get("ap")) is not None]
        yield "cd.ap", sum(areas) / len(areas) if areas else None
        for name in MEASURES:
            for genre, own in zip(GENRES, firsts, strict=True):
                yield f"cd.{name}.{genre}", own.get(name)
        for genre in GENRES:
            for delta in self._deltas(genre):
                if (genre, delta) in found:
                    for name in MEASURES:
                        yield f"cd.{name}.{genre}@{delta}", found[genre, delta][name]

    def _deltas(self, genre: str) -> list[str]:
        """The deltas of a genre, as written."""
        chosen = self.options.delta_text if genre == "text" else self.options.delta
        return [written(delta) for delta in chosen]

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of the public scorer; none in the profile `plan`."""
        if not self.official or self._crash(total):
            return {}
        return official_changes.files(total, *self.scored(total), self.options)


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
