"""The scores of a submission as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from hlteval.extensions import lazy
from hlteval.findings.counts import count_of
from hlteval.results.verdict import Verdict, head
from hlteval.scoring.metric import Evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of a submission.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        signature: everything that the numbers depend on: version, parameters, digests, seed.
        primary: name of the ranking metric.
        metrics: the value of each metric by name; None if it is undefined.
        intervals: the confidence interval of each metric by name.
        tables: further tables by name, such as `scorings` and `alignment`.
        verdict: the verdict of validation; errors do not prevent scoring unless they are blocking.
        notes: remarks on how to read the numbers.
        files: the files that the official software writes, by name.
        by_document: the metric that ranks, and rates beside it, of each document by itself, for
            reports; None if unwanted.
        evidence: the texts of documents and what items are about, for reports; None if unwanted.
    """

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
        html: str = lazy("hlteval.reports.notebook:scores")(self)
        return html

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
    def warnings(self) -> tuple[str, ...]:
        """Remarks on what makes the numbers meaningless, which nobody may miss."""
        nothing = not self.verdict.documents and not self.verdict.records
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

    def to_dict(
        self, rows: Callable[[pl.DataFrame], Any] = pl.DataFrame.to_dicts
    ) -> dict[str, Any]:
        """The scores in plain types, as written to JSON.

        Args:
            rows: function that converts a table; by default to a list of rows.
        """
        return {
            **head("scores"),
            "task": self.task,
            "profile": self.profile,
            "signature": self.signature,
            "primary": self.primary,
            "metrics": dict(self.metrics),
            "intervals": {name: list(limits) for name, limits in self.intervals.items()},
            "tables": {name: rows(table) for name, table in self.tables.items()},
            "documents": self.verdict.documents,
            "records": self.verdict.records,
            "findings": self.verdict.counts,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }
