"""Submissions that options of `score` name: each is checked as `validate` of its own task does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from hlteval.findings import SUBMISSION, Finding, Severity
from hlteval.tasks.option import Option
from hlteval.tasks.option_files import OptionFiles
from hlteval.tasks.task import Task
from hlteval.workflows.validation import judge, open_submission


def judged(
    files: OptionFiles,
    task: Task,
    given: Mapping[str, str],
    pair: tuple[str, str],
    profile: str,
    encoding: str,
) -> OptionFiles:
    """The files of options, with the findings of those that are submissions to another task.

    Args:
        files: as they were read.
        task: the task that is scored.
        given: values as text, by the names of the task's options.
        pair: the reference and the submission that is scored.
        profile: `plan` or `official`.
        encoding: of the files.
    """
    named = [item for item in task.options if item.submission_to and item.name in given]
    sides = {f"--{option.flag}" for option in named}
    # Validation reads these files too; what only the reader of an option finds stays.
    findings = [
        item for item in files.findings if item.side not in sides or item.code.startswith("OPT")
    ]
    for option in named:
        findings += _judged(option, given[option.name], pair, profile, encoding)
    return replace(files, findings=tuple(findings))


def _judged(
    option: Option, path: str, pair: tuple[str, str], profile: str, encoding: str
) -> list[Finding]:
    """The findings about the submission that an option names; its errors block."""
    assert option.submission_to is not None  # noqa: S101 - the caller has seen to it
    task, beside = option.submission_to
    reference, system = pair
    opened = open_submission(
        task, path, against=reference, options={beside: system}, profile=profile, encoding=encoding
    )
    found = judge(opened, profile=profile).findings
    return [
        msgspec.structs.replace(
            item.of(f"--{option.flag}"), blocking=item.severity == Severity.ERROR
        )
        for item in found
        if item.side == SUBMISSION
    ]
