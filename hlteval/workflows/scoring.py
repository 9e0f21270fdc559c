"""Scoring: the numbers of a submission against a reference."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from operator import attrgetter
from typing import Any

from hlteval.results.scores import Scores
from hlteval.tasks import load
from hlteval.tasks.option_files import read_files
from hlteval.tasks.options import merged, metric_options
from hlteval.workflows.batches import (
    submission,
)
from hlteval.workflows.checks import Check
from hlteval.workflows.jobs import Opening, results
from hlteval.workflows.named_submissions import judged
from hlteval.workflows.runs import Intervals, Run
from hlteval.workflows.steps import Step, silent, watched
from hlteval.workflows.validation import settings


def score(
    task: str,
    reference: str,
    system: str,
    *,
    profile: str = "plan",
    lenient: bool = False,
    options: Mapping[str, object] | None = None,
    alignment: bool = True,
    evidence: bool = False,
    intervals: Intervals | None = None,
    batch: int | None = None,
    encoding: str = "utf-8",
    jobs: int = 1,
    step: Step = silent,
) -> Scores:
    """Score a submission.

    Args:
        task: name of the task.
        reference: path of the reference: a folder, file or archive.
        system: path of the submission, in the same forms, or `-`.
        profile: `plan` for the written specification, `official` for the official software.
        lenient: score what can be scored in spite of blocking findings.
        options: values by the names of the task's options, as text or typed.
        alignment: whether the table `alignment` is wanted; it costs memory.
        evidence: whether texts of documents are kept for reports; they cost memory.
        intervals: how confidence intervals are drawn, where they are wanted.
        batch: documents at a time, by default those of the task; the numbers do not depend on it.
        encoding: of the files.
        jobs: how many processes work on batches; the numbers do not depend on it.
        step: called after each batch with the documents that are done, and their number, which
            is None if it is known only after reading.

    Raises:
        Refused: if there are blocking findings, unless `lenient`; also then if the official
            software gives no number at all.
        KeyError: for an unknown task.
        FileNotFoundError: if a path does not exist.
    """
    run = scored(
        task,
        reference,
        system,
        profile=profile,
        lenient=lenient,
        options=options,
        alignment=alignment,
        evidence=evidence,
        batch=batch,
        encoding=encoding,
        jobs=jobs,
        step=step,
    )
    return run.scores(intervals)


def scored(
    task: str,
    reference: str,
    system: str,
    *,
    batch: int | None = None,
    jobs: int = 1,
    step: Step = silent,
    **arguments: Any,
) -> Run:
    """Count what a submission is scored by; the arguments and errors are those of `score`."""
    given = {"task": task, "reference": reference, "system": system, **arguments}
    run = opened_run(**given)
    opening = Opening("hlteval.workflows.scoring:opened_run", given)
    with closing(results(run, opening, jobs, batch)) as each:
        for counted in watched(run.opened, each, attrgetter("checked.names"), step):
            run.add(counted)
    conclude(run, batch)
    return run


def conclude(run: Run, batch: int | None = None) -> None:
    """Judge a run to which all batches are added; its errors are those of `score`."""
    run.metric.finish()
    if not run.uncounted:
        run.check.findings += run.metric.judge(run.counts)
    run.judged = run.check.verdict()
    run.refuse()
    if run.uncounted:  # what seemed to block does not
        run.count_all(batch)
        run.refuse()


def opened_run(
    task: str,
    reference: str,
    system: str,
    *,
    profile: str = "plan",
    lenient: bool = False,
    options: Mapping[str, object] | None = None,
    alignment: bool = True,
    evidence: bool = False,
    encoding: str = "utf-8",
) -> Run:
    """A run before anything is read; the arguments and errors are those of `score`."""
    declared = load(task)
    given = merged(declared, options or {})
    files = read_files(declared, given, encoding)
    files = judged(files, declared, given, (reference, system), profile, encoding)
    metric = declared.scorer(profile, metric_options(declared, given, files))
    opened = submission(
        declared,
        system,
        reference,
        encoding=encoding,
        settings=settings(declared, given, profile),
        options=given,
        files=files,
    )
    check = Check.of(opened, profile, gold=True)
    return Run(
        check, metric, lenient=lenient, alignment=alignment, encoding=encoding, evidence=evidence
    )


def measure_names(task: str, profile: str, options: Mapping[str, object]) -> list[str]:
    """The measures of the tables of scores, in order; nothing is read for them but the options.

    Raises:
        WrongOption: if an option has a value that it cannot have.
    """
    declared = load(task)
    metric = declared.scorer(profile, metric_options(declared, merged(declared, options)))
    _, tables = metric.score(metric.total([]))
    return list(tables["scorings"]["measure"].unique(maintain_order=True))
