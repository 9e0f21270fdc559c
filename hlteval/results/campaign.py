"""A campaign: what is scored, as its manifest declares it, and what came of each cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import polars as pl

from hlteval.findings import Finding, Findings, Severity
from hlteval.results.leaderboard import Leaderboard

Group = tuple[str, str, str]
"""Task, profile and condition: the cells that are compared."""
ProfileName = Literal["plan", "official"]
Status = Literal["scored", "refused", "failed"]
"""Of a cell; `refused` because of its data, `failed` because of the program or the machine."""

_FINDING = {
    "code": pl.String,
    "severity": pl.String,
    "side": pl.String,
    "file": pl.String,
    "line": pl.Int64,
    "column": pl.Int64,
    "count": pl.Int64,
    "message": pl.String,
    "help": pl.String,
}
COLUMNS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "task": pl.String,
    "profile": pl.String,
    "condition": pl.String,
    "submission": pl.String,
    "status": pl.String,
    "metric": pl.String,
    "resample": pl.Int32,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "documents": pl.Int64,
    "records": pl.Int64,
    "errors": pl.Int64,
    "warnings": pl.Int64,
    "reason": pl.String,
    "findings": pl.List(pl.Struct(_FINDING)),
    "signature": pl.String,
    "key": pl.String,
}
"""The columns of the table of a campaign; docs/campaign.md says what they mean."""


class Condition(msgspec.Struct, frozen=True):
    """Settings under which the submissions to a task are scored.

    Attributes:
        reference: path or URL of the reference; that of the task if it is empty.
        submissions: names of the submissions; those of the task if there are none.
        options: values of the options of the task, over those of the task's settings.
    """

    reference: str = ""
    submissions: tuple[str, ...] = ()
    options: Mapping[str, object] = {}


class CampaignTask(msgspec.Struct, frozen=True):
    """How the submissions to a task are scored.

    Attributes:
        reference: path or URL of the reference.
        submissions: names of the submissions; all if there are none.
        profiles: the profiles; those of the campaign if there are none.
        metrics: the metrics that the table has; all if there are none.
        lenient: whether to score what can be scored in spite of blocking findings.
        encoding: of the files.
        options: values of the options of the task.
        conditions: further settings by name; without any, there is one without a name.
    """

    reference: str = ""
    submissions: tuple[str, ...] = ()
    profiles: tuple[ProfileName, ...] = ()
    metrics: tuple[str, ...] = ()
    lenient: bool = False
    encoding: str = "utf-8"
    options: Mapping[str, object] = {}
    conditions: Mapping[str, Condition] = {}


class Campaign(msgspec.Struct, frozen=True):
    """A campaign, as its manifest declares it.

    Attributes:
        name: for people.
        tasks: how submissions to each task are scored.
        profiles: the profiles of tasks that name none.
        resamples: how many bootstrap resamples each cell has; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        leaderboards: whether submissions are ranked; then what was counted of them is kept.
        folders: folders in which each file and folder is a submission.
        submissions: further submissions: path or URL by name.
    """

    name: str
    tasks: Mapping[str, CampaignTask]
    profiles: tuple[ProfileName, ...] = ("plan",)
    resamples: int = 0
    confidence: float = 0.95
    seed: int = 0
    leaderboards: bool = True
    folders: tuple[str, ...] = ()
    submissions: Mapping[str, str] = {}


class Cell(msgspec.Struct, frozen=True):
    """One submission to one task, in one profile and under one condition.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        condition: its name; empty where the task has none.
        submission: its name.
        system: path or URL of the submission.
        reference: path or URL of the reference; empty for a task without references.
        options: values of the options of the task, as text; paths are complete.
        lenient: whether blocking findings are ignored.
        encoding: of the files.
        resamples: how many there are; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        ranked: whether it is in a leaderboard; then what was counted is kept.
        metrics: those that the table has; all if there are none.
    """

    task: str
    profile: ProfileName
    condition: str
    submission: str
    system: str
    reference: str
    options: Mapping[str, str]
    lenient: bool
    encoding: str
    resamples: int
    confidence: float
    seed: int
    ranked: bool
    metrics: tuple[str, ...]

    @property
    def group(self) -> Group:
        """The cells that it is compared with."""
        return self.task, self.profile, self.condition


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a cell.

    Attributes:
        status: whether there are numbers.
        reason: why there are none.
        signature: everything that the numbers depend on.
        primary: name of the ranking metric.
        metrics: the value of each metric by name; None if it is undefined.
        intervals: the confidence interval of each metric by name.
        resamples: the value of each metric in each resample.
        notes: remarks on how to read the numbers.
        documents: the number of documents of the submission.
        records: the number of their records.
        findings: of validation.
        counts: what was counted, as a table in Arrow's format; empty where nobody needs it.
        files: that were read, by side: name, format and digest of each.
        lasting: whether the same inputs give it again; not if a program or a library was missing.
    """

    status: Status
    reason: str = ""
    signature: str = ""
    primary: str = ""
    metrics: Mapping[str, float | None] = {}
    intervals: Mapping[str, tuple[float, float]] = {}
    resamples: Mapping[str, tuple[float | None, ...]] = {}
    notes: tuple[str, ...] = ()
    documents: int | None = None
    records: int | None = None
    findings: tuple[Finding, ...] = ()
    counts: bytes = b""
    files: Mapping[str, tuple[tuple[str, str, str], ...]] = {}
    lasting: bool = True

    @property
    def without_counts(self) -> CellResult:
        """The same without what only leaderboards need."""
        return msgspec.structs.replace(self, counts=b"", files={})


class CellRow(msgspec.Struct, frozen=True):
    """A cell of a campaign with what came of it.

    Attributes:
        cell: the cell.
        result: what came of it.
        key: the digest of all that the result depends on; empty where an input is not there.
        new: whether it was computed in this run, rather than taken from the cache.
    """

    cell: Cell
    result: CellResult
    key: str
    new: bool

    @property
    def headline(self) -> str:
        """The metric that people read first: the one that ranks, if the cell has it; else empty."""
        wanted, primary = self.cell.metrics, self.result.primary
        if self.result.status != "scored":
            return ""
        return wanted[0] if wanted and primary not in wanted else primary

    @property
    def findings(self) -> Findings:
        """The findings of a cell without numbers; of others, the table has only their number."""
        return Findings(() if self.result.status == "scored" else self.result.findings)

    def count(self, severity: Severity) -> int:
        """How many problems of a severity were found."""
        return sum(each.count for each in self.result.findings if each.severity == severity)

    def frame(self) -> pl.DataFrame:
        """The rows of the table of the campaign: a row per metric and resample.

        A cell without numbers has one row, without a metric.
        """
        findings = pl.Series([[*map(_as_row, self.findings)]], dtype=COLUMNS["findings"])
        same = {name: pl.lit(value, dtype=COLUMNS[name]) for name, value in self._same().items()}
        first = pl.when(pl.col("resample") == 0)
        rows = self._values().with_columns(findings=pl.lit(findings).first(), **same)
        rows = rows.with_columns(low=first.then("low"), high=first.then("high"))
        return rows.select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())

    def _values(self) -> pl.DataFrame:
        """Metric, resample, value and interval of each row; resample 0 is the value itself."""
        result = self.result
        names: list[Any] = list(self.cell.metrics or result.metrics)
        drawn: list[Any] = [result.resamples.get(name, ()) for name in names]
        limits: list[Any] = [result.intervals.get(name, (None, None)) for name in names]
        if result.status != "scored":
            names, drawn, limits = [None], [()], [(None, None)]
        values = [[result.metrics.get(name), *own] for name, own in zip(names, drawn, strict=True)]
        numbers = [list(range(len(own))) for own in values]
        columns = {
            "metric": pl.Series(names, dtype=pl.String),
            "resample": pl.Series(numbers, dtype=pl.List(pl.Int32)),
            "value": pl.Series(values, dtype=pl.List(pl.Float64), strict=False),
            "low": pl.Series([low for low, _ in limits], dtype=pl.Float64),
            "high": pl.Series([high for _, high in limits], dtype=pl.Float64),
        }
        return pl.DataFrame(columns).explode("resample", "value")

    def _same(self) -> dict[str, object]:
        """What all rows of the cell have."""
        result = self.result
        return {
            "task": self.cell.task,
            "profile": self.cell.profile,
            "condition": self.cell.condition,
            "submission": self.cell.submission,
            "status": result.status,
            "documents": result.documents,
            "records": result.records,
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
            "reason": result.reason or None,
            "signature": result.signature or None,
            "key": self.key or None,
        }


def _as_row(finding: Finding) -> dict[str, object]:
    span = finding.span
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "side": finding.side,
        "file": finding.file,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "count": finding.count,
        "message": finding.message,
        "help": finding.help,
    }


class CampaignResult(msgspec.Struct, frozen=True):
    """What came of a campaign.

    Attributes:
        name: of the campaign.
        rows: its cells, in the order of the manifest.
        boards: the leaderboard of each task, profile and condition.
        findings: about leaderboards that could not be made.
    """

    name: str
    rows: tuple[CellRow, ...]
    boards: Mapping[Group, Leaderboard] = {}
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        return f"<CampaignResult: {self.name}; {counts or 'no cells'}>"

    @property
    def counts(self) -> dict[str, int]:
        """How many cells there are of each status."""
        found = [row.result.status for row in self.rows]
        known: tuple[Status, ...] = ("scored", "refused", "failed")
        return {status: found.count(status) for status in known if status in found}

    @property
    def computed(self) -> int:
        """How many cells were computed, rather than taken from the cache."""
        return sum(row.new for row in self.rows)

    @property
    def complete(self) -> bool:
        """Whether all cells have numbers."""
        return all(row.result.status == "scored" for row in self.rows)

    @property
    def groups(self) -> dict[Group, list[CellRow]]:
        """The cells that are compared with each other, in the order of the manifest."""
        found: dict[Group, list[CellRow]] = {}
        for row in self.rows:
            found.setdefault(row.cell.group, []).append(row)
        return found

    def to_frame(self) -> pl.DataFrame:
        """The table of the campaign, with the columns `COLUMNS`."""
        empty = pl.DataFrame(schema=dict(COLUMNS))
        return pl.concat([empty, *(row.frame() for row in self.rows)])
