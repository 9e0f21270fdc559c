"""Submissions that options of `score` name: each is checked as `validate` of its own task does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from hlteval.findings import Finding, Severity
from hlteval.tasks.option import Option
from hlteval.tasks.option_files import OptionFiles
from hlteval.tasks.task import Task
from hlteval.workflows.validation import judge, open_submission


def judged(
    files: OptionFiles,
    task: Task,
    given: Mapping[str, str],
    sides: tuple[str, str],
    profile: str,
    encoding: str,
) -> OptionFiles:
    """The files of options, with the findings of those that are submissions to another task.

    Args:
        files: as they were read.
        task: the task that is scored.
        given: values as text, by the names of the task's options.
        sides: the reference and the submission that is scored.
        profile: `plan` or `official`.
        encoding: of the files.
    """
    findings = list(files.findings)
    for option in task.options:
        if option.submission_to and option.name in given:
            flag = f"--{option.flag}"
            reading = [item for item in findings if item.side == flag and _of_reading(item)]
            findings = [item for item in findings if item not in reading]
            findings += _judged(option, given[option.name], sides, profile, encoding)
    return replace(files, findings=tuple(findings))


def _of_reading(item: Finding) -> bool:
    """Whether it is a finding that the validation has, too."""
    return not item.code.startswith("OPT")


def _judged(
    option: Option, path: str, sides: tuple[str, str], profile: str, encoding: str
) -> list[Finding]:
    """The findings about the submission that an option names; its errors block."""
    assert option.submission_to is not None  # noqa: S101 - the caller has seen to it
    task, beside = option.submission_to
    reference, system = sides
    opened = open_submission(
        task, path, against=reference, options={beside: system}, profile=profile, encoding=encoding
    )
    found = judge(opened, profile=profile).findings
    return [
        msgspec.structs.replace(
            item.of(f"--{option.flag}"), blocking=item.severity == Severity.ERROR
        )
        for item in found
        if item.side == "submission"
    ]
