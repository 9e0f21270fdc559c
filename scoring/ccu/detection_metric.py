"""Norms and emotions of CCU phase 1: mean average precision over the instances of streams.

Three steps, as in Appendix A of the plan:

- `alignment`: which system instances are correct;
- `detections`: the evaluation label of each instance;
- `average_precision`, `detection_measures`: what follows from labels and detection scores.

Before them come Appendix D (`representation.judgments`, what the reference is) and the choice of
system instances (`system_instances`). In `official`, `best_reference` and `official_…` stand for
these, as the public scorer has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu import (
    detection_measures,
    detection_tables,
    detections,
    official_crashes,
    official_detections,
    official_files,
    official_inventory,
    official_measures,
    official_statistics,
    system_instances,
)
from hlteval.scoring.ccu.detection_options import DetectionOptions
from hlteval.scoring.metric import Metric, Tables

Values = dict[str, float | None]


class Scored(NamedTuple):
    """What is computed of the labels of all instances.

    Attributes:
        classes: the measures of each class.
        means: their means, and the rates of all instances.
        curves: the points of the curves.
    """

    classes: pl.DataFrame
    means: pl.DataFrame
    curves: pl.DataFrame


@dataclass(frozen=True)
class InstanceDetection(Metric):
    """How norms or emotions are scored in a profile.

    Attributes:
        options: what was chosen.
        kind: of the instances.
    """

    options: DetectionOptions = field(default_factory=DetectionOptions)
    kind: Literal["norm", "emotion"] = "norm"

    def statistics(
        self,
        reference: Corpus,
        system: Corpus,
        *,
        alignment: bool = True,  # noqa: ARG002
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The evaluation labels of a batch of documents.

        Examples:
            >>> segment = {"document": 0, "origin": 0, "record": 1, "kind": "norm", "label": "101"}
            >>> segment |= {"row": 0, "start": 0, "end": 10, "llr": 1.5}
            >>> documents = [{"row": 0, "name": "d1", "modality": "audio"}]
            >>> corpus = Corpus(documents=documents, instances=[segment])
            >>> scorer = InstanceDetection()
            >>> rows, _ = scorer.statistics(corpus, corpus)
            >>> scorer.score(scorer.total([rows]))[0]["map"]
            1.0
        """
        count = official_detections.rows if self.official else detections.rows
        scored = system_instances.selected((reference, system), self.options.index)
        counted = count(*scored, self.kind, self.options)
        if self.official:
            others = official_inventory.inventory(reference, system, "instances")
            counted = pl.concat([counted, others])
        return counted, None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The labels of all batches."""
        return detections.total(counts)

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        scored = self.scored(total)
        values = dict(self._values(scored.classes, scored.means))
        if self._crash(total):
            values = dict.fromkeys(values)
        shown = detection_tables.tables(scored.classes, scored.means, scored.curves, total)
        return values, shown

    def scored(self, total: pl.DataFrame) -> Scored:
        """The measures and curves of all classes."""
        instances = detection_measures.by_genre(total)
        swept = detection_measures.curves(instances)
        measures = official_measures if self.official else detection_measures
        classes = measures.classes(instances, swept)
        return Scored(classes, measures.means(classes), swept)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know."""
        crash = self._crash(total)
        return (*([crash] if crash else []), *detection_tables.notes(total))

    def _crash(self, total: pl.DataFrame) -> str:
        """Why the public scorer crashes; empty if it does not, and in the profile `plan`."""
        return official_crashes.of_instances(total, self.options) if self.official else ""

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of the public scorer; none in the profile `plan`."""
        if not self.official or self._crash(total):
            return {}
        scored = self.scored(total)
        task = "nd" if self.kind == "norm" else "ed"
        with_references = scored.classes.select("criterion", "class").unique()
        instances = total.drop_nulls("outcome").join(
            with_references, on=["criterion", "class"], how="semi", maintain_order="left"
        )
        criteria = self.options.overlap
        compared = total.filter(criterion=official_detections.COMPARED)["class"]
        written = official_files.alignment(instances, compared, self.options, self.kind)
        return {
            "instance_alignment.tab": official_files.sorted_alignment(written),
            "instance_alignment_class_stats.tab": official_statistics.of_outcomes(written),
            **official_statistics.of_statuses(written),
            "scores_by_class.tab": official_files.by_class(scored.classes, scored.curves, criteria),
            "scores_aggregated.tab": official_files.aggregated(scored.means, task, criteria),
            "statistics_by_class.tab": official_statistics.by_class(total),
            "statistics_aggregated.tab": official_statistics.aggregated(total),
        }

    def _values(
        self, measured: pl.DataFrame, averaged: pl.DataFrame
    ) -> Iterator[tuple[str, float | None]]:
        criteria = [item.written for item in self.options.overlap]
        yield from detection_measures.values(measured, averaged, criteria[0])
        if len(criteria) > 1:
            for written in criteria:
                yield from detection_measures.values(measured, averaged, written, f"@{written}")
