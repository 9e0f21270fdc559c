"""Evaluations and campaigns as values: what their manifests declare, and their results."""

from __future__ import annotations  # `polars_types` reads the annotations as text

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, get_args

import msgspec
import polars as pl

from hlteval.findings import Finding, Findings, Item, Severity
from hlteval.findings.sequence import lists_by_key
from hlteval.results.systems import Leaderboard, polars_types
from hlteval.results.verdict import Count, Output, Profile

Part = Literal["team", "task", "language", "condition", "checkpoint"]
#: What distinguishes submissions, in the order of tables.
PARTS: tuple[Part, ...] = ("team", "task", "language", "condition", "checkpoint")
#: The forms of values in manifests, from which docs.make.manifest_grammars makes their schemas.
Name = Annotated[str, msgspec.Meta(min_length=1)]
_UNIQUE = {"uniqueItems": True}
_SOME = msgspec.Meta(min_length=1, extra_json_schema=_UNIQUE)
Names = Annotated[tuple[Name, ...], msgspec.Meta(extra_json_schema=_UNIQUE)]
SomeNames = Annotated[tuple[Name, ...], _SOME]
Profiles = Annotated[tuple[Profile, ...], _SOME]
Paths = Name | Mapping[str, Name]
#: Placeholders of names that may have underscores in them.
_WRITTEN = {"run": ".+", "any": ".*", "timestamp": "[0-9]{8}_[0-9]{6}"}
_PLACEHOLDER = re.compile(r"\{([a-z]*)\}")


class Team(msgspec.Struct, frozen=True):
    """A team.

    Attributes:
        title: its name for people.
        tasks: the tasks for which a submission of it is expected.
    """

    title: Name = ""
    tasks: Names = ()


class TaskSettings(msgspec.Struct, frozen=True):
    """How the submissions to a task are recognised, checked and scored.

    Attributes:
        reference: path of the reference, or a path for each language.
        against: path of what submissions are checked against, in the same forms; that of the
            reference if it is empty.
        names: pattern of the names of submissions, see `name_pattern`.
        metric: the metric by which the best submission is found; that which ranks if it is empty.
        profile: `plan` or `official`.
        options: values of the options of the task.
    """

    reference: Paths = ""
    against: Paths = ""
    names: Name = ""
    metric: Name = ""
    profile: Profile = "plan"
    options: Mapping[str, object] = {}


class Limit(msgspec.Struct, frozen=True):
    """How many valid submissions there may be, and have to be.

    Attributes:
        per: the parts by which submissions are counted, such as team and task.
        tasks: the tasks that it is for; all if it is empty.
        least: how many there have to be.
        most: how many are scored; None for all.
    """

    per: Annotated[tuple[Part, ...], _SOME]
    tasks: Names = ()
    least: Count = 0
    most: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def group(self, parts: Mapping[str, str]) -> tuple[str, ...] | None:
        """The group of a submission; None if it is not counted, or not all parts are known.

        Examples:
            >>> Limit(("team", "task")).group({"team": "LCC", "task": "ccu-nd"})
            ('LCC', 'ccu-nd')
            >>> Limit(("team",), tasks=("hub4",)).group({"team": "LCC", "task": "ccu-nd"})
        """
        if self.tasks and parts.get("task") not in self.tasks:
            return None
        group = tuple(parts.get(part, "") for part in self.per)
        return group if all(group) else None


class Listed(msgspec.Struct, frozen=True):
    """A submission whose parts the manifest says, rather than its name.

    Attributes:
        file: name of its archive.
        team: its team.
        task: its task.
        language: its language.
        condition: its training condition.
        checkpoint: its checkpoint.
    """

    file: Name
    team: Name = ""
    task: Name = ""
    language: Name = ""
    condition: Name = ""
    checkpoint: Name = ""

    @property
    def parts(self) -> dict[str, str]:
        """The parts that it says."""
        return {part: value for part in PARTS if (value := getattr(self, part))}


class Ensemble(msgspec.Struct, frozen=True, kw_only=True):
    """Submissions that a team declares comparable over time, one at each checkpoint.

    Attributes:
        name: of the ensemble.
        submissions: their identifiers, SUB_ID.
    """

    name: Name = ""
    submissions: SomeNames


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluation, as its manifest declares it.

    Attributes:
        name: for people.
        checkpoints: their names, in order.
        languages: their names.
        conditions: the training conditions.
        ensembles_for: conditions under which each team has to name a complete ensemble.
        teams: the teams by the names that submissions have; any team if there are none.
        tasks: how submissions to each task are handled.
        limits: how many submissions there may be.
        submissions: submissions whose parts do not follow from their names.
        ensembles: sets of submissions, one at each checkpoint.
    """

    name: Name
    checkpoints: Names = ()
    languages: Names = ()
    conditions: Names = ()
    ensembles_for: Names = ()
    teams: Mapping[str, Team] = {}
    tasks: Mapping[str, TaskSettings]
    limits: tuple[Limit, ...] = ()
    submissions: tuple[Listed, ...] = ()
    ensembles: tuple[Ensemble, ...] = ()

    def names_of(self, part: str) -> tuple[str, ...]:
        """The names that a part of a submission may have; any if there are none."""
        return tuple(getattr(self, f"{part}s"))


def name_pattern(written: str) -> re.Pattern[str]:
    """The pattern of names of submissions, without `.tgz`, `.tar.gz` or `.zip`.

    A placeholder is a part, such as `{team}`, or any other word for what does not matter, such as
    `{phase}`: it is text without an underscore. `{run}` and `{any}` may have underscores, and
    `{timestamp}` is YYYYMMDD_HHMMSS.

    Raises:
        ValueError: for a placeholder that is repeated or has no name.

    Examples:
        >>> name_pattern("{team}_EDL_{checkpoint}_{run}").fullmatch("NIST_EDL_CP1_1.tab")["run"]
        '1.tab'

    """
    pattern, seen = "", set[str]()
    for index, piece in enumerate(_PLACEHOLDER.split(written)):
        if index % 2 == 0:
            pattern += re.escape(piece)
        elif not piece or piece in seen:
            reason = "is there twice" if piece else "has no name"
            raise ValueError(f"{{{piece}}} {reason}")
        else:
            seen.add(piece)
            pattern += f"(?P<{piece}>{_WRITTEN.get(piece, '[^_]+')})"
    return re.compile(pattern)


#: The status of a submission; docs/pipeline.md says what each means.
SubmissionStatus = Literal[
    "scored", "valid", "invalid", "over limit", "not scored", "failed", "waiting", "withdrawn"
]
#: Statuses of which the submission is not the reason.
TROUBLE: frozenset[SubmissionStatus] = frozenset({"not scored", "failed", "waiting"})


def _counts(statuses: Sequence[str], known: Sequence[str]) -> dict[str, Count]:
    """Return the number of cells or submissions by status."""
    return {status: statuses.count(status) for status in known if status in statuses}


class Entry(msgspec.Struct, frozen=True):
    """The status of one submission.

    Attributes:
        submission: its identifier, SUB_ID.
        file: the name of the archive.
        status: its status.
        task: its task, empty if it is unknown.
        team: its team, empty if it is unknown.
        reason: the reason of the status in one line.
        help: what to do, in one line.
    """

    submission: str
    file: str
    status: SubmissionStatus
    task: str = ""
    team: str = ""
    reason: str = ""
    help: str = ""


class PipelineResult(Output, frozen=True):
    """The status of each submission of an evaluation.

    Attributes:
        root: the folder of the evaluation.
        submissions: the submissions, in the order in which they count.
        done: how many submissions were validated or scored by this run.
        notes: remarks for the organisers.
        leaderboards: the pages of the leaderboards, by path from the root.
    """

    json_schema: ClassVar[str] = "pipeline"
    json_members: ClassVar[tuple[str, ...]] = (
        *("root", "done", "counts", "notes", "submissions", "leaderboards"),
    )

    root: str
    submissions: tuple[Entry, ...]
    done: Count = 0
    notes: tuple[str, ...] = ()
    leaderboards: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[str, Count]:
        """The number of submissions by status, of the statuses that there are.

        Examples:
            >>> PipelineResult("r", (Entry("a", "a.tgz", "scored"),)).counts
            {'scored': 1}
        """
        return _counts([entry.status for entry in self.submissions], get_args(SubmissionStatus))

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong but for submissions that are wrong themselves."""
        return not any(entry.status in TROUBLE for entry in self.submissions)


class Best(msgspec.Struct, frozen=True):
    """The best submission of a team.

    Attributes:
        team: the team.
        task: the task.
        language: the language, empty if submissions have none.
        condition: the training condition, likewise.
        checkpoint: the checkpoint, likewise.
        submission: its identifier, SUB_ID.
        metric: the metric by which it is the best.
        value: of the metric; None where it is undefined.
        less_is_better: whether smaller values are better.
    """

    team: str
    task: str
    language: str
    condition: str
    checkpoint: str
    submission: str
    metric: str
    value: float | None
    less_is_better: bool = False


#: Task, profile and condition: the cells that are compared.
Group = tuple[str, str, str]
#: Of a cell; `refused` because of its data, `failed` because of the program or the machine.
CellStatus = Literal["scored", "refused", "failed"]


class CellName(msgspec.Struct, frozen=True):
    """The names of one submission to one task, in one profile and under one condition.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        condition: name of the condition; empty where the task has none.
        submission: name of the submission.
    """

    task: str
    profile: Profile
    condition: str
    submission: str

    @property
    def group(self) -> Group:
        """The cells that it is compared with."""
        return self.task, self.profile, self.condition


class CampaignFinding(msgspec.Struct):
    """A finding in the table of a campaign.

    Attributes:
        code: of the finding.
        severity: `error`, `warning` or `info`.
        side: whose problem it is, `submission`, `reference` or the file of an option.
        file: path of the file; null for the whole submission.
        line: number of the line, from 1; null for the whole file.
        column: column in Unicode code points, from 1; null for the whole file.
        count: the number of problems that it summarizes.
        message: what is wrong.
        help: how to fix it; null if unknown.
    """

    code: str
    severity: str
    side: str
    file: str | None
    line: Count | None
    column: Count | None
    count: Count
    message: str
    help: str | None


class CampaignRow(CellName, frozen=True):
    """A row of the table `campaign.parquet`: a metric of a cell in one resample.

    Attributes:
        status: `refused` because of its data, `failed` because of the program or the machine.
        metric: name of the metric; null in the only row of a cell without numbers.
        resample: number of the resample; 0 for the value itself.
        value: value of the metric; null if undefined.
        low: lower limit of the confidence interval; null without one, and in resamples.
        high: upper limit of the confidence interval; null without one, and in resamples.
        documents: the number of documents of the submission; null if nothing was read.
        records: the number of their records; null if nothing was read.
        errors: the number of errors that validation found.
        warnings: the number of warnings that validation found.
        reason: why there are no numbers; null if there are.
        findings: of a cell without numbers.
        signature: everything that the numbers depend on; null without numbers.
        key: digest of everything that the result depends on; null if an input does not exist.
    """

    status: CellStatus
    metric: str | None
    resample: Count
    value: float | None
    low: float | None
    high: float | None
    documents: Count | None
    records: Count | None
    errors: Count
    warnings: Count
    reason: str | None
    findings: tuple[CampaignFinding, ...]
    signature: str | None
    key: str | None


class CampaignCell(msgspec.Struct, frozen=True):
    """One submission to one task, in one profile and under one condition.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        condition: name of the condition; empty where the task has none.
        submission: name of the submission.
        status: `refused` because of its data, `failed` because of the program or the machine.
        reason: why there are no numbers; empty if there are.
        metrics: the value of each metric by name; null if it is undefined.
        intervals: the confidence interval of each metric by name.
        documents: the number of documents of the submission; null if nothing was read.
        records: the number of their records; null if nothing was read.
        findings: of a cell without numbers.
        notes: remarks on how to read the numbers.
        signature: everything that the numbers depend on; empty without numbers.
        key: digest of everything that the result depends on; empty if an input does not exist.
    """

    task: str
    profile: Profile
    condition: str
    submission: str
    status: CellStatus
    reason: str
    metrics: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float | None, float | None]]
    documents: Count | None
    records: Count | None
    findings: tuple[Item, ...]
    notes: tuple[str, ...]
    signature: str
    key: str


_FINDING = polars_types(CampaignFinding)
#: The columns of the table of a campaign.
COLUMNS: Mapping[str, pl.DataType] = {
    **polars_types(CellName),
    **polars_types(CampaignRow),
    "resample": pl.Int32(),
    "findings": pl.List(pl.Struct(_FINDING)),
}


class Condition(msgspec.Struct, frozen=True):
    """Settings under which the submissions to a task are scored.

    Attributes:
        reference: path or URL of the reference; that of the task if it is empty.
        submissions: names of the submissions; those of the task if there are none.
        options: values of the options of the task, over those of the task's settings.
    """

    reference: Name = ""
    submissions: SomeNames = ()
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

    reference: Name = ""
    submissions: SomeNames = ()
    profiles: Profiles = ()
    metrics: SomeNames = ()
    lenient: bool = False
    encoding: Name = "utf-8"
    options: Mapping[str, object] = {}
    conditions: Mapping[str, Condition] = {}


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign, as its manifest declares it.

    Attributes:
        name: for people.
        profiles: the profiles of tasks that name none.
        resamples: how many bootstrap resamples each cell has; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        leaderboards: whether submissions are ranked; then what was counted of them is kept.
        folders: folders in which each file and folder is a submission.
        submissions: further submissions: path or URL by name.
        tasks: how submissions to each task are scored.
    """

    name: Name
    profiles: Profiles = ("plan",)
    resamples: Count = 0
    confidence: Annotated[float, msgspec.Meta(ge=0.01, le=0.9999)] = 0.95
    seed: Count = 0
    leaderboards: bool = True
    folders: SomeNames = ()
    submissions: Mapping[str, Name] = {}
    tasks: Mapping[str, CampaignTask]


class Cell(CellName, frozen=True):
    """One submission to one task, in one profile and under one condition.

    Attributes:
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


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a cell.

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

    status: CellStatus
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


class CellRow(msgspec.Struct, frozen=True):
    """A cell of a campaign with its result.

    Attributes:
        cell: the cell.
        result: of the cell.
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

    @property
    def members(self) -> CampaignCell:
        """The cell as it is in JSON."""
        metrics = self.result.metrics
        values: Mapping[str, Any] = {
            **msgspec.structs.asdict(self.result),
            **msgspec.structs.asdict(self.cell),
            "metrics": {name: metrics.get(name) for name in self.cell.metrics or metrics},
            "findings": tuple(map(Item.of, self.findings)),
            "key": self.key,
        }
        return CampaignCell(**{name: values[name] for name in CampaignCell.__struct_fields__})

    def count(self, severity: Severity) -> Count:
        """How many problems of a severity were found."""
        return sum(each.count for each in self.result.findings if each.severity == severity)

    def frame(self) -> pl.DataFrame:
        """The rows of the table of the campaign: a row per metric and resample.

        A cell without numbers has one row, without a metric.
        """
        cell, result = self.cell, self.result
        scored = result.status == "scored"
        names: list[Any] = list(cell.metrics or result.metrics) if scored else [None]
        limits = [result.intervals.get(name, (None, None)) for name in names]
        # The value itself is resample 0.
        values = [[result.metrics.get(name), *result.resamples.get(name, ())] for name in names]
        items = self.findings.to_dict()  # which have a count only if it is not 1
        findings = [{name: item.get(name, 1) for name in _FINDING} for item in items]
        rows: Mapping[str, Any] = {
            **msgspec.structs.asdict(self.members),
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
            "reason": result.reason or None,
            "signature": result.signature or None,
            "key": self.key or None,
            "metric": names,
            "resample": [list(range(len(each))) for each in values],
            "value": values,
            "low": [low for low, _ in limits],
            "high": [high for _, high in limits],
            "findings": [findings] * len(names),
        }
        types = {**COLUMNS, "resample": pl.List(pl.Int32), "value": pl.List(pl.Float64)}
        frame = pl.DataFrame({name: rows[name] for name in COLUMNS}, schema=types, strict=False)
        first, frame = pl.when(pl.col("resample") == 0), frame.explode("resample", "value")
        return frame.with_columns(low=first.then("low"), high=first.then("high"))


class CampaignResult(Output, frozen=True):
    """Many submissions to many tasks.

    Attributes:
        name: of the campaign.
        rows: its cells, in the order of the manifest.
        boards: the leaderboard of each task, profile and condition.
        findings: about leaderboards that could not be made.
    """

    json_schema: ClassVar[str] = "campaign"
    json_members: ClassVar[tuple[str, ...]] = ("name", "counts", "computed", "cells")

    name: str
    rows: tuple[CellRow, ...]
    boards: Mapping[Group, Leaderboard] = {}
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        return f"<CampaignResult: {self.name}; {counts or 'no cells'}>"

    @property
    def counts(self) -> Mapping[str, Count]:
        """The number of cells by status, of the statuses that there are."""
        return _counts([row.result.status for row in self.rows], get_args(CellStatus))

    @property
    def computed(self) -> Count:
        """How many cells were computed, rather than taken from earlier runs."""
        return sum(row.new for row in self.rows)

    @property
    def cells(self) -> tuple[CampaignCell, ...]:
        """The cells, in the order of the manifest."""
        return tuple(row.members for row in self.rows)

    @property
    def complete(self) -> bool:
        """Whether all cells have numbers."""
        return all(row.result.status == "scored" for row in self.rows)

    @property
    def groups(self) -> dict[Group, list[CellRow]]:
        """The cells that are compared with each other, in the order of the manifest."""
        return lists_by_key((row.cell.group, row) for row in self.rows)

    def to_frame(self) -> pl.DataFrame:
        """The table of the campaign, with the columns `COLUMNS`."""
        empty = pl.DataFrame(schema=dict(COLUMNS))
        return pl.concat([empty, *(row.frame() for row in self.rows)])
