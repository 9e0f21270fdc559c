"""The scores of a submission as a value."""

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
        signature: everything that the numbers depend on: version, parameters, digests, seed.
        primary: name of the ranking metric.
        metrics: the value of each metric by name; None if it is undefined.
        intervals: the confidence interval of each metric by name.
        tables: further tables by name, such as `scorings` and `alignment`.
        verdict: the verdict of validation; errors do not prevent scoring unless they are blocking.
        notes: remarks on how to read the numbers.
        files: the files that the official software writes, by name.
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
        """The scores in plain types, as written to JSON.

        Args:
            rows: function that converts a table; by default to a list of rows.
        """
        return {
            "task": self.task,
            "profile": self.profile,
            "signature": self.signature,
            "primary": self.primary,
            "metrics": dict(self.metrics),
            "intervals": {name: list(limits) for name, limits in self.intervals.items()},
            "tables": {name: rows(table) for name, table in self.tables.items()},
            "findings": self.verdict.counts,
            "notes": list(self.notes),
        }
