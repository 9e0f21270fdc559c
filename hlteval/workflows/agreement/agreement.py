"""Agreement: how far annotators of the same documents agree, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import msgspec

from hlteval import __version__
from hlteval.findings import Findings
from hlteval.findings.counts import counted
from hlteval.results.agreement import Agreement, CoefficientValue
from hlteval.results.systems import short_names
from hlteval.results.verdict import FIRST, Signature
from hlteval.scoring.agreement.coefficients import COEFFICIENTS, FOUND
from hlteval.scoring.agreement.units import first_of_marks, judged
from hlteval.tasks import agreement as declarations
from hlteval.tasks import load
from hlteval.tasks.options import merged
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.agreement.coefficients import CoefficientScorer, differences
from hlteval.workflows.agreement.measures import Annotator, PairScorer, hold, inside, read
from hlteval.workflows.processes.batches import Step, part, silent
from hlteval.workflows.run.engine import Intervals
from hlteval.workflows.run.verdicts import expand_folders
from hlteval.workflows.run.verdicts import options as option_parts


def agreement(
    task: str,
    paths: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    against: str | None = None,
    intervals: Intervals | None = None,
    lenient: bool = False,
    options: dict[str, Any] | None = None,
    encoding: str = "utf-8",
    step: Step = silent,
) -> Agreement:
    """Measure the agreement of annotators.

    Args:
        task: name of the task.
        paths: an annotation of each annotator, in a format of references of the task; or a single
            one that names several annotators.
        names: of the annotators; their paths if not given.
        against: the documents that the annotations are of, where they do not bring their own.
        intervals: how confidence intervals are computed; without them there are none.
        lenient: compare what can be compared in spite of blocking findings.
        options: values by the names of the task's options.
        encoding: of the files.
        step: called after each batch with the documents that are done, and their number, which
            is None if it is known only after reading.

    Raises:
        Refused: if annotations have blocking findings, or cannot be compared.
        WrongOption: if the task has nothing that annotators judge, or for a wrong option.
        FileNotFoundError: if a path does not exist.
    """
    declared = load(task)
    own = declaration(declared)
    given = merged(declared, options or {})
    arguments: dict[str, Any] = {"task": task, "against": against}
    arguments |= {"options": given, "encoding": encoding}
    every = [
        read(path, name, part(step, at, len(paths)), **arguments)
        for at, (path, name) in enumerate(zip(paths, names or paths, strict=True))
    ]
    if len(every) == 1:
        tables = [(unit.table, unit.only) for unit in own.units] or [(declared.scored_table, {})]
        every = inside(every[0], tables)
        members, folders = expand_folders(task, paths)
        if folders and len(every) == 0:
            short = short_names(members)
            arguments |= {"names": [short[path] for path in members], "intervals": intervals}
            found = agreement(paths=members, lenient=lenient, step=step, **arguments)
            return msgspec.structs.replace(found, notes=(*folders, *found.notes))
    findings = hold(every, paths, task, lenient=lenient)
    scorer = PairScorer(declared, own, given, intervals)
    return _compare(scorer, every, findings)


def declaration(task: Task) -> declarations.Agreement:
    """Return what annotators of a task judge, and the measures of their agreement.

    Raises:
        WrongOption: if nothing is declared, and the task has no measure.
    """
    if task.agreement is not None:
        return task.agreement()
    if not task.has_agreement:
        raise WrongOption(f"{task.name} declares nothing that annotators judge")
    return declarations.Agreement(why=f"{task.name} declares no units")


def _compare(scorer: PairScorer, annotators: Sequence[Annotator], findings: Findings) -> Agreement:
    """Measure the agreement of annotators by the measures and the units that a task declares."""
    task, declared, intervals = scorer.task, scorer.declared, scorer.intervals
    pairs = [*combinations(annotators, 2)]
    shared = [{*first.documents} & {*second.documents} for first, second in pairs]
    documents = sorted(set().union(*shared))
    measures = tuple(measure for pair in pairs for measure in scorer.measures(*pair))
    sides = [(item.corpus, item.documents) for item in annotators]
    each = [(unit, judged(unit, sides, documents)) for unit in declared.units]
    coefficients: list[CoefficientValue] = []
    of_units = CoefficientScorer(annotators, documents, intervals)
    for (unit, found), marked in zip(each, first_of_marks(declared.units), strict=True):
        coefficients += of_units.values(unit, found, marked=marked)
    files = {id(item.check): item.digest for item in annotators}
    parts = [(FIRST, __version__), ("task", task.name), ("profile", "plan")]
    parts += [("annotation", digest) for digest in files.values()]
    parts += [*option_parts(annotators[0].check.opened), ("annotators", f"{len(annotators)}")]
    notes = [f"no coefficients: {declared.why}"] if declared.why else []
    if intervals is not None:
        parts += [("bootstrap", str(intervals.replicates))]
        parts += [("confidence", str(intervals.confidence)), ("seed", str(intervals.seed))]
        notes.append(
            f"[low, high]: {100 * intervals.confidence:g} % bootstrap interval, "
            f"{counted(intervals.replicates, 'resample')} of documents"
        )
    empty = [unit.name for unit, found in each if not found.units.height]
    notes += [f"{name}: no annotator judged anything" for name in empty]
    meanings: dict[str, str] = {}
    for unit in declared.units:
        meanings[unit.name] = unit.meaning
        meanings |= {item.name: item.meaning for item in (FOUND, *COEFFICIENTS[unit.scale])}
    return Agreement(
        task=task.name,
        signature=str(Signature(tuple(parts))),
        annotators=tuple(item.name for item in annotators),
        documents=len(documents),
        measures=measures,
        coefficients=tuple(coefficients),
        differences=tuple(differences(each, annotators, documents)),
        findings=findings,
        notes=tuple(notes),
        meanings=meanings,
    )
