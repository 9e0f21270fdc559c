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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring import metric
from hlteval.scoring.ccu import (
    detection_measures,
    detections,
    official_changes,
    official_detections,
    official_files,
    official_inventory,
)
from hlteval.scoring.ccu.detection_measures import ALL, MEASURES, RATES
from hlteval.scoring.ccu.detections import MISSED, UNMAPPED, UNPLACED, DetectionOptions
from hlteval.scoring.metric import Metric, Tables

# The tables of detected norms and emotions: why their scores are what they are.
#
# - `classes`: the measures of each class, by criterion and genre;
# - `aggregated`: their means, and the rates of all instances;
# - `detections`: each instance with its evaluation label, and what it was paired with;
# - `pr`: the points of the curves.


_MOST = 5
_COUNTS = ("relevant", "tp", "fp", "md", "scaled_tp", "scaled_fp", "llr")


def tables(
    measured: pl.DataFrame, averaged: pl.DataFrame, swept: pl.DataFrame, total: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """All tables.

    Args:
        measured: the classes.
        averaged: their means.
        swept: the points of the curves.
        total: the labels of all instances.
    """
    return {
        "scorings": scorings(measured, averaged),
        "classes": measured.select("criterion", "genre", "class", *_COUNTS, *MEASURES),
        "aggregated": averaged,
        "detections": with_congruence(total.drop_nulls("outcome")),
        "pr": curves(swept),
    }


def scorings(measured: pl.DataFrame, averaged: pl.DataFrame) -> pl.DataFrame:
    """The values as people read them: the means by genre, and each class; empty without any."""
    criteria = measured["criterion"].unique(maintain_order=True).to_list() or [""]
    rows: list[dict[str, object]] = []
    for written in criteria:
        added = f" at {written}" if len(criteria) > 1 else ""
        for own in averaged.filter(criterion=written).to_dicts() or [{"genre": ALL}]:
            means = {"mAP": own.get("mean_ap"), "classes": own.get("classes")}
            means |= {name: own.get(f"mean_{name}") for name in RATES}
            rows += _rows(f"Means{added}", own["genre"], means)
        classes = measured.filter(criterion=written, genre=ALL).sort("class")
        for own in classes.to_dicts() or [{"class": "none"}]:
            values = {name: own.get(name) for name in MEASURES}
            values = {"references": own.get("relevant"), **values}
            rows += _rows(f"Classes{added}", own["class"], values)
    return metric.scorings(rows)


def _rows(
    evaluation: str, scoring: str, values: Mapping[str, float | None]
) -> Iterator[dict[str, object]]:
    for measure, value in values.items():
        yield {"evaluation": evaluation, "scoring": scoring, "measure": measure, "value": value}


def with_congruence(instances: pl.DataFrame) -> pl.DataFrame:
    """Instances with Detection Score Congruence, section C.2.3 of the plan.

    It is the detection score over the range of the scores of its class; null where all are equal.

    Examples:
        >>> rows = {"criterion": ["0.2"] * 2, "class": ["101"] * 2, "outcome": ["CD", "FA"]}
        >>> with_congruence(pl.DataFrame(rows | {"llr": [3.0, 1.0]}))["congruence"].to_list()
        [1.5, 0.5]
    """
    found = pl.col("llr").filter(pl.col("outcome") != MISSED)
    width = (found.max() - found.min()).over("criterion", "class")
    own = pl.when((width > 0) & (pl.col("outcome") != MISSED)).then(pl.col("llr") / width)
    return instances.with_columns(congruence=own)


def curves(swept: pl.DataFrame) -> pl.DataFrame:
    """The points of the curve of each class over all documents, by the first criterion."""
    first = swept["criterion"].first() if swept.height else None
    own = swept.filter(pl.col("genre") == ALL, pl.col("criterion").eq_missing(pl.lit(first)))
    return own.select("class", threshold="llr", precision="precision", recall="recall")


def notes(total: pl.DataFrame) -> Iterator[str]:
    """What is not scored, and why.

    Args:
        total: the labels of all instances.
    """
    instances = total.drop_nulls("outcome")
    of_reference = pl.col("reference_start").is_not_null()
    expected = instances.filter(of_reference)["class"].unique()
    others = instances.filter(~pl.col("class").is_in(expected.implode()))["class"].unique().sort()
    if others.len():
        names = _few(others.to_list())
        which = _are(others.len(), "class of the system", "classes of the system")
        yield f"{which[0]} without references {which[1]} not scored: {names}"
    yield from _of_hidden_norms(instances.filter(outcome=UNMAPPED), of_reference)
    lost = total.filter(pl.col("criterion") == UNPLACED).height
    if lost:
        which = _are(lost, "system instance", "system instances")
        yield f"{which[0]} without a place {which[1]} not scored"


def _of_hidden_norms(unmapped: pl.DataFrame, of_reference: pl.Expr) -> Iterator[str]:
    """What is not scored of hidden norms: they have no mapping, or it does not list their name."""
    hidden, named = (
        unmapped.filter(side)["class"].unique().sort().to_list()
        for side in (of_reference, ~of_reference)
    )
    if hidden:
        which = _are(len(hidden), "hidden norm", "hidden norms")
        yield f"{which[0]} {which[1]} not scored without a mapping (--mapping): {_few(hidden)}"
    elif named:
        which = _are(len(named), "norm of the system", "norms of the system")
        name = "names of hidden norms" if len(named) > 1 else "the name of a hidden norm"
        yield f"{which[0]} with {name} {which[1]} not in the mapping and not scored: {_few(named)}"


def _are(number: int, one: str, many: str) -> tuple[str, str]:
    """A number of things, and the verb for them."""
    return (f"1 {one}", "is") if number == 1 else (f"{number:,} {many}", "are")


def _few(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + (", …" if len(names) > _MOST else "")


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
        scored = detections.selected((reference, system), self.options.index)
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
        shown = tables(scored.classes, scored.means, scored.curves, total)
        return values, shown

    def scored(self, total: pl.DataFrame) -> Scored:
        """The measures and curves of all classes."""
        instances = detection_measures.by_genre(total)
        swept = detection_measures.curves(instances)
        measures = official_files if self.official else detection_measures
        classes = measures.classes(instances, swept)
        return Scored(classes, measures.means(classes), swept)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know."""
        crash = self._crash(total)
        return (*([crash] if crash else []), *notes(total))

    def _crash(self, total: pl.DataFrame) -> str:
        """Why the public scorer crashes; empty if it does not, and in the profile `plan`."""
        return official_changes.of_instances(total, self.options) if self.official else ""

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
            "instance_alignment_class_stats.tab": official_files.of_outcomes(written),
            **official_files.of_statuses(written),
            "scores_by_class.tab": official_files.scores_by_class(
                scored.classes, scored.curves, criteria
            ),
            "scores_aggregated.tab": official_files.scores_aggregated(scored.means, task, criteria),
            "statistics_by_class.tab": official_files.statistics_by_class(total),
            "statistics_aggregated.tab": official_files.statistics_aggregated(total),
        }

    def _values(
        self, measured: pl.DataFrame, averaged: pl.DataFrame
    ) -> Iterator[tuple[str, float | None]]:
        criteria = [item.written for item in self.options.overlap]
        yield from detection_measures.values(measured, averaged, criteria[0])
        if len(criteria) > 1:
            for written in criteria:
                yield from detection_measures.values(measured, averaged, written, f"@{written}")
