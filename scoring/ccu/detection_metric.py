"""Norms and emotions of CCU phase 1: mean average precision over the instances of streams.

Three steps, as in Appendix A of the plan:

- `spans`: which system instances are correct;
- `detections`: the evaluation label of each instance;
- `spans.average_precision`, `detection_measures`: what follows from labels and detection scores.

Before them come Appendix D (`representation.judgments`, what the reference is) and the choice of
system instances (`system_instances`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring import metric
from hlteval.scoring.ccu import detection_measures, detections
from hlteval.scoring.ccu.detection_measures import ALL, MEASURES, RATES
from hlteval.scoring.ccu.detections import (
    MISSED,
    UNMAPPED,
    UNPLACED,
    ChangeOptions,
    DetectionOptions,
)
from hlteval.scoring.metric import Metric, Tables

Values = dict[str, float | None]
#: How many names are listed in a note.
_MOST = 5
_COUNTS = ("relevant", "tp", "fp", "md", "scaled_tp", "scaled_fp", "llr")


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


def notes(total: pl.DataFrame) -> Iterator[str]:
    """Say what is not scored, and why.

    Of hidden norms, that is those without a mapping, or those that it does not list by name.

    Args:
        total: the labels of all instances.
    """
    instances = total.drop_nulls("outcome")
    of_reference = pl.col("reference_start").is_not_null()
    expected = instances.filter(of_reference)["class"].unique()
    unmapped = instances.filter(outcome=UNMAPPED)
    others, hidden, named = (
        rows["class"].unique().sort().to_list()
        for rows in (
            instances.filter(~pl.col("class").is_in(expected.implode())),
            unmapped.filter(of_reference),
            unmapped.filter(~of_reference),
        )
    )
    if others:
        which = _are(len(others), "class of the system", "classes of the system")
        yield f"{which[0]} without references {which[1]} not scored: {_few(others)}"
    if hidden:
        which = _are(len(hidden), "hidden norm", "hidden norms")
        yield f"{which[0]} {which[1]} not scored without a mapping (--mapping): {_few(hidden)}"
    elif named:
        which = _are(len(named), "norm of the system", "norms of the system")
        name = "names of hidden norms" if len(named) > 1 else "the name of a hidden norm"
        yield f"{which[0]} with {name} {which[1]} not in the mapping and not scored: {_few(named)}"
    if lost := total.filter(pl.col("criterion") == UNPLACED).height:
        which = _are(lost, "system instance", "system instances")
        yield f"{which[0]} without a place {which[1]} not scored"


def _are(number: int, one: str, many: str) -> tuple[str, str]:
    """A number of things, and the verb for them."""
    return (f"1 {one}", "is") if number == 1 else (f"{number:,} {many}", "are")


def _few(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + (", …" if len(names) > _MOST else "")


class Detection(Metric):
    """How what has a place and a score is scored: instances, and change points.

    Attributes:
        options: what was chosen.
    """

    options: DetectionOptions | ChangeOptions

    def statistics(
        self,
        reference: Corpus,
        system: Corpus,
        *,
        alignment: bool = True,  # noqa: ARG002
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The evaluation labels of a batch of documents."""
        return self.rows(*detections.selected((reference, system), self.options.index)), None

    @abstractmethod
    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The evaluation labels of the documents that are scored, as `detections.ROWS`."""

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The labels of all batches."""
        return detections.total(counts)


@dataclass(frozen=True)
class InstanceDetection(Detection):
    """How norms or emotions are scored.

    Attributes:
        options: what was chosen.
        kind: of the instances.

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

    options: DetectionOptions = field(default_factory=DetectionOptions)
    kind: Literal["norm", "emotion"] = "norm"

    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The evaluation labels of the documents that are scored."""
        return detections.rows(reference, system, self.kind, self.options)

    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """The measures of each class, their means and the rates of all, and points of curves."""
        instances = detection_measures.by_genre(total)
        swept = detection_measures.curves(instances)
        classes = detection_measures.classes(instances, swept)
        return classes, detection_measures.means(classes), swept

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are.

        - `classes`: the measures of each class, by criterion and genre;
        - `aggregated`: their means, and the rates of all instances;
        - `detections`: each instance with its evaluation label, and what it was paired with;
        - `pr`: the points of the curve of each class, by the first criterion.
        """
        measured, averaged, swept = self.measures(total)
        first = pl.col("criterion") == pl.col("criterion").first()
        tables = {
            "scorings": _scorings(measured, averaged),
            "classes": measured.select("criterion", "genre", "class", *_COUNTS, *MEASURES),
            "aggregated": averaged,
            "detections": with_congruence(total.drop_nulls("outcome")),
            "pr": swept.filter(pl.col("genre") == ALL, first).select(
                "class", threshold="llr", precision="precision", recall="recall"
            ),
        }
        criteria = [item.written for item in self.options.overlap]
        values = dict(detection_measures.values(measured, averaged, criteria[0]))
        if len(criteria) > 1:
            for name in criteria:
                values |= detection_measures.values(measured, averaged, name, f"@{name}")
        return values, tables

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Say what a reader of the values must know."""
        return tuple(notes(total))


def _scorings(measured: pl.DataFrame, averaged: pl.DataFrame) -> pl.DataFrame:
    """The values as people read them: the means by genre, and each class; empty without any."""
    criteria = measured["criterion"].unique(maintain_order=True).to_list() or [""]
    shown: list[tuple[str, str, Values]] = []
    for name in criteria:
        added = f" at {name}" if len(criteria) > 1 else ""
        for own in averaged.filter(criterion=name).to_dicts() or [{"genre": ALL}]:
            values = {"mAP": own.get("mean_ap"), "classes": own.get("classes")}
            values |= {rate: own.get(f"mean_{rate}") for rate in RATES}
            shown.append((f"Means{added}", own["genre"], values))
        classes = measured.filter(criterion=name, genre=ALL).sort("class")
        for own in classes.to_dicts() or [{"class": "none"}]:
            values = {"references": own.get("relevant")}
            values |= {measure: own.get(measure) for measure in MEASURES}
            shown.append((f"Classes{added}", own["class"], values))
    return metric.scorings(
        {"evaluation": evaluation, "scoring": scoring, "measure": measure, "value": value}
        for evaluation, scoring, values in shown
        for measure, value in values.items()
    )
