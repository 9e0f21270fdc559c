"""Scores: what scoring gives, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl


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
        findings: how many findings there are by severity and by code.
        notes: what a reader of the numbers must know.
    """

    task: str
    profile: str
    signature: str
    primary: str
    metrics: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float]]
    tables: Mapping[str, pl.DataFrame]
    findings: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The value in plain types, as it is written as JSON: tables as lists of rows."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return fields | {"tables": {name: table.to_dicts() for name, table in self.tables.items()}}
