"""The outputs whose JSON has other members than the result, member by member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from hlteval.findings import Item
from hlteval.reports.schemas.lists import Counts, Interval, Profile, Rows, Value, VerdictMembers
from hlteval.results.evaluation import Best
from hlteval.results.systems import Difference, Significance, System
from hlteval.results.verdict import Count, Fix, Outcome, Part, Unfixed
from hlteval.sources import Listed

Level = Literal["error", "warning", "info"]


class VerdictOutput(VerdictMembers, kw_only=True):
    """Whether a submission is valid, and every problem of it, its reference and other files.

    Attributes:
        verdict: whether it is valid in that profile; `undecided` if what it is checked against
            cannot be used.
    """

    verdict: Outcome


class RefusalOutput(VerdictMembers, kw_only=True):
    """Why nothing was scored or compared: the verdict, which is `refused`, with all findings.

    Attributes:
        verdict: `refused`.
        reason: why nothing was scored, in one line.
        help: what to do, in one line.
    """

    verdict: Literal["refused"]
    reason: str
    help: str


class FixedCopyOutput(VerdictOutput, kw_only=True):
    """The verdict over a corrected copy of a submission, and what was corrected.

    Attributes:
        copy: path of the copy; null if none could be written, then the verdict is over the
            original.
        fixes: what was corrected, in the order of files and lines.
        unfixed: the remaining problems that a fixer exists for.
    """

    copy: str | None
    fixes: tuple[Fix, ...]
    unfixed: tuple[Unfixed, ...]


class PackageOutput(VerdictOutput, kw_only=True):
    """The verdict over a submission that was packed, and its archive.

    Attributes:
        archive: path of the archive; null if nothing was written.
        size: size of the archive in bytes; 0 if nothing was written.
        sha256: SHA-256 digest of the archive, 64 hexadecimal digits; empty if nothing was written.
        members: the members of the archive.
    """

    archive: str | None
    size: Count
    sha256: str
    members: tuple[Listed, ...]


class FolderDefaults(msgspec.Struct, rename="kebab"):
    """The settings of a file of defaults; paths are relative to the working directory.

    Attributes:
        task: name of the task.
        reference: path of the reference.
        against: path of the documents of the task.
        profile: `plan` or `official`.
        encoding: encoding of the files.
        fail_on: lowest severity with which validation fails.
        select: the only codes that are reported, or their first letters.
        ignore: codes that are not reported, or their first letters.
        severity: other severities, by code or its first letters.
        options: values of options of the task, by name with underscores for hyphens.
    """

    task: str | UnsetType = UNSET
    reference: str | UnsetType = UNSET
    against: str | UnsetType = UNSET
    profile: Profile | UnsetType = UNSET
    encoding: str | UnsetType = UNSET
    fail_on: Level | UnsetType = UNSET
    select: tuple[str, ...] | UnsetType = UNSET
    ignore: tuple[str, ...] | UnsetType = UNSET
    severity: Mapping[str, Level] | UnsetType = UNSET
    options: Mapping[str, Any] | UnsetType = UNSET


class DefaultsOutput(msgspec.Struct):
    """The file of defaults that applies to a submission, and what is wrong with it.

    Attributes:
        file: path of the file; null if none applies.
        defaults: its settings; none if it has errors.
        commands: the names of the settings that each command takes, by command.
        findings: what is wrong with the file.
    """

    file: str | None
    defaults: FolderDefaults
    commands: Mapping[str, tuple[str, ...]]
    findings: tuple[Item, ...]


class BestOutput(msgspec.Struct):
    """The best submission of each team to each task, by language, condition and checkpoint.

    Attributes:
        best: the submissions.
    """

    best: tuple[Best, ...]


class ScoresOutput(msgspec.Struct):
    """The scores of a submission.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        signature: everything that the numbers depend on: version, parameters, digests, seed.
        primary: name of the metric that ranks.
        metrics: the value of each metric by name, in the unit that `hlteval tasks TASK` declares;
            null where it is undefined (0/0) or not available in the profile.
        intervals: the confidence interval of each metric by name; empty without a bootstrap.
        tables: further tables by name, an object per row; `scorings` has all numbers of the task,
            the others depend on the task.
        documents: the number of documents of the submission that were read.
        records: the number of their records, such as mentions, frames, segments or tokens.
        findings: the number of problems of the submission, the reference and other files.
        warnings: notes that must be read before any number.
        notes: remarks on how to read the numbers.
    """

    task: str
    profile: Profile
    signature: str
    primary: str
    metrics: Mapping[str, Value]
    intervals: Mapping[str, Interval]
    tables: Mapping[str, Rows]
    documents: Count | None
    records: Count | None
    findings: Counts
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


class ComparisonOutput(msgspec.Struct):
    """Several systems that were scored against one reference, with their differences.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        metric: name of the metric that is compared.
        signature: everything that the numbers depend on: version, parameters, digests, seed.
        systems: the systems, best first.
        differences: one for each pair of systems, in the order of `systems`.
        significance: whether any difference can be significant.
        notes: remarks on how to read the numbers.
        refused: why systems were not scored, by name.
    """

    task: str
    profile: Profile
    metric: str
    signature: str
    systems: tuple[System, ...]
    differences: tuple[Difference, ...]
    significance: Significance
    notes: tuple[str, ...]
    refused: Mapping[str, RefusalOutput]


class RankedValue(msgspec.Struct):
    """A system by one metric.

    Attributes:
        value: value of the metric; null if undefined.
        interval: confidence interval of the value; null without one.
        rank: 1 for the best by this metric; null if the value is undefined.
    """

    value: Value
    interval: Interval | None
    rank: Count | None


class RankedSystem(msgspec.Struct):
    """A system of a leaderboard.

    Attributes:
        name: of the system.
        rank: 1 for the best by the first metric. Systems not significantly different from the best
            of their group share its rank. Null if the value is undefined.
        scores: value, interval and rank by metric.
    """

    name: str
    rank: Count | None
    scores: Mapping[str, RankedValue]


class MetricDifference(Difference, frozen=True, kw_only=True):
    """The difference between two systems by one metric.

    Attributes:
        metric: name of the metric.
    """

    metric: str


class MetricSignificance(Significance, frozen=True, kw_only=True):
    """Whether any difference by one metric can be significant.

    Attributes:
        metric: name of the metric.
    """

    metric: str


class RefusedRow(msgspec.Struct):
    """Why a system of a leaderboard was not scored.

    Attributes:
        reason: why: the first finding that is in the way, all their codes, how many more there are.
        help: what to do, in one line.
        codes: the codes of the findings that are the reason, sorted.
        counts: the number of all its findings.
    """

    reason: str
    help: str
    codes: tuple[str, ...]
    counts: Counts


class LeaderboardOutput(msgspec.Struct):
    """Systems by several metrics.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        metrics: the metrics in order; the first one ranks.
        signature: everything that the numbers depend on; empty if all systems are refused.
        systems: the systems that were scored, best first.
        differences: one for each metric and pair of systems.
        significance: for each metric, whether any difference can be significant.
        refused: why systems were not scored, by name.
        notes: remarks on how to read the numbers.
        findings: about the file of names.
    """

    task: str
    profile: Profile
    metrics: tuple[str, ...]
    signature: str
    systems: tuple[RankedSystem, ...]
    differences: tuple[MetricDifference, ...]
    significance: tuple[MetricSignificance, ...]
    refused: Mapping[str, RefusedRow]
    notes: tuple[str, ...]
    findings: tuple[Item, ...]


class VerificationOutput(msgspec.Struct):
    """A signature, part by part, beside files and settings.

    Attributes:
        verdict: `differs` if at least one part or number does.
        differing: the names of the parts and numbers that differ.
        signature: the signature that was verified.
        parts: its parts in order, then parts that were found but are not in it.
        numbers: the numbers, if there are scores to compare with.
    """

    verdict: Literal["same", "differs"]
    differing: tuple[str, ...]
    signature: str
    parts: tuple[Part, ...]
    numbers: tuple[Part, ...]
