"""Norms and emotions of CCU phase 1: mean average precision over the instances of streams.

Three steps, as in Appendix A of the plan:

- `spans`: which system instances are correct;
- `detections`: the evaluation label of each instance;
- here: section C.4 for each class, for all documents and for those of each genre (text, audio,
  video), and the means over classes that have references. At the lowest detection score everything
  that a system has counts: precision, recall and F1 there, and their scaled versions, are those of
  the public scorer.

Before them come Appendix D (`representation.judgments`, what the reference is) and the choice of
system instances (`system_instances`).
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus
from hlteval.representation.corpus import of_documents
from hlteval.scoring.ccu import detections
from hlteval.scoring.ccu.detections import CORRECT, FALSE, MISSED
from hlteval.scoring.confusions import count_labels, pair_by_place
from hlteval.scoring.instance_detection import average_precision, points
from hlteval.scoring.metric import SCORINGS, Metric, Replicates, Tables, Weights
from hlteval.scoring.ratios import rates, side_rates

Values = dict[str, float | None]
ALL = "all"
GENRES = ("text", "audio", "video")
GROUP = ("criterion", "genre", "class")
RATES = ("precision", "recall", "f1", "scaled_precision", "scaled_recall", "scaled_f1")
MEASURES = ("ap", "ap_interpolated", *RATES)
SUMS = ("tp", "fp", "md", "scaled_tp", "scaled_fp")
#: The labels of instances of the reference that are counted as missed.
_LOST = (MISSED, detections.UNWRITTEN)
#: What is counted of instances, beside their group.
_COUNTED = ("disclosure", "outcome", "reference_start", "llr", "tp_share", "fp_share")
#: How many names are listed in a note.
_MOST = 5


def by_genre(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the counted columns of instances, under their genre and again under all."""
    instances = rows.lazy().drop_nulls("outcome").select("^document$", *GROUP, *_COUNTED).collect()
    return pl.concat([instances.with_columns(genre=pl.lit(ALL)), instances])


def curves(instances: pl.DataFrame) -> pl.DataFrame:
    """The points of each class that has references, as from `instance_detection.points`."""
    relevant = _relevant(instances)
    found = instances.filter(pl.col("outcome").is_in([CORRECT, FALSE]))
    hits = found.select(*GROUP, "llr", hit=pl.col("outcome") == CORRECT)
    return points(hits, relevant, GROUP)


def _relevant(instances: pl.DataFrame) -> pl.DataFrame:
    """How many instances the reference has, of each class that it has."""
    expected = instances.filter(
        pl.col("outcome").is_in([CORRECT, *_LOST, detections.UNMAPPED]),
        pl.col("reference_start").is_not_null(),
    )
    return expected.group_by(GROUP).agg(relevant=pl.len().cast(pl.Int64)).sort(GROUP)


def classes(instances: pl.DataFrame, swept: pl.DataFrame) -> pl.DataFrame:
    """The measures of each class that has references: `GROUP`, counts, `llr` and `MEASURES`.

    Those of hidden norms are null if there is no mapping.

    Args:
        instances: as from `by_genre`.
        swept: their `curves`.
    """
    correct, false = pl.col("outcome") == CORRECT, pl.col("outcome") == FALSE
    counts = instances.group_by(GROUP).agg(
        pl.col("disclosure").first(),
        tp=correct.sum().cast(pl.Int64),
        fp=false.sum().cast(pl.Int64),
        md=pl.col("outcome").is_in(_LOST).sum().cast(pl.Int64),
        scaled_tp=pl.col("tp_share").filter(correct).sum(),
        scaled_fp=false.sum() + pl.col("fp_share").filter(correct).sum(),
        llr=pl.col("llr").filter(correct | false).min(),
    )
    joined = _relevant(instances).join(counts, on=GROUP, maintain_order="left")
    areas = average_precision(swept, GROUP)
    joined = joined.join(areas, on=GROUP, how="left", maintain_order="left")
    rated = with_rates(joined.with_columns(pl.col("ap", "ap_interpolated").fill_null(0.0)))
    is_scored = pl.col("tp") + pl.col("md") > 0
    return rated.with_columns(pl.when(is_scored).then(pl.col(MEASURES)).name.keep())


def with_rates(counts: pl.DataFrame) -> pl.DataFrame:
    """Counts with precision, recall, F1 and their scaled versions; null where undefined."""
    right, wrong, scaled, beside, relevant = map(
        pl.col, ("tp", "fp", "scaled_tp", "scaled_fp", "relevant")
    )
    plain = rates(right, right + wrong, relevant)
    shares = side_rates(scaled, scaled + beside, scaled, relevant)
    return counts.with_columns(**dict(zip(RATES, (*plain, *shares), strict=True)))


def means(measured: pl.DataFrame) -> pl.DataFrame:
    """The means over classes that are scored and their rates together, by criterion and genre.

    Args:
        measured: the classes, as from `classes`.
    """
    disclosed = (
        pl.col("ap").filter(pl.col("disclosure") == name).mean().alias(f"map_{name}")
        for name in ("known", "hidden")
    )
    scored = measured.drop_nulls("ap").group_by("criterion", "genre", maintain_order=True)
    averages = pl.col(MEASURES).mean().name.prefix("mean_")
    sums = pl.col("tp", "fp", "md", "relevant", "scaled_tp", "scaled_fp").sum()
    return with_rates(scored.agg(pl.len().alias("classes"), averages, *disclosed, sums))


def values(
    measured: pl.DataFrame, averaged: pl.DataFrame, criterion: str, ending: str = ""
) -> Iterator[tuple[str, float | None]]:
    """The values of a criterion by name.

    Args:
        measured: the classes.
        averaged: their means.
        criterion: whose values are wanted.
        ending: what is added to their names.
    """
    genres = {row["genre"]: row for row in averaged.filter(criterion=criterion).to_dicts()}
    every = genres.get(ALL, {})
    yield f"map{ending}", every.get("mean_ap")
    for genre in GENRES:
        yield f"map.{genre}{ending}", genres.get(genre, {}).get("mean_ap")
    for name in ("known", "hidden"):
        yield f"map.{name}{ending}", every.get(f"map_{name}")
    yield f"classes{ending}", every.get("classes", 0)
    yield f"map_interpolated{ending}", every.get("mean_ap_interpolated")
    for name in RATES:
        yield f"mean_{name}{ending}", every.get(f"mean_{name}")
        yield f"micro_{name}{ending}", every.get(name)
    rows = measured.filter(criterion=criterion, genre=ALL).sort("class").to_dicts()
    for name in MEASURES:
        yield from ((f"{name}.{row['class']}{ending}", row[name]) for row in rows)


def with_congruence(instances: pl.DataFrame) -> pl.DataFrame:
    """Instances with Detection Score Congruence, section C.2.3 of the plan.

    It is the detection score over the range of the scores of its class; null where all are equal.

    Examples:
        >>> rows = {"criterion": ["0.2"] * 2, "class": ["101"] * 2, "outcome": ["CD", "FA"]}
        >>> with_congruence(pl.DataFrame(rows | {"llr": [3.0, 1.0]}))["congruence"].to_list()
        [1.5, 0.5]
    """
    detected = pl.col("outcome") != MISSED
    scores = pl.col("llr").filter(detected)
    width = (scores.max() - scores.min()).over("criterion", "class")
    score = pl.when((width > 0) & detected).then(pl.col("llr") / width)
    return instances.with_columns(congruence=score)


class Detection(Metric):
    """How what has a place and a score is scored: instances, and change points.

    Attributes:
        options: what was chosen.
    """

    options: detections.DetectionOptions | detections.ChangeOptions

    def statistics(
        self,
        reference: Corpus,
        system: Corpus,
        *,
        alignment: bool = True,  # noqa: ARG002
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The evaluation labels of the documents of a batch that are scored."""
        if self.options.index is not None:
            names = pl.Series(sorted(self.options.index), dtype=pl.String)
            reference, system = (of_documents(side, names) for side in (reference, system))
        # Sorted here, rows need not be copied once more when all batches are known.
        return self.rows(reference, system).sort("document", maintain_order=True), None

    @abstractmethod
    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The evaluation labels of the documents that are scored, as `detections.ROWS`."""

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The labels of all batches, sorted so that they do not depend on the batches."""
        every = pl.concat([pl.DataFrame(schema=dict(detections.ROWS)), *counts])
        in_order = every["document"].is_sorted()
        return every if in_order else every.sort("document", maintain_order=True)

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, None each where the public scorer crashes; and tables that explain them."""
        values, tables = self.evaluate(total)
        return (dict.fromkeys(values) if self.crash(total) else values), tables

    @abstractmethod
    def evaluate(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""

    @abstractmethod
    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
        """The tables that values come from, by criterion and more; and the points of curves."""

    @abstractmethod
    def values_from(self, *tables: pl.DataFrame) -> Values:
        """All values, from the tables of `measures` but the points."""

    def alone(self, counts: pl.DataFrame, documents: Sequence[str]) -> Replicates:
        """The values of each document, which has criteria of its own in the tables of all."""
        rows = self._with_numbers(counts, documents)
        rows = rows.with_columns(criterion=pl.concat_str("number", "criterion", separator=" "))
        split = pl.col("criterion").str.splitn(" ", 2).struct.rename_fields(["number", "criterion"])
        tables = [
            table.select(split, pl.exclude("criterion")).unnest("criterion")
            for table in self.measures(rows)[:-1]
        ]
        apart = [table.partition_by("number", as_dict=True, include_key=False) for table in tables]
        nothing = [table.drop("number").clear() for table in tables]
        return _as_replicates(
            self.values_from(
                *(own.get((str(number),), none) for own, none in zip(apart, nothing, strict=True))
            )
            for number in range(len(documents))
        )

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate, without the other tables if no document is there twice."""
        if weights.max(initial=0) > 1:
            return super().replicates(counts, documents, weights)
        rows = self._with_numbers(counts, documents)
        number = rows["number"].to_numpy()
        parts = (rows.filter(pl.Series(own[number])) for own in weights > 0)
        return _as_replicates(self.values_from(*self.measures(part)[:-1]) for part in parts)

    def _with_numbers(self, counts: pl.DataFrame, documents: Sequence[str]) -> pl.DataFrame:
        """Instances with the number of their document, in the columns that values come from."""
        schema = {"document": pl.String, "number": pl.Int64}
        numbers = pl.DataFrame({"document": documents, "number": range(len(documents))}, schema)
        rows = self.total([counts]).join(numbers, on="document", maintain_order="left")
        return rows.select("number", *GROUP, *_COUNTED)

    def crash(self, total: pl.DataFrame) -> str:  # noqa: ARG002
        """The case in which the public scorer crashes; empty if it does not, and by the plan."""
        return ""


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

    options: detections.DetectionOptions = field(default_factory=detections.DetectionOptions)
    kind: Literal["norm", "emotion"] = "norm"

    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The evaluation labels of the documents that are scored."""
        return detections.rows(reference, system, self.kind, self.options)

    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """The measures of each class, their means and the rates of all, and points of curves."""
        instances = by_genre(total)
        swept = curves(instances)
        measured = classes(instances, swept)
        return measured, means(measured), swept

    def evaluate(self, total: pl.DataFrame) -> tuple[Values, Tables]:
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
            "classes": measured.select(*GROUP, "relevant", *SUMS, "llr", *MEASURES),
            "aggregated": averaged,
            "detections": with_congruence(total.drop_nulls("outcome")),
            "pr": swept.filter(pl.col("genre") == ALL, first).select(
                "class", pl.col("llr").alias("threshold"), "precision", "recall"
            ),
        }
        return self.values_from(measured, averaged), tables

    def values_from(self, *tables: pl.DataFrame) -> Values:
        """All values, of the first criterion and then of each, from classes and their means."""
        measured, averaged = tables
        criteria = [item.written for item in self.options.overlap]
        found = dict(values(measured, averaged, criteria[0]))
        for name in criteria if len(criteria) > 1 else ():
            found |= values(measured, averaged, name, f"@{name}")
        return found

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `confusion` of classes by the first criterion; others are paired by overlap."""
        first = pl.col("criterion") == pl.col("criterion").first()
        rows = aligned.filter(first, pl.col("outcome").is_in([CORRECT, MISSED, FALSE]))
        rows = rows.with_columns(
            _ours=pl.when(pl.col("outcome") != FALSE).then("class"),
            _theirs=pl.when(pl.col("outcome") != MISSED).then("class"),
        )
        places = ("reference_start", "reference_end"), ("system_start", "system_end")
        labels = ("_ours", "_theirs")
        return {"confusion": count_labels(pair_by_place(rows, labels, places), labels)}, {}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Say what is not scored, and why.

        Of hidden norms, that is those without a mapping, or those that it does not list by name.
        """
        instances = total.select("class", "outcome", "reference_start").drop_nulls("outcome")
        of_reference = pl.col("reference_start").is_not_null()
        expected = instances.filter(of_reference)["class"].unique()
        unmapped = instances.filter(outcome=detections.UNMAPPED)
        unknown = instances.filter(~pl.col("class").is_in(expected.implode()))
        others, hidden, named = (
            rows["class"].unique().sort().to_list()
            for rows in (unknown, unmapped.filter(of_reference), unmapped.filter(~of_reference))
        )
        names = "names of hidden norms" if len(named) > 1 else "the name of a hidden norm"
        unlisted = [] if hidden else named
        lost = total.filter(criterion=detections.UNPLACED).height
        listed = (
            (others, "class of the system", "without references ", "not scored"),
            (hidden, "hidden norm", "", "not scored without a mapping (--mapping)"),
            (unlisted, "norm of the system", f"with {names} ", "not in the mapping and not scored"),
        )
        notes = [
            f"{count_of(len(which), what)} {whose}{_are(len(which))} {why}: "
            + ", ".join([*which[:_MOST], *["…"] * (len(which) > _MOST)])
            for which, what, whose, why in listed
            if which
        ]
        if lost:
            what = count_of(lost, "system instance")
            notes.append(f"{what} without a place {_are(lost)} not scored")
        return tuple(notes)


def _as_replicates(found: Iterable[Values]) -> Replicates:
    """Values by name, an element each; not-a-number where one is undefined or absent."""
    every = [*found]
    names = dict.fromkeys(name for values in every for name in values)
    return {name: np.array([own.get(name) for own in every], np.float64) for name in names}


def _are(number: int) -> str:
    """The verb for a number of things."""
    return "is" if number == 1 else "are"


def _scorings(measured: pl.DataFrame, averaged: pl.DataFrame) -> pl.DataFrame:
    """The values as people read them: the means by genre, and each class; empty without any."""
    criteria = measured["criterion"].unique(maintain_order=True).to_list() or [""]
    means = {"mAP": "mean_ap", "classes": "classes", **{rate: f"mean_{rate}" for rate in RATES}}
    measures = {"references": "relevant", **{name: name for name in MEASURES}}
    rows = []
    for name in criteria:
        at = f" at {name}" if len(criteria) > 1 else ""
        genres = averaged.filter(criterion=name).to_dicts() or [{"genre": ALL}]
        of_classes = measured.filter(criterion=name, genre=ALL).sort("class").to_dicts()
        for title, key, columns, scorings in (
            ("Means", "genre", means, genres),
            ("Classes", "class", measures, of_classes or [{"class": "none"}]),
        ):
            rows += [
                (f"{title}{at}", row[key], measure, row.get(column))
                for row in scorings
                for measure, column in columns.items()
            ]
    return pl.DataFrame(rows, schema=dict(SCORINGS), orient="row")
