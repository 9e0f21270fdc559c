"""Agreement: how far annotators of the same documents agree, in coefficients, and where not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from hlteval import __version__
from hlteval.findings import REFERENCE, Findings
from hlteval.findings.counts import count_of
from hlteval.results.agreement import Agreement, CoefficientValue, Disagreement, Judgment
from hlteval.results.systems import short_names
from hlteval.results.verdict import FIRST, Signature
from hlteval.scoring.agreement.coefficients import COEFFICIENTS, FOUND, Coefficient
from hlteval.scoring.agreement.ratings import Ratings, Values
from hlteval.scoring.agreement.units import SEPARATOR, Judged, Present, Unit, first_of_marks, judged
from hlteval.scoring.intervals import Bootstrap
from hlteval.scoring.metric import Limits
from hlteval.scoring.resampling import draws
from hlteval.tasks import agreement as declarations
from hlteval.tasks.options import merge_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.agreement.measures import (
    Annotator,
    hold,
    inside,
    pair_measures,
    places,
    read,
)
from hlteval.workflows.processes.batches import no_progress, subprogress
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import expand_folders
from hlteval.workflows.run.verdicts import options as option_parts


def agreement(
    request: Request, paths: Sequence[str], names: Sequence[str] | None = None
) -> Agreement:
    """Measure the agreement of annotators.

    Args:
        request: how their annotations are read, and what is computed; `against` has the documents,
            where the annotations do not bring their own.
        paths: an annotation of each annotator, in a format of references of the task; or a single
            one that names several annotators.
        names: of the annotators; their paths if there are no others.

    Raises:
        Refused: if annotations have blocking findings, or cannot be compared.
        WrongOption: if the task has nothing that annotators judge, or for a wrong option.
        FileNotFoundError: if a path does not exist.
    """
    task = request.definition
    declared, values = declaration(task), merge_options(task, request.options)
    each = replace(request, options=values, role=REFERENCE)
    step = request.step or no_progress
    every = [
        read(replace(each, system=path, step=subprogress(step, at, len(paths))), name)
        for at, (path, name) in enumerate(zip(paths, names or paths, strict=True))
    ]
    if len(every) == 1:
        tables = [(unit.table, unit.only) for unit in declared.units] or [(task.scored_table, {})]
        every = inside(every[0], tables)
        members, folders = expand_folders(task.name, paths)
        if folders and not every:
            short = short_names(members)
            result = agreement(each, members, [short[path] for path in members])
            return msgspec.structs.replace(result, notes=(*folders, *result.notes))
    return _compare(request, declared, values, every, hold(every, paths, request))


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


def _compare(
    request: Request,
    declared: declarations.Agreement,
    values: Mapping[str, str],
    annotators: Sequence[Annotator],
    findings: Findings,
) -> Agreement:
    """Measure the agreement of annotators by the measures and the units that a task declares."""
    intervals, pairs = request.intervals, [*combinations(annotators, 2)]
    shared = [{*first.documents} & {*second.documents} for first, second in pairs]
    documents = sorted(set().union(*shared))
    by_pair = (pair_measures(request, declared, values, *pair) for pair in pairs)
    measures = tuple(measure for each in by_pair for measure in each)
    sides = [(item.corpus, item.documents) for item in annotators]
    each = [(unit, judged(unit, sides, documents)) for unit in declared.units]
    scorer = CoefficientScorer(annotators, documents, intervals)
    coefficients = tuple(
        value
        for (unit, judgments), marked in zip(each, first_of_marks(declared.units), strict=True)
        for value in scorer.values(unit, judgments, marked=marked)
    )
    files = {id(item.check): item.digest for item in annotators}
    parts = [(FIRST, __version__), ("task", request.task), ("profile", "plan")]
    parts += [("annotation", digest) for digest in files.values()]
    parts += [*option_parts(annotators[0].check.opened), ("annotators", f"{len(annotators)}")]
    notes = [f"no coefficients: {declared.why}"] if declared.why else []
    if intervals is not None:
        parts += [("bootstrap", str(intervals.replicates))]
        parts += [("confidence", str(intervals.confidence)), ("seed", str(intervals.seed))]
        notes.append(
            f"[low, high]: {100 * intervals.confidence:g} % bootstrap interval, "
            f"{count_of(intervals.replicates, 'resample')} of documents"
        )
    empty = [unit.name for unit, judgments in each if not judgments.units.height]
    notes += [f"{name}: no annotator judged anything" for name in empty]
    meanings: dict[str, str] = {}
    for unit in declared.units:
        meanings[unit.name] = unit.meaning
        meanings |= {item.name: item.meaning for item in (FOUND, *COEFFICIENTS[unit.scale])}
    return Agreement(
        task=request.task,
        signature=str(Signature(tuple(parts))),
        annotators=tuple(item.name for item in annotators),
        documents=len(documents),
        measures=measures,
        coefficients=coefficients,
        differences=tuple(differences(each, annotators, documents)),
        findings=findings,
        notes=tuple(notes),
        meanings=meanings,
    )


WITHIN = (-np.inf, 1.0)
NO_UNITS = "no unit was judged by both"
NO_UNITS_OF_ALL = "no unit was judged by enough annotators"
CONSTANT = "all judgments are the same: agreement cannot be distinguished from chance"
#: With more categories, such as entities, there is no value for each.
MOST_CATEGORIES = 100
#: Cells of the sums of replicates that are computed at a time.
_CELLS = 5_000_000


class Group(NamedTuple):
    """Annotators whose agreement is measured.

    Attributes:
        names: of the annotators.
        ratings: their judgments of the documents that count.
        labels: the label of each unit.
    """

    names: tuple[str, ...]
    ratings: Ratings
    labels: NDArray[np.object_]


@dataclass(frozen=True)
class CoefficientScorer:
    """The coefficients of annotators.

    Attributes:
        annotators: whose agreement is measured.
        documents: the documents that count, in the order of `Ratings.documents`.
        intervals: how confidence intervals are computed; without them there are none.
    """

    annotators: Sequence[Annotator]
    documents: Sequence[str]
    intervals: Intervals | None

    def values(self, unit: Unit, judgments: Judged, *, marked: bool) -> Iterator[CoefficientValue]:
        """Compute all coefficients of what is judged, and that of the units that annotators mark.

        Each has a value of all documents, then values of labels or categories, then of documents.
        """
        for item in ((FOUND,) if marked else ()) + COEFFICIENTS[unit.scale]:
            for names, ratings, labels in self._groups(item, judgments):
                result = partial(_result, unit, item, names)
                yield from self._values(result, item, ratings, single=isinstance(unit, Present))
                if isinstance(unit, Present):
                    for label in dict.fromkeys(sorted(labels)):
                        chosen = ratings.where(labels == label)
                        yield from self._values(result, item, chosen, label, single=True)
                values = item.value(item.sums(ratings), ratings.raters)
                of_units = ratings.documents[_has_value(item, ratings)]
                units = np.bincount(of_units, minlength=len(self.documents)).tolist()
                for name, number, value in zip(self.documents, units, values, strict=True):
                    if number:
                        yield result(number, float(value), document=name)

    def _groups(self, item: Coefficient, judgments: Judged) -> Iterator[Group]:
        """The pairs of annotators, or all of them."""
        labels, ratings = judgments.units["label"].to_numpy(), judgments.ratings
        if item.of == "all":
            # Of two annotators, alpha and Cohen's kappa say the same as that of Fleiss.
            if item.name != "fleiss_kappa" or len(self.annotators) != 2:
                yield Group(tuple(item.name for item in self.annotators), ratings, labels)
            return
        for pair in combinations(range(len(self.annotators)), 2):
            first, second = (self.annotators[index] for index in pair)
            shared = {*first.documents} & {*second.documents}
            inside = np.array([name in shared for name in self.documents], dtype=bool)
            chosen = inside[ratings.documents] & ratings.judged[:, [*pair]].any(axis=1)
            own = ratings.where(chosen).pair(*pair)
            yield Group((first.name, second.name), own, labels[chosen])

    def _values(
        self,
        result: Callable[..., CoefficientValue],
        item: Coefficient,
        ratings: Ratings,
        label: str | None = None,
        *,
        single: bool,
    ) -> Iterator[CoefficientValue]:
        """Give the value of a coefficient, and unless it is a single one, that of each category."""
        units, sums, raters = _has_value(item, ratings), item.sums(ratings), ratings.raters
        counted: NDArray[np.bool_] = np.any(sums != 0, axis=tuple(range(1, sums.ndim)))
        total, replicates = sums.sum(axis=0), self._replicates(sums[counted])
        how = None
        if (wanted := self.intervals) is not None:
            drawn = (wanted.confidence, wanted.seed, wanted.replicates)
            how = Bootstrap(int(counted.sum()), *drawn)
        values = None if replicates is None else item.value(replicates, raters)
        value = float(item.value(total, raters))
        yield result(int(units.sum()), value, values, how, label=label)
        if single or item.of_categories is None or len(ratings.categories) > MOST_CATEGORIES:
            return
        each = item.of_categories(total, raters)
        values = None if replicates is None else item.of_categories(replicates, raters)
        for at, category in enumerate(ratings.categories):
            number = int((units & (ratings.values == at).any(axis=1)).sum())
            column = None if values is None else values[:, at]
            if number:
                yield result(number, float(each[at]), column, how, label=category)

    def _replicates(self, sums: Values) -> Values | None:
        """The sums of resamples of documents that have any."""
        if self.intervals is None or not len(sums):
            return None
        flat = sums.reshape(len(sums), -1)
        size = max(1, _CELLS // max(1, flat.shape[1]))
        parts = [
            block[begin : begin + size] @ flat
            for block in draws(len(sums), self.intervals.replicates, self.intervals.seed)
            for begin in range(0, len(block), size)
        ]
        return np.concatenate(parts).reshape(-1, *sums.shape[1:]) if parts else None


def _has_value(item: Coefficient, ratings: Ratings) -> NDArray[np.bool_]:
    """The units that a coefficient is of."""
    if item is FOUND:
        return ratings.judges > 0
    return ratings.judges > 1 if item.name == "alpha" else ratings.judges == ratings.raters


def _result(
    unit: Unit,
    item: Coefficient,
    names: tuple[str, ...],
    units: int,
    value: float,
    drawn: Values | None = None,
    how: Bootstrap | None = None,
    **where: str | None,
) -> CoefficientValue:
    """Return a value with its interval, from its replicates; `where` it is not of all."""
    interval: Limits | str = ""
    if np.isnan(value):
        interval = NO_UNITS if item.of == "pair" else NO_UNITS_OF_ALL
        interval = CONSTANT if units else interval
    elif drawn is not None and how is not None:
        interval = how.interval(value, drawn, WITHIN)
    return CoefficientValue(
        judged=unit.name,
        coefficient=item.name,
        annotators=names,
        value=None if np.isnan(value) else value,
        interval=None if isinstance(interval, str) else interval,
        units=units,
        reason=interval if isinstance(interval, str) else "",
        **where,
    )


_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


def differences(
    each: Sequence[tuple[Unit, Judged]], annotators: Sequence[Annotator], documents: Sequence[str]
) -> Iterator[Disagreement]:
    """List the units that annotators judge differently, by document; numbers far apart first.

    What one annotator marked and another did not is listed once, however much is judged of it.

    Args:
        each: what is judged, with the judgments.
        annotators: who judged.
        documents: the names of the documents, in the order of `Ratings.documents`.
    """
    sets = [frozenset(annotator.documents) for annotator in annotators]
    annotated = np.array([[name in own for own in sets] for name in documents], dtype=bool)
    annotated = annotated.reshape(len(documents), len(annotators))
    marked = first_of_marks([unit for unit, _ in each])
    for (unit, found), finds in zip(each, marked, strict=True):
        ratings, judged = found.ratings, found.ratings.judged
        present = annotated[ratings.documents]
        spread = np.zeros(len(ratings.values))
        several = judged.sum(axis=1) > 1
        values = ratings.values[several]
        spread[several] = np.nanmax(values, axis=1) - np.nanmin(values, axis=1)
        chosen = spread > 0
        if finds:
            chosen |= (present & ~judged).any(axis=1) & judged.any(axis=1)
        units = np.flatnonzero(chosen)
        if not ratings.categories:
            units = units[np.argsort(-spread[units], kind="stable")]
        yield from _disagreements(unit, found, units.tolist(), present, annotators)


def _disagreements(
    unit: Unit,
    found: Judged,
    units: Sequence[int],
    present: NDArray[np.bool_],
    annotators: Sequence[Annotator],
) -> Iterator[Disagreement]:
    """List the judgments of units by the annotators of their documents, with their places."""
    wanted = set(units)
    records: dict[tuple[int, int], tuple[int, int]] = {}
    files: list[dict[int, dict[int, None]]] = [{} for _ in annotators]
    for index, annotator, origin, record in found.places.iter_rows():
        if index in wanted and origin is not None:
            records[index, annotator] = origin, record
            files[annotator].setdefault(origin, {})[record] = None
    located = [places(*pair) for pair in zip(annotators, files, strict=True)]
    ratings = found.ratings
    for index in units:
        document, key, _ = found.units.row(index)
        judgments: dict[str, Judgment] = {}
        for at, judge in enumerate(annotators):
            if present[index, at]:
                value = float(ratings.values[index, at])
                category: str | float | None = None if np.isnan(value) else value
                if category is not None and ratings.categories:
                    category = ratings.categories[int(value)]
                place = located[at][records[index, at]] if (index, at) in records else None
                judgments[judge.name] = Judgment(category=category, place=place)
        yield Disagreement(
            judged=unit.name, document=document, unit=shown_key(key), judgments=judgments
        )


def shown_key(key: str) -> str:
    """The key of a unit for people: its parts, and a hyphen between a start and an end.

    Examples:
        >>> shown_key("12" + SEPARATOR + "20" + SEPARATOR), shown_key("food" + SEPARATOR + "1")
        ('12-20', 'food 1')
    """
    parts = [part for part in key.split(SEPARATOR) if part]
    if len(parts) > 1 and all(_NUMBER.fullmatch(part) for part in parts[:2]):
        parts[:2] = ["-".join(parts[:2])]
    return " ".join(parts)
