"""The result of a pipeline: the status of each submission."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import msgspec

from hlteval.results.versions import head

Status = Literal[
    "scored", "valid", "invalid", "over limit", "not scored", "failed", "waiting", "withdrawn"
]
STATUSES: dict[Status, str] = {
    "scored": "passed validation and was scored",
    "valid": "passed validation; the task has no scores",
    "invalid": "did not pass validation, and is not counted",
    "over limit": "passed validation, but is one too many",
    "not scored": "passed validation, but could not be scored",
    "failed": "crashed, or took too much time or memory",
    "waiting": "has not been looked into yet, or changed meanwhile",
    "withdrawn": "is no longer there; its results were moved aside",
}
"""What each status means."""
TROUBLE: frozenset[Status] = frozenset({"not scored", "failed", "waiting"})
"""Statuses of which the submission is not the reason."""


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
    status: Status
    task: str = ""
    team: str = ""
    reason: str = ""
    help: str = ""


class PipelineResult(msgspec.Struct, frozen=True):
    """The statuses of all submissions of an evaluation.

    Attributes:
        root: the folder of the evaluation.
        submissions: in the order in which they count, then those that were withdrawn.
        done: how many of them were validated or scored by this run.
        notes: remarks for the organisers.
    """

    root: str
    submissions: tuple[Entry, ...]
    done: int = 0
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of submissions by status.

        Examples:
            >>> PipelineResult("r", (Entry("a", "a.tgz", "scored"),)).counts
            {'scored': 1}
        """
        found = Counter(entry.status for entry in self.submissions)
        return {status: found[status] for status in STATUSES if found[status]}

    def to_dict(self) -> dict[str, Any]:
        """The result in plain types, as `hlteval pipeline --format json` prints it."""
        built: dict[str, Any] = msgspec.to_builtins(self)
        counts = {"root": self.root, "done": self.done, "counts": self.counts}
        lists = {name: built[name] for name in ("notes", "submissions")}
        return {**head("pipeline"), **counts, **lists}

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

    @property
    def group(self) -> tuple[str, ...]:
        """Those that are compared with each other."""
        return (self.task, self.language, self.condition, self.checkpoint)
