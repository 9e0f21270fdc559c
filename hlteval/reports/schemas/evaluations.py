"""The outputs of `pipeline`, `manifest best` and `campaign`, member by member."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hlteval.findings import Item
from hlteval.reports.schemas.shared import Count, Interval, Profile, Value
from hlteval.results.campaign import Status
from hlteval.results.pipeline import Best, Entry


class PipelineOutput(msgspec.Struct):
    """The status of each submission of an evaluation.

    Attributes:
        root: the folder of the evaluation.
        done: how many submissions were validated or scored by this run.
        counts: the number of submissions by status, of the statuses that there are.
        notes: remarks for the organisers.
        submissions: the submissions, in the order in which they count.
    """

    root: str
    done: Count
    counts: Mapping[str, Count]
    notes: tuple[str, ...]
    submissions: tuple[Entry, ...]


class BestOutput(msgspec.Struct):
    """The best submission of each team to each task, by language, condition and checkpoint.

    Attributes:
        best: the submissions.
    """

    best: tuple[Best, ...]


class CampaignCell(msgspec.Struct):
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
    status: Status
    reason: str
    metrics: Mapping[str, Value]
    intervals: Mapping[str, Interval]
    documents: Count | None
    records: Count | None
    findings: tuple[Item, ...]
    notes: tuple[str, ...]
    signature: str
    key: str


class CampaignOutput(msgspec.Struct):
    """Many submissions to many tasks.

    Attributes:
        name: of the campaign.
        counts: the number of cells by status, of the statuses that there are.
        computed: how many cells were computed, rather than taken from earlier runs.
        cells: the cells, in the order of the manifest.
    """

    name: str
    counts: Mapping[str, Count]
    computed: Count
    cells: tuple[CampaignCell, ...]


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


class CampaignRow(msgspec.Struct):
    """A row of the table `campaign.parquet`: a metric of a cell in one resample.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        condition: name of the condition; empty where the task has none.
        submission: name of the submission.
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

    task: str
    profile: Profile
    condition: str
    submission: str
    status: Status
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
