"""Comparisons: which of several systems is better, as values."""

from __future__ import annotations

import msgspec

from hlteval.findings import Finding
from hlteval.results.verdict import Verdict

Limits = tuple[float, float] | None
"""A confidence interval, lower limit first; None if it is undefined."""


class System(msgspec.Struct, frozen=True, kw_only=True):
    """One system: its value and its rank.

    Attributes:
        name: path of the submission.
        value: value of the metric; None if undefined.
        interval: confidence interval of the value.
        rank: 1 for the best. Systems not significantly different from the best of their group
            share its rank. None if the value is undefined.
    """

    name: str
    value: float | None
    interval: Limits
    rank: int | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between two systems and its significance.

    Attributes:
        first: name of the first system.
        second: name of the second system.
        difference: value of the first minus value of the second; None if either is undefined.
        interval: confidence interval of the difference, from the same documents of both.
        probability: two-sided p value of the significance test; None if undefined.
        corrected: the p value with Holm's correction for the number of pairs.
        wins: number of documents in which the first system is better.
        losses: number of documents in which the second system is better.
        ties: number of documents in which neither is better, or either has no value.
    """

    first: str
    second: str
    difference: float | None
    interval: Limits
    probability: float | None
    corrected: float | None
    wins: int
    losses: int
    ties: int


class RefusedSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A system that has no rank, because nothing of it was scored.

    Attributes:
        name: path of the submission.
        reason: why, in one line, with the codes of the findings.
        help: what to do, in one line.
        codes: the codes of the findings that are the reason, sorted.
        blocking: these findings.
        verdict: the verdict of validation, with all findings.
    """

    name: str
    reason: str
    help: str
    codes: tuple[str, ...]
    blocking: tuple[Finding, ...]
    verdict: Verdict


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Several systems scored against one reference.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        metric: name of the metric that is compared.
        signature: everything that the numbers depend on: version, parameters, digests, seed.
        systems: the systems, best first.
        differences: one for each pair of systems, in the order of `systems`.
        notes: remarks on how to read the numbers.
        refused: the systems that were not scored, in the order in which they were named.
    """

    task: str
    profile: str
    metric: str
    signature: str
    systems: tuple[System, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()
    refused: tuple[RefusedSystem, ...] = ()
