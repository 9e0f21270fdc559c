"""Agreement: how far annotators of the same documents agree, and where they part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec

from hlteval import __version__
from hlteval.results.agreement import Agreement, CoefficientValue
from hlteval.results.systems import short_names
from hlteval.results.verdict import FIRST, Signature
from hlteval.scoring.agreement.coefficients import COEFFICIENTS, FOUND
from hlteval.scoring.agreement.units import Judged, first_of_marks, judged
from hlteval.tasks import agreement as declarations
from hlteval.tasks import load
from hlteval.tasks.options import merged
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.agreement.coefficients import Measuring, differences
from hlteval.workflows.agreement.measures import Annotator, PairScorer, hold, inside, read
from hlteval.workflows.processes.batches import Step, part, silent
from hlteval.workflows.run.request import Intervals
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
        every = inside(every[0], _tables(declared, own))
        members, folders = expand_folders(task, paths)
        if folders and len(every) == 0:
            short = short_names(members)
            arguments |= {"names": [short[path] for path in members], "intervals": intervals}
            found = agreement(paths=members, lenient=lenient, step=step, **arguments)
            return msgspec.structs.replace(found, notes=(*folders, *found.notes))
    findings = hold(every, paths, task, lenient=lenient)
    documents = _shared(every)
    return _compared(declared, own, every, documents, given, intervals, findings)


def declaration(task: Task) -> declarations.Agreement:
    """What annotators of a task agree on.

    Raises:
        WrongOption: if nothing is declared, and the task has no measure.
    """
    if task.agreement is not None:
        return task.agreement()
    if not task.has_agreement:
        raise WrongOption(f"{task.name} declares nothing that annotators judge")
    return declarations.Agreement(why=f"{task.name} declares no units")


def _tables(task: Task, own: declarations.Agreement) -> list[tuple[str, Mapping[str, str]]]:
    """The tables of what annotators judge, with values of columns of the rows that count."""
    return [(unit.table, unit.only) for unit in own.units] or [(task.scored_table, {})]


def _shared(annotators: Sequence[Annotator]) -> list[str]:
    """The documents that at least two annotators annotated."""
    sets = [set(item.documents) for item in annotators]
    return sorted(set().union(*(one & other for one, other in combinations(sets, 2))))


def _compared(
    task: Task,
    own: declarations.Agreement,
    annotators: Sequence[Annotator],
    documents: Sequence[str],
    given: dict[str, str],
    intervals: Intervals | None,
    findings: Any,
) -> Agreement:
    names = [item.name for item in annotators]
    scorer = PairScorer(task, own, given, intervals)
    measures = tuple(
        found
        for first, second in combinations(annotators, 2)
        for found in scorer.measures(first, second)
    )
    sides = [(item.corpus, item.documents) for item in annotators]
    each = [(unit, judged(unit, sides, documents)) for unit in own.units]
    measuring = Measuring(names, [set(item.documents) for item in annotators], documents, intervals)
    coefficients: list[CoefficientValue] = []
    for (unit, found), marked in zip(each, first_of_marks(own.units), strict=True):
        coefficients += measuring.values(unit, found, marked=marked)
    return Agreement(
        task=task.name,
        signature=_signature(task, annotators, measuring),
        annotators=tuple(names),
        documents=len(documents),
        measures=measures,
        coefficients=tuple(coefficients),
        differences=tuple(differences(each, annotators, documents)),
        findings=findings,
        notes=tuple(_notes(own, each, measuring)),
        meanings=dict(_meanings(own)),
    )


def _signature(task: Task, annotators: Sequence[Annotator], measuring: Measuring) -> str:
    """What the numbers depend on, in one line."""
    parts = [(FIRST, __version__), ("task", task.name), ("profile", "plan")]
    files = {id(item.check): item.digest for item in annotators}
    parts += [("annotation", digest) for digest in files.values()]
    parts += [*option_parts(annotators[0].check.opened)]
    parts += [("annotators", f"{len(annotators)}")]
    return str(Signature((*parts, *measuring.signature)))


def _notes(
    own: declarations.Agreement, each: Sequence[tuple[Any, Judged]], measuring: Measuring
) -> Iterator[str]:
    """How to read the numbers."""
    if own.why:
        yield f"no coefficients: {own.why}"
    yield from measuring.notes()
    for unit, found in each:
        if not found.units.height:
            yield f"{unit.name}: no annotator judged anything"


def _meanings(own: declarations.Agreement) -> Iterator[tuple[str, str]]:
    """What is judged, and what the coefficients mean."""
    for unit in own.units:
        yield unit.name, unit.meaning
        for item in (FOUND, *COEFFICIENTS[unit.scale]):
            yield item.name, item.meaning
