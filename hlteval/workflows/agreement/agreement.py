"""Agreement: how far annotators of the same documents agree, in coefficients, and where not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hlteval import __version__
from hlteval.findings import Findings
from hlteval.findings.counts import count_of
from hlteval.results.agreement import Agreement, CoefficientValue, Disagreement, Judgment
from hlteval.results.systems import short_names
from hlteval.results.verdict import FIRST, Signature
from hlteval.scoring.agreement.coefficients import COEFFICIENTS, FOUND, Coefficient, Ratings, Values
from hlteval.scoring.agreement.units import SEPARATOR, Judged, Present, Unit, first_of_marks, judged
from hlteval.scoring.intervals import Bootstrap
from hlteval.scoring.metric import Limits
from hlteval.scoring.resampling import draws
from hlteval.tasks import agreement as declarations
from hlteval.tasks import load
from hlteval.tasks.options import merge_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.agreement.measures import Annotator, PairScorer, hold, inside, places, read
from hlteval.workflows.processes.batches import Progress, no_progress, subprogress
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
    step: Progress = no_progress,
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
    given = merge_options(declared, options or {})
    arguments: dict[str, Any] = {"task": task, "against": against}
    arguments |= {"options": given, "encoding": encoding}
    every = [
        read(path, name, subprogress(step, at, len(paths)), **arguments)
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
            f"{count_of(intervals.replicates, 'resample')} of documents"
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


WITHIN = (-np.inf, 1.0)
NO_UNITS = "no unit was judged by both"
NO_UNITS_OF_ALL = "no unit was judged by enough annotators"
CONSTANT = "all judgments are the same: agreement cannot be distinguished from chance"
#: With more categories, such as entities, there is no value for each.
MOST_CATEGORIES = 100
#: Cells of the sums of replicates that are computed at a time.
_CELLS = 5_000_000


@dataclass(frozen=True)
class _Group:
    """Annotators whose agreement is measured, and their judgments.

    Attributes:
        names: of the annotators.
        ratings: their judgments of the documents that count.
    """

    names: tuple[str, ...]
    ratings: Ratings

    def where(self, chosen: NDArray[np.bool_]) -> _Group:
        return _Group(self.names, self.ratings.where(chosen))

    def units(self, item: Coefficient) -> NDArray[np.bool_]:
        """The units that a coefficient is of."""
        judges = self.ratings.judges
        if item is FOUND:
            return judges > 0
        return judges > 1 if item.name == "alpha" else judges == self.ratings.raters


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

    def values(self, unit: Unit, found: Judged, *, marked: bool) -> Iterator[CoefficientValue]:
        """Compute all coefficients of what is judged, and that of the units that annotators mark.

        Each has a value of all documents, then values of labels or categories, then of documents.
        """
        for item in ((FOUND,) if marked else ()) + COEFFICIENTS[unit.scale]:
            for group, labels in self._groups(item, found):
                yield self._value(unit, item, group)
                if isinstance(unit, Present):
                    for label in dict.fromkeys(sorted(labels)):
                        yield self._value(unit, item, group.where(labels == label), label)
                elif len(group.ratings.categories) <= MOST_CATEGORIES:
                    yield from self._by_category(unit, item, group)
                values = item.value(item.sums(group.ratings), group.ratings.raters)
                chosen = group.ratings.documents[group.units(item)]
                units = np.bincount(chosen, minlength=len(self.documents)).tolist()
                for name, number, value in zip(self.documents, units, values, strict=True):
                    if number:
                        yield self._result(unit, item, group, number, float(value), document=name)

    def _groups(
        self, item: Coefficient, found: Judged
    ) -> Iterator[tuple[_Group, NDArray[np.object_]]]:
        """The pairs of annotators, or all of them, with the label of each unit."""
        labels = found.units["label"].to_numpy()
        if item.of == "all":
            if item.name == "fleiss_kappa" and len(self.annotators) == 2:
                return  # of two annotators, alpha and Cohen's kappa say the same
            yield _Group(tuple(item.name for item in self.annotators), found.ratings), labels
            return
        for pair in combinations(range(len(self.annotators)), 2):
            first, second = (self.annotators[index] for index in pair)
            shared = {*first.documents} & {*second.documents}
            inside = np.array([name in shared for name in self.documents], dtype=bool)
            ratings = found.ratings
            chosen = inside[ratings.documents] & ratings.judged[:, [*pair]].any(axis=1)
            yield (
                _Group((first.name, second.name), ratings.where(chosen).pair(*pair)),
                labels[chosen],
            )

    def _value(
        self, unit: Unit, item: Coefficient, group: _Group, label: str | None = None
    ) -> CoefficientValue:
        sums, raters = item.sums(group.ratings), group.ratings.raters
        replicates = self._replicates(sums)
        drawn = None if replicates is None else item.value(replicates, raters)
        value = float(item.value(sums.sum(axis=0), raters))
        units = int(group.units(item).sum())
        return self._result(unit, item, group, units, value, drawn, sums, label=label)

    def _by_category(
        self, unit: Unit, item: Coefficient, group: _Group
    ) -> Iterator[CoefficientValue]:
        sums, raters, of_categories = (
            item.sums(group.ratings),
            group.ratings.raters,
            item.of_categories,
        )
        if of_categories is None:
            return
        values = of_categories(sums.sum(axis=0), raters)
        replicates = self._replicates(sums)
        drawn = None if replicates is None else of_categories(replicates, raters)
        units = group.units(item)
        for at, category in enumerate(group.ratings.categories):
            number = int((units & (group.ratings.values == at).any(axis=1)).sum())
            column = None if drawn is None else drawn[:, at]
            if number:
                value = float(values[at])
                yield self._result(unit, item, group, number, value, column, sums, label=category)

    def _replicates(self, sums: Values) -> Values | None:
        """The sums of resamples of the documents that have any."""
        own = sums[_has_counts(sums)]
        if self.intervals is None or not len(own):
            return None
        flat = own.reshape(len(own), -1)
        blocks = draws(len(own), self.intervals.replicates, self.intervals.seed)
        size = max(1, _CELLS // max(1, flat.shape[1]))
        parts = [
            block[begin : begin + size] @ flat
            for block in blocks
            for begin in range(0, len(block), size)
        ]
        return np.concatenate(parts).reshape(-1, *sums.shape[1:]) if parts else None

    def _result(
        self,
        unit: Unit,
        item: Coefficient,
        group: _Group,
        units: int,
        value: float,
        drawn: Values | None = None,
        sums: Values | None = None,
        *,
        document: str | None = None,
        label: str | None = None,
    ) -> CoefficientValue:
        """Return a value with its interval, from its replicates and the sums of documents."""
        defined = not np.isnan(value)
        interval: Limits | str = ""
        if not defined and units:
            interval = CONSTANT
        elif not defined:
            interval = NO_UNITS if item.of == "pair" else NO_UNITS_OF_ALL
        elif drawn is not None and sums is not None and (wanted := self.intervals) is not None:
            documents = int(_has_counts(sums).sum())
            how = Bootstrap(documents, wanted.confidence, wanted.seed, wanted.replicates)
            interval = how.interval(value, drawn, WITHIN)
        return CoefficientValue(
            judged=unit.name,
            coefficient=item.name,
            annotators=group.names,
            value=value if defined else None,
            interval=None if isinstance(interval, str) else interval,
            units=units,
            reason=interval if isinstance(interval, str) else "",
            document=document,
            label=label,
        )


def _has_counts(sums: Values) -> NDArray[np.bool_]:
    """The documents of which something was counted."""
    has_counts: NDArray[np.bool_] = np.any(sums != 0, axis=tuple(range(1, sums.ndim)))
    return has_counts


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
