"""Scores: what scoring gives, as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import polars as pl

from hlteval.results.verdict import Verdict


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of a submission.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        signature: what the numbers depend on: version, task, profile, parameters, digests.
        primary: the metric that ranks.
        metrics: every metric by name; null where undefined.
        intervals: confidence intervals by metric.
        tables: tables by name; `scorings` and `alignment`.
        verdict: what validation came to; a submission with errors is scored if none blocks.
        notes: what a reader of the numbers must know.
        files: the files that the official software would have written, by name.
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

    def as_dict(
        self, rows: Callable[[pl.DataFrame], Any] = pl.DataFrame.to_dicts
    ) -> dict[str, Any]:
        """The value in plain types, as it is written as JSON: tables as lists of rows.

        Args:
            rows: what a table becomes.
        """
        counts = {"severity": self.verdict.by_severity, "code": self.verdict.by_code}
        return {
            "task": self.task,
            "profile": self.profile,
            "signature": self.signature,
            "primary": self.primary,
            "metrics": dict(self.metrics),
            "intervals": {name: list(limits) for name, limits in self.intervals.items()},
            "tables": {name: rows(table) for name, table in self.tables.items()},
            "findings": counts,
            "notes": list(self.notes),
        }
