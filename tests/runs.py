"""The engine with keywords, in the order of the command line: for tests of many short calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.workflows.run import engine
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


def _given(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}
