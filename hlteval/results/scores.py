"""The scores of a submission as a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from hlteval.extensions import lazy
from hlteval.findings.counts import count_of
from hlteval.results.verdict import Citable, Count, Verdict
from hlteval.scoring.confusions import CONFUSION
from hlteval.scoring.metric import Evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: The label of what a side does not have.
NO_LABEL = "(none)"
#: The ends of the names of the limits of an interval.
LIMITS = ("_low", "_high")


def flat_names(names: Iterable[str], most: int = 250) -> dict[str, str]:
    """Names of letters, digits and `_` for metrics, each unique and of limited length.

    Args:
        names: the names of the metrics.
        most: the maximum number of characters of a name.

    Examples:
        >>> flat_names(["micro.f1", "sets:is_first:span.fscore", "micro:f1"])
        {'micro.f1': 'micro_f1', 'sets:is_first:span.fscore': 'sets_is_first_span_fscore', \
'micro:f1': 'micro_f1_2'}
    """
    flat: dict[str, str] = {}
    used = set[str]()
    for name in names:
        whole = re.sub("[^A-Za-z0-9]+", "_", name).strip("_") or "metric"
        key, number = whole[:most], 1
        while key in used:
            number += 1
            key = f"{whole[: most - len(str(number)) - 1]}_{number}"
        used.add(key)
        flat[name] = key
    return flat


class Scores(Citable, frozen=True, kw_only=True):
    """The scores of a submission.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        signature: everything that the numbers depend on: version, parameters, digests, seed.
        primary: name of the metric that ranks.
        metrics: the value of each metric by name, in the unit that `hlteval tasks TASK` declares;
            None where it is undefined (0/0) or not available in the profile.
        intervals: the confidence interval of each metric by name; empty without a bootstrap.
        tables: further tables by name, an object per row; `scorings` has all numbers of the task,
            the others depend on the task.
        verdict: the verdict of validation; errors do not prevent scoring unless they are blocking.
        notes: remarks on how to read the numbers.
        files: the files that the official software writes, by name.
        by_document: the metric that ranks, and rates beside it, of each document by itself, for
            reports; None if unwanted.
        evidence: the texts of documents and what items are about, for reports; None if unwanted.
    """

    json_schema: ClassVar[str] = "scores"
    json_members: ClassVar[tuple[str, ...]] = (
        *("task", "profile", "signature", "primary", "metrics", "intervals", "tables"),
        *("documents", "records", "findings", "warnings", "notes"),
    )

    task: str
    profile: str
    signature: str
    primary: str
    metrics: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float]]
    tables: Mapping[str, pl.DataFrame]
    verdict: Verdict
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    by_document: pl.DataFrame | None = None
    evidence: Evidence | None = None

    def __repr__(self) -> str:
        value = self.metrics.get(self.primary)
        shown = "undefined" if value is None else f"{value:.4f}"
        more = f"{count_of(len(self.metrics), 'metric')}, tables {', '.join(self.tables) or 'none'}"
        return f"<Scores: {self.task}, profile {self.profile}: {self.primary} {shown}; {more}>"

    def _repr_html_(self) -> str:
        return str(lazy("hlteval.reports.notebook:scores")(self))

    def plot(self, others: Mapping[str, Scores] | None = None) -> Figure:
        """The curves, or the most important metrics with their intervals, as a figure.

        Args:
            others: the scores of other submissions to the task, by the names that they have in the
                legend.

        Raises:
            ImportError: where matplotlib is not installed.
            ValueError: if the others are of another task.
        """
        figure: Figure = lazy("hlteval.reports.curves:of_scores")(self, others or {})
        return figure

    @property
    def documents(self) -> Count | None:
        """The number of documents of the submission that were read."""
        return self.verdict.documents

    @property
    def records(self) -> Count | None:
        """The number of their records, such as mentions, frames, segments or tokens."""
        return self.verdict.records

    @property
    def member_findings(self) -> dict[str, dict[str, int]]:
        """The number of problems of the submission, the reference and other files."""
        return self.verdict.counts

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes that must be read before any number."""
        nothing = not self.documents and not self.records
        return ("nothing was read of the submission: 0 documents, 0 records",) * nothing

    def to_frame(self) -> pl.DataFrame:
        """The metrics, a row each: `metric`, `value`, and `low` and `high` of its interval.

        What is undefined or was not computed is null.
        """
        rows = [
            (name, None if value is None else float(value), *self.intervals.get(name, (None, None)))
            for name, value in self.metrics.items()
        ]
        types = {"metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
        return pl.DataFrame(rows, schema=types, orient="row")

    @property
    def confusion(self) -> pl.DataFrame | None:
        """The confusion of labels as a matrix: a row per label of the reference.

        The first column, `reference`, has the label; then there is a column per label of the
        system, and `(none)`, as there is a row for what only the system has. None for tasks without
        labels, and where the alignment was not wanted. The table `confusion` has the same as rows.
        """
        table = self.tables.get("confusion")
        if table is None or tuple(table.columns) != CONFUSION:
            return None
        rows = table.with_columns(pl.col(CONFUSION[:2]).fill_null(NO_LABEL))
        counts = {(ours, theirs): count for ours, theirs, count in rows.iter_rows()}
        labels = sorted({label for pair in counts for label in pair} - {NO_LABEL})
        labels += [NO_LABEL] * any(NO_LABEL in pair for pair in counts)
        columns = {name: [counts.get((own, name), 0) for own in labels] for name in labels}
        matrix = pl.DataFrame(
            [pl.Series(name, column, pl.Int64) for name, column in columns.items()]
        )
        return matrix.select(pl.Series("reference", labels, pl.String).alias("reference"), pl.all())

    def to_flat_dict(self, names: Mapping[str, str] | None = None) -> dict[str, float]:
        """The metrics as numbers by names without dots, for loggers and other programs.

        A name has letters, digits and `_`, and is unique; the limits of an interval follow as
        `NAME_low` and `NAME_high`. What is undefined, infinite or was not computed is absent.

        Args:
            names: the metrics that are wanted, with their names; by default those of `flat_names`.
        """
        flat = dict[str, float]()
        for metric, name in (flat_names(self.metrics) if names is None else names).items():
            limits = zip(LIMITS, self.intervals.get(metric, ()), strict=False)
            for end, value in [("", self.metrics[metric]), *limits]:
                if value is not None and isfinite(value):
                    flat[name + end] = float(value)
        return flat

    def to_dict(
        self, rows: Callable[[pl.DataFrame], Any] = pl.DataFrame.to_dicts
    ) -> dict[str, Any]:
        """The scores in plain types, as written to JSON.

        Args:
            rows: function that converts a table; by default to a list of rows.
        """
        tables = {name: rows(table) for name, table in self.tables.items()}
        return super().to_dict() | {"tables": tables}
