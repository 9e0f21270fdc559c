"""Validation: every problem of a submission in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hlteval.findings import Finding, Severity
from hlteval.results.verdict import Verdict
from hlteval.tasks import load, rules
from hlteval.tasks.options import merged
from hlteval.tasks.task import Task, WrongOption
from hlteval.validators import RuleContext, apply
from hlteval.workflows.batches import BATCH, Pair, Submission, named, submission
from hlteval.workflows.selection import Selection


def validate(
    task: str,
    path: str,
    *,
    against: str | None = None,
    profile: str = "plan",
    options: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    batch: int = BATCH,
    step: Callable[[], None] = lambda: None,
) -> Verdict:
    """Check a submission.

    Args:
        task: name of the task.
        path: the submission: a folder, file, archive, or `-`.
        against: the documents it is for, in the same forms; not needed where it brings its own.
        profile: `plan`: errors fail; `official`: what the official software refuses fails.
        options: values by the names of the task's options.
        encoding: of the files.
        batch: documents at a time; the findings do not depend on it.
        step: called after each batch.

    Raises:
        KeyError: for an unknown task.
        LookupError: for an unknown encoding.
        FileNotFoundError: if a path does not exist.
        hlteval.workflows.batches.NothingGiven: if there is nothing to check against.
        WrongOption: if an option has a value that it cannot have.
    """
    declared = load(task)
    declared.hold_profile(profile)
    given = merged(declared, options or {})
    lists, told = named(declared, given)
    reference, given_as = _checked_against(declared, given, against)
    opened = submission(
        declared,
        path,
        reference,
        encoding=encoding,
        settings=settings(declared, given),
        options=given,
        given_as=given_as,
        lists=lists,
    )
    findings = [*told, *outside(opened)]
    for pair in opened.pairs(batch):
        findings.extend(inside(opened, pair))
        step()
    return verdict(task, profile, findings)


def _checked_against(
    task: Task, given: Mapping[str, str], path: str | None
) -> tuple[str | None, str]:
    """What a submission is checked against, a path or what an option names, and its format.

    Raises:
        WrongOption: if both are given.
    """
    named = [option for option in task.options if option.reference_format and option.name in given]
    for option in named:
        if path is not None:
            raise WrongOption(f"give either --against or --{option.flag}")
        return given[option.name], option.reference_format
    return path, ""


def validate_all(
    task: str,
    paths: Sequence[str],
    *,
    profile: str = "plan",
    fail_on: str = "error",
    selection: Selection | None = None,
    **given: Any,
) -> Verdict:
    """Check several submissions to a task as one.

    Args:
        task: name of the task.
        paths: the submissions.
        profile: as for `validate`.
        fail_on: the least severity that fails, in `plan`.
        selection: which findings are kept; in `official` the verdict does not depend on it.
        **given: more of what `validate` takes, the same for all.
    """
    each = [validate(task, path, profile=profile, **given) for path in paths]
    kept = (selection or Selection()).of(finding for one in each for finding in one.findings)
    passed = all(one.passed for one in each)
    merged = Verdict(task, profile, passed, tuple(kept))
    if profile == "official":
        return merged
    return msgspec.structs.replace(merged, passed=not merged.reaches(Severity(fail_on)))


def outside(opened: Submission) -> Iterator[Finding]:
    """What is wrong with the sources, and with the submission as a package."""
    yield from opened.system.findings
    yield from opened.reference.findings if opened.reference else ()
    yield from opened.task.package(opened.package)


def inside(opened: Submission, pair: Pair) -> Iterator[Finding]:
    """What is wrong with the records of a batch."""
    yield from pair.system.findings
    if pair.reference is not pair.system:
        yield from pair.reference.findings
    schema = opened.task.allows(opened.options)
    case = RuleContext(pair.system.corpus, pair.reference.corpus, schema, opened.lists)
    yield from apply(rules(opened.task), case, pair.system.members, opened.format)


def verdict(task: str, profile: str, findings: list[Finding]) -> Verdict:
    """The findings, and whether the submission passes in a profile."""
    once = dict.fromkeys(rule.code for rule in rules(load(task)) if rule.once)
    first = {finding.code: finding for finding in reversed(findings) if finding.code in once}
    findings = [finding for finding in findings if first.get(finding.code, finding) is finding]
    forgives = load(task).official_ignores
    if profile == "official" and forgives:
        findings = [
            msgspec.structs.replace(finding, blocking=finding.blocking and not forgives(finding))
            for finding in findings
        ]
    if profile == "official":
        refuses = load(task).official_rejects or (lambda finding: finding.blocking)
        passed = not any(refuses(finding) for finding in findings)
    else:
        passed = not any(finding.severity == "error" for finding in findings)
    return Verdict(task, profile, passed, tuple(findings))


def settings(task: Task, given: Mapping[str, str]) -> dict[str, str]:
    """The options of a task that are settings of its formats.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    for option in task.options:
        if option.name in given:
            option.check(given[option.name])
    return {
        option.name.replace("_", "-"): given[option.name]
        for option in task.options
        if option.is_format_setting and option.name in given
    }
