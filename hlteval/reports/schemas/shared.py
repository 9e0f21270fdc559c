"""What several outputs contain: counts, verdicts, values and rows of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hlteval.findings import Item
from hlteval.results.defaults import Defaults

Count = Annotated[int, Meta(ge=0)]
"""A number of things."""
Profile = Literal["plan", "official"]
Value = float | None
"""A number; null where it is undefined (0/0) or not available in the profile."""
Interval = tuple[float | None, float | None]
"""The limits of a confidence interval, lower first."""
Cell = str | float | bool | list[str | float | bool | None] | None
"""A value in a row of a table."""
Rows = tuple[Mapping[str, Cell], ...]


class SeverityCounts(msgspec.Struct):
    """The number of problems of each severity.

    Attributes:
        error: problems that make a submission fail.
        warning: problems that usually do not.
        info: remarks.
    """

    error: Count
    warning: Count
    info: Count


class Counts(msgspec.Struct):
    """The number of problems; a finding with `count` counts as so many.

    Attributes:
        severity: by severity.
        code: by code, of the codes with findings.
        side: by side, of the sides with findings.
    """

    severity: SeverityCounts
    code: Mapping[str, Count]
    side: Mapping[str, Count]


class VerdictMembers(msgspec.Struct, kw_only=True):
    """What all outputs with a verdict have, beside the verdict.

    Attributes:
        task: name of the task; empty for findings without a task, as those of a manifest.
        profile: `plan` or `official`; empty without a task.
        side: whose verdict it is; findings of other sides do not make it fail.
        documents: the number of documents that were read of what is judged; null if nothing was.
        records: the number of their records, such as mentions, frames, segments or tokens, with
            those that cannot be read; null if nothing was read.
        compared: what the records were compared with, where that depends on the arguments.
        defaults: the settings from a file of defaults, if any.
        counts: the number of findings by severity, code and side.
        findings: the findings of all sides, sorted by side, file, line, column and code.
    """

    task: str
    profile: Literal["plan", "official", ""]
    side: str
    documents: Count | None
    records: Count | None
    counts: Counts
    findings: tuple[Item, ...]
    compared: str | UnsetType = UNSET
    defaults: Defaults | UnsetType = UNSET
