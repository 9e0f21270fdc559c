"""The outputs of `score`, `compare`, `leaderboard`, `agreement` and `verify`, member by member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from hlteval.findings import Item
from hlteval.reports.schemas.shared import Count, Counts, Interval, Profile, Rows, Value
from hlteval.reports.schemas.validation import RefusalOutput
from hlteval.results.agreement import CoefficientValue, Disagreement, PairMeasure
from hlteval.results.comparison import Difference, Significance, System
from hlteval.results.verification import Part


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


class AgreementOutput(msgspec.Struct):
    """How far annotators of the same documents agree.

    Attributes:
        task: name of the task.
        signature: everything that the numbers depend on: version, options, digests, seed.
        annotators: their names, in the order in which they were given.
        documents: the number of documents that at least two of them annotated.
        measures: the measures of the task, for each pair of annotators.
        coefficients: of what is judged: of all documents, by document, and by label.
        differences: the units that annotators judge differently.
        findings: about the annotations.
        notes: remarks on how to read the numbers.
        meanings: what is judged and what coefficients mean, by name.
    """

    task: str
    signature: str
    annotators: tuple[str, ...]
    documents: Count
    measures: tuple[PairMeasure, ...]
    coefficients: tuple[CoefficientValue, ...]
    differences: tuple[Disagreement, ...]
    findings: tuple[Item, ...]
    notes: tuple[str, ...]
    meanings: Mapping[str, str]


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
