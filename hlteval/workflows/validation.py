"""Validation: every problem of a submission in one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from hlteval.findings import REFERENCE, SUBMISSION, Finding, Severity
from hlteval.findings.cascades import without_cascades
from hlteval.results.verdict import Verdict
from hlteval.tasks import load, rules
from hlteval.tasks.options import merged
from hlteval.tasks.task import Task, WrongOption
from hlteval.validators import RuleContext, apply
from hlteval.workflows.batches import BATCH, Pair, Submission, option_files, submission
from hlteval.workflows.selection import Selection
from hlteval.workflows.steps import Step, part, silent, watched


def validate(
    task: str,
    path: str,
    *,
    against: str | None = None,
    profile: str = "plan",
    options: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    batch: int = BATCH,
    step: Step = silent,
) -> Verdict:
    """Check a submission.

    Args:
        task: name of the task.
        path: the submission: a folder, file, archive, or `-`.
        against: the documents it is for, in the same forms; not needed if it brings its own.
        profile: `plan` fails errors; `official` fails what the official software rejects.
        options: values by the names of the task's options.
        encoding: of the files.
        batch: documents at a time; the findings do not depend on it.
        step: called after each batch with the documents that are done, and their number, which
            is None if only reading can tell it.

    Raises:
        KeyError: for an unknown task.
        LookupError: for an unknown encoding.
        FileNotFoundError: if a path does not exist.
        hlteval.workflows.batches.NothingGiven: if there is nothing to check against.
        WrongOption: if an option has a value that it cannot have.
    """
    opened, found = open_submission(
        task, path, against=against, profile=profile, options=options, encoding=encoding
    )
    return judge(opened, found, profile=profile, batch=batch, step=step)


def open_submission(
    task: str,
    path: str,
    *,
    against: str | None = None,
    profile: str = "plan",
    options: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> tuple[Submission, list[Finding]]:
    """A submission that is opened but not read, and the findings about the files of its options.

    The arguments and errors are those of `validate`.
    """
    declared = load(task)
    declared.hold_profile(profile)
    values = merged(declared, options or {})
    lists, found = option_files(declared, values)
    reference, reference_form = _checked_against(declared, values, against)
    opened = submission(
        declared,
        path,
        reference,
        encoding=encoding,
        settings=settings(declared, values),
        options=values,
        reference_form=reference_form,
        lists=lists,
    )
    return opened, found


def judge(
    opened: Submission,
    found: Iterable[Finding] = (),
    *,
    profile: str = "plan",
    batch: int = BATCH,
    step: Step = silent,
) -> Verdict:
    """The verdict over a submission.

    Args:
        opened: the submission.
        found: findings about the files of its options.
        profile: `plan` or `official`.
        batch: documents at a time.
        step: called after each batch.
    """
    findings = [*found, *outside(opened)]
    documents = 0
    for pair in watched(opened, batch, step):
        findings.extend(inside(opened, pair))
        documents += pair.reference.corpus.documents.height
    judged = verdict(opened.task.name, profile, findings, side_paths(opened))
    return judged if documents or not judged.of(REFERENCE).findings else undecided(judged)


def _checked_against(
    task: Task, values: Mapping[str, str], path: str | None
) -> tuple[str | None, str]:
    """The path of the reference, from `--against` or another option, and its format if known.

    Raises:
        WrongOption: if there are both.
    """
    for option in task.options:
        if option.reference_format and option.name in values:
            if path is not None:
                raise WrongOption(f"use either --against or --{option.flag}, not both")
            return values[option.name], option.reference_format
    return path, ""


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
    """Check several submissions to a task as one.

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
        verdicts[0], passed=passed, decided=decided, findings=tuple(kept)
    )
    if profile == "official" or not decided:
        return joined
    return msgspec.structs.replace(joined, passed=not joined.reaches(Severity(fail_on)))


def outside(opened: Submission) -> Iterator[Finding]:
    """The findings about the sources, and about the submission as a package."""
    yield from opened.system.findings
    if opened.reference is not None:
        yield from (found.of(REFERENCE) for found in opened.reference.findings)
    if not opened.unread:  # otherwise everything would be missing
        yield from opened.task.package(opened.package)


def inside(opened: Submission, pair: Pair) -> Iterator[Finding]:
    """The findings about the records of a batch."""
    yield from () if opened.unread else pair.system.findings
    if pair.reference is not pair.system:
        yield from (found.of(REFERENCE) for found in pair.reference.findings)
    schema = opened.task.allows(opened.options)
    context = RuleContext(pair.system.corpus, pair.reference.corpus, schema, opened.lists)
    yield from apply(rules(opened.task), context, pair.system.members, opened.format)


def side_paths(opened: Submission) -> dict[str, str]:
    """The paths of the sides."""
    sides = {SUBMISSION: opened.system, REFERENCE: opened.reference}
    return {side: source.path for side, source in sides.items() if source is not None}


def verdict(
    task: str,
    profile: str,
    findings: list[Finding],
    paths: Mapping[str, str] = MappingProxyType({}),
) -> Verdict:
    """The findings of all batches, and whether the submission passes in a profile.

    Findings of the reference never make a submission fail.
    """
    declared = load(task)
    findings = without_cascades(findings, paths)
    once = {rule.code for rule in rules(declared) if rule.once}
    first = {finding.code: finding for finding in reversed(findings) if finding.code in once}
    findings = [finding for finding in findings if first.get(finding.code, finding) is finding]
    if profile != "official":
        own = [finding for finding in findings if finding.side == SUBMISSION]
        passed = not any(finding.severity == "error" for finding in own)
        return _decided(Verdict(task, profile, passed, tuple(findings), paths=paths))
    if ignores := declared.official_ignores:
        findings = [
            msgspec.structs.replace(finding, blocking=finding.blocking and not ignores(finding))
            for finding in findings
        ]
    rejects = declared.official_rejects or (lambda finding: finding.blocking)
    passed = not any(rejects(finding) for finding in findings if finding.side != REFERENCE)
    return _decided(Verdict(task, profile, passed, tuple(findings), paths=paths))


def _decided(verdict: Verdict) -> Verdict:
    """The verdict, which is undecided if the reference or the file of an option cannot be used."""
    if not any(item.blocking for item in verdict.findings if item.side != SUBMISSION):
        return verdict
    return undecided(verdict)


def undecided(judged: Verdict) -> Verdict:
    """The same findings without a verdict: there is nothing to check against."""
    return msgspec.structs.replace(judged, passed=False, decided=False)


def settings(task: Task, values: Mapping[str, str]) -> dict[str, str]:
    """The options of a task that are settings of its formats.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    for option in task.options:
        if option.name in values:
            option.check(values[option.name])
    return {
        option.name.replace("_", "-"): values[option.name]
        for option in task.options
        if option.is_format_setting and option.name in values
    }
