"""Validation: every problem of a submission in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from operator import attrgetter
from typing import Any

import msgspec

from hlteval.findings import MAX_PER_CODE, REFERENCE, SUBMISSION, Severity
from hlteval.results.verdict import Verdict
from hlteval.tasks import load
from hlteval.tasks.option import Option, WrongOption
from hlteval.tasks.option_files import read_files
from hlteval.tasks.options import check_values, merged
from hlteval.tasks.task import Task
from hlteval.workflows.batches import Role, Submission, submission
from hlteval.workflows.checks import Check
from hlteval.workflows.jobs import Opening, results
from hlteval.workflows.selection import Selection
from hlteval.workflows.steps import Step, part, silent, watched


def validate(
    task: str,
    path: str,
    *,
    against: str | None = None,
    role: Role = SUBMISSION,
    profile: str = "plan",
    options: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    max_per_code: int = MAX_PER_CODE,
    batch: int | None = None,
    jobs: int = 1,
    step: Step = silent,
) -> Verdict:
    """Check a submission, or a reference.

    Args:
        task: name of the task.
        path: the submission: a folder, file, archive, or `-`.
        against: the documents it is for, in the same forms; not needed if it brings its own.
        role: `reference` to check a reference by itself, in the formats that it may have.
        profile: `plan` fails errors; `official` fails what the official software rejects.
        options: values by the names of the task's options.
        encoding: of the files.
        max_per_code: maximum number of findings of a code in a file that are explained, the others
            are counted; 0 for all.
        batch: documents at a time, by default those of the task; the findings do not depend on it.
        jobs: how many processes work on batches; the findings do not depend on it.
        step: called after each batch with the documents that are done, and their number, which
            is None if it is known only after reading.

    Raises:
        KeyError: for an unknown task.
        LookupError: for an unknown encoding.
        FileNotFoundError: if a path does not exist.
        hlteval.workflows.batches.NothingGiven: if there is nothing to check against.
        WrongOption: if an option has a value that it cannot have.
    """
    given: dict[str, Any] = {"task": task, "path": path, "against": against, "role": role}
    given |= {"profile": profile, "options": options, "encoding": encoding}
    given |= {"max_per_code": max_per_code}
    opening = Opening("hlteval.workflows.validation:opened_check", given)
    return _checked(opened_check(**given), opening, batch, jobs, step)


def opened_check(**arguments: Any) -> Check:
    """The check of a submission before anything is read.

    The arguments and errors are those of `open_submission`.
    """
    return _check(open_submission(**arguments), arguments["profile"])


def open_submission(
    task: str,
    path: str,
    *,
    against: str | None = None,
    role: Role = SUBMISSION,
    profile: str = "plan",
    options: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    max_per_code: int = MAX_PER_CODE,
) -> Submission:
    """A submission that is opened but not read, with the files of its options.

    The arguments and errors are those of `validate`.
    """
    declared = load(task)
    declared.hold_profile(profile)
    values = merged(declared, options or {})
    check_values(declared, values)
    texts = _of_texts(declared, values, against)
    reference = against if against is not None else values.get(texts.name)
    opened = submission(
        declared,
        path,
        reference,
        encoding=encoding,
        max_per_code=max_per_code,
        settings=settings(declared, values, profile, role),
        options=values,
        reference_form=texts.reference_format,
        files=read_files(
            declared, values, encoding, references=not texts.name, max_per_code=max_per_code
        ),
        role=role,
    )
    _hold_single(opened, against)
    return opened


def judge(opened: Submission, *, profile: str = "plan") -> Verdict:
    """The verdict over a submission, or over a reference that is opened as such.

    Args:
        opened: the submission.
        profile: `plan` or `official`.
    """
    return _checked(_check(opened, profile), None, None, 1, silent)


def _check(opened: Submission, profile: str) -> Check:
    gold = opened.role == REFERENCE and opened.task.metric is not None
    return Check.of(opened, profile, gold=gold)


def _checked(
    check: Check, opening: Opening | None, batch: int | None, jobs: int, step: Step
) -> Verdict:
    """The verdict of a check over all batches."""
    with closing(results(check, opening, jobs, batch)) as each:
        for checked in watched(check.opened, each, attrgetter("names"), step):
            check.add(checked)
    return check.verdict()


def _of_texts(task: Task, values: Mapping[str, str], against: str | None) -> Option:
    """The option whose file is checked against without `--against`; one without a name if none."""
    for option in task.options:
        if option.reference_format and option.name in values and against is None:
            return option
    return Option("", "")


def _hold_single(opened: Submission, against: str | None) -> None:
    """Hold that the texts are given once.

    Raises:
        WrongOption: if `--against` has the format of an option that is also given.
    """
    for option in opened.task.options if against is not None else ():
        form = option.reference_format
        if form and option.name in opened.options and opened.reference_format.name == form:
            raise WrongOption(f"use either --against or --{option.flag}, not both")


def validate_all(
    task: str,
    paths: Sequence[str],
    *,
    profile: str = "plan",
    fail_on: str = "error",
    selection: Selection | None = None,
    step: Step = silent,
    **arguments: Any,
) -> Verdict:
    """Check several submissions to a task, or references, as one.

    Args:
        task: name of the task.
        paths: the submissions.
        profile: as for `validate`.
        fail_on: the lowest severity that fails, in `plan`.
        selection: the findings that are kept; in `official` the verdict does not depend on it.
        step: called after each batch with the documents of all submissions that are done.
        **arguments: further arguments of `validate`, the same for all.
    """
    verdicts = [
        validate(task, path, profile=profile, step=part(step, at, len(paths)), **arguments)
        for at, path in enumerate(paths)
    ]
    findings = (finding for verdict in verdicts for finding in verdict.findings)
    kept = (selection or Selection()).of(findings)
    passed = all(verdict.passed for verdict in verdicts)
    decided = all(verdict.decided for verdict in verdicts)
    joined = msgspec.structs.replace(
        verdicts[0],
        passed=passed,
        decided=decided,
        findings=tuple(kept),
        documents=sum(verdict.documents or 0 for verdict in verdicts),
        records=sum(verdict.records or 0 for verdict in verdicts),
        files_judged=tuple(file for verdict in verdicts for file in verdict.files_judged),
    )
    if profile == "official" or not decided:
        return joined
    return msgspec.structs.replace(joined, passed=not joined.reaches(Severity(fail_on)))


def settings(
    task: Task, values: Mapping[str, str], profile: str, role: Role = SUBMISSION
) -> dict[str, str]:
    """The options of a task that are settings of its formats, and the settings of a profile.

    A reference always has documents, whatever the options say of submissions.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    for option in task.options:
        if option.name in values:
            option.check(values[option.name])
    given = {
        option.name.replace("_", "-"): values[option.name]
        for option in task.options
        if option.is_format_setting
        and option.name in values
        and not (option.without_documents and role == REFERENCE)
    }
    return {**(task.official_settings if profile == "official" else {}), **given}
