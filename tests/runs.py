"""The engine with keywords, in the order of the command line: for tests of many short calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hlteval.results.agreement import Agreement
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard
from hlteval.results.verdict import FixedCopy, Verdict
from hlteval.workflows import agreement as agreements
from hlteval.workflows import fixing
from hlteval.workflows.compare import board, comparison
from hlteval.workflows.run import batches, engine
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.engine import Run
from hlteval.workflows.run.request import Request


def score(task: str, reference: str, system: str, **keywords: Any) -> Scores:
    """Score a submission."""
    return engine.score(Request(task, system, reference, **_given(keywords)))


def scored(task: str, reference: str, system: str, **keywords: Any) -> Run:
    """Count what a submission is scored by."""
    return engine.count_batches(Request(task, system, reference, **_given(keywords)))


def opened_run(task: str, reference: str, system: str, **keywords: Any) -> Run:
    """Return a run before anything is read."""
    return engine.open_run(Request(task, system, reference, **_given(keywords)))


def validate(task: str, path: str, **keywords: Any) -> Verdict:
    """Check a submission, or a reference."""
    return engine.validate(Request(task, path, **_given(keywords)))


def validate_all(task: str, paths: Sequence[str], **keywords: Any) -> Verdict:
    """Check several submissions as one."""
    return engine.validate_all(Request(task, "", **_given(keywords)), paths)


def opened_check(task: str, path: str, **keywords: Any) -> Check:
    """Return a check before anything is read."""
    return engine.open_check(Request(task, path, **_given(keywords)))


def open_submission(task: str, path: str, **keywords: Any) -> Submission:
    """Open what is validated."""
    return engine.open_submission(Request(task, path, **_given(keywords)))


def open_sides(task: str, path: str, against: str | None, **keywords: Any) -> Submission:
    """Open a submission and its reference."""
    return batches.open_sides(Request(task, path, **keywords), against, {})


def compare(
    task: str, reference: str, systems: Sequence[str], *, metric: str | None = None, **keywords: Any
) -> Comparison:
    """Compare systems by a metric."""
    request = Request(task, "", reference, **_given(keywords))
    return comparison.compare(request, systems, metric=metric)


def leaderboard_in(
    output: Path, task: str, reference: str, systems: Sequence[str], **keywords: Any
) -> Leaderboard:
    """Make a leaderboard and its folder."""
    own = {name: keywords.pop(name) for name in ("names", "metrics") if name in keywords}
    return board.leaderboard_in(output, Request(task, "", reference, **keywords), systems, **own)


def agreement(
    task: str, paths: Sequence[str], *, names: Sequence[str] | None = None, **keywords: Any
) -> Agreement:
    """Measure the agreement of annotators."""
    return agreements.agreement(Request(task, "", **_given(keywords)), paths, names)


def fix(task: str, path: str, target: str, *, unsafe: bool = False, **keywords: Any) -> FixedCopy:
    """Write a corrected copy of a submission, and validate it."""
    return fixing.fix(Request(task, path, **_given(keywords)), target, unsafe=unsafe)


def _given(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}
