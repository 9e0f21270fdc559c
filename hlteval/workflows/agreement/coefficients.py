"""Coefficients of what annotators judge: of all documents, by document, and by label."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlteval.findings.counts import counted as with_noun
from hlteval.results.agreement import CoefficientValue, Disagreement, Judgment
from hlteval.scoring.agreement.coefficients import COEFFICIENTS, FOUND, Coefficient
from hlteval.scoring.agreement.ratings import Ratings, Values
from hlteval.scoring.agreement.units import SEPARATOR, Judged, Present, Unit, first_of_marks
from hlteval.scoring.intervals import Bootstrap
from hlteval.scoring.resampling import draws
from hlteval.workflows.agreement.measures import Annotator, places
from hlteval.workflows.run.request import Intervals

WITHIN = (-np.inf, 1.0)
NO_UNITS = "no unit was judged by both"
NO_UNITS_OF_ALL = "no unit was judged by enough annotators"
CONSTANT = "all judgments are the same: agreement cannot be distinguished from chance"
MOST_CATEGORIES = 100
"""With more categories, such as entities, there is no value for each."""
_CELLS = 5_000_000
"""Cells of the sums of replicates that are computed at a time."""


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
class Measuring:
    """The coefficients of annotators.

    Attributes:
        names: of the annotators.
        own: the documents that each of them annotated.
        documents: the documents that count, in the order of `Ratings.documents`.
        intervals: how confidence intervals are computed; without them there are none.
    """

    names: Sequence[str]
    own: Sequence[Collection[str]]
    documents: Sequence[str]
    intervals: Intervals | None

    @property
    def signature(self) -> Iterator[tuple[str, str]]:
        """What intervals depend on."""
        if self.intervals is not None:
            yield "bootstrap", str(self.intervals.replicates)
            yield "confidence", str(self.intervals.confidence)
            yield "seed", str(self.intervals.seed)

    def notes(self) -> Iterator[str]:
        """How to read the intervals."""
        if self.intervals is not None:
            yield (
                f"[low, high]: {100 * self.intervals.confidence:g} % bootstrap interval, "
                f"{with_noun(self.intervals.replicates, 'resample')} of documents"
            )

    def values(self, unit: Unit, found: Judged, *, marked: bool) -> Iterator[CoefficientValue]:
        """All coefficients of what is judged, and that of the units that annotators mark."""
        for item in ((FOUND,) if marked else ()) + COEFFICIENTS[unit.scale]:
            for group, labels in self._groups(item, found):
                yield self._overall(unit, item, group)
                yield from self._by_label(unit, item, group, labels)
                yield from self._by_document(unit, item, group)

    def _groups(
        self, item: Coefficient, found: Judged
    ) -> Iterator[tuple[_Group, NDArray[np.object_]]]:
        """The pairs of annotators, or all of them, with the label of each unit."""
        labels = found.units["label"].to_numpy()
        if item.of == "all":
            if item.name == "fleiss_kappa" and len(self.names) == 2:
                return  # of two annotators, alpha and Cohen's kappa say the same
            yield _Group(tuple(self.names), found.ratings), labels
            return
        for first, second in combinations(range(len(self.names)), 2):
            shared = {*self.own[first]} & {*self.own[second]}
            inside = np.array([name in shared for name in self.documents], dtype=bool)
            ratings = found.ratings
            chosen = inside[ratings.documents] & ratings.judged[:, [first, second]].any(axis=1)
            group = _Group(
                (self.names[first], self.names[second]), ratings.where(chosen).pair(first, second)
            )
            yield group, labels[chosen]

    def _overall(
        self, unit: Unit, item: Coefficient, group: _Group, label: str | None = None
    ) -> CoefficientValue:
        sums = item.sums(group.ratings)
        value = float(item.value(sums.sum(axis=0), group.ratings.raters))
        replicates = self._replicates(sums)
        drawn = item.value(replicates, group.ratings.raters) if replicates is not None else None
        units = int(group.units(item).sum())
        return self._made(unit, item, group, units, value, drawn, sums, label=label)

    def _by_label(
        self, unit: Unit, item: Coefficient, group: _Group, labels: NDArray[np.object_]
    ) -> Iterator[CoefficientValue]:
        """The coefficient of each label: of the units of a label, or of a category."""
        if isinstance(unit, Present):
            for label in dict.fromkeys(sorted(labels)):
                yield self._overall(unit, item, group.where(labels == label), label)
        elif len(group.ratings.categories) <= MOST_CATEGORIES:
            yield from self._of_categories(unit, item, group)

    def _of_categories(
        self, unit: Unit, item: Coefficient, group: _Group
    ) -> Iterator[CoefficientValue]:
        sums, of_categories = item.sums(group.ratings), item.of_categories
        if of_categories is None:
            return
        values = of_categories(sums.sum(axis=0), group.ratings.raters)
        replicates = self._replicates(sums)
        raters = group.ratings.raters
        drawn = None if replicates is None else of_categories(replicates, raters)
        units = group.units(item)
        for at, category in enumerate(group.ratings.categories):
            having = int((units & (group.ratings.values == at).any(axis=1)).sum())
            own = None if drawn is None else drawn[:, at]
            if having:
                yield self._made(
                    unit, item, group, having, float(values[at]), own, sums, label=category
                )

    def _by_document(
        self, unit: Unit, item: Coefficient, group: _Group
    ) -> Iterator[CoefficientValue]:
        values = item.value(item.sums(group.ratings), group.ratings.raters)
        chosen = group.ratings.documents[group.units(item)]
        units = np.bincount(chosen, minlength=len(self.documents))
        for at, name in enumerate(self.documents):
            if units[at]:
                yield self._made(
                    unit, item, group, int(units[at]), float(values[at]), None, None, document=name
                )

    def _replicates(self, sums: Values) -> Values | None:
        """The sums of resamples of the documents that have any."""
        own = sums[_counted(sums)]
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

    def _made(
        self,
        unit: Unit,
        item: Coefficient,
        group: _Group,
        units: int,
        value: float,
        drawn: Values | None,
        sums: Values | None,
        **scope: str | None,
    ) -> CoefficientValue:
        defined = not np.isnan(value)
        reason: object = ""
        if not defined:
            nothing = NO_UNITS if item.of == "pair" else NO_UNITS_OF_ALL
            reason = CONSTANT if units else nothing
        elif drawn is not None and sums is not None and self.intervals is not None:
            drew = self.intervals
            how = Bootstrap(int(_counted(sums).sum()), drew.confidence, drew.seed, drew.replicates)
            reason = how.interval(value, drawn, WITHIN)
        return CoefficientValue(
            judged=unit.name,
            coefficient=item.name,
            annotators=group.names,
            value=value if defined else None,
            interval=reason if isinstance(reason, tuple) else None,
            units=units,
            reason=reason if isinstance(reason, str) else "",
            **scope,
        )


def _counted(sums: Values) -> NDArray[np.bool_]:
    """The documents of which something was counted."""
    counted: NDArray[np.bool_] = np.any(sums != 0, axis=tuple(range(1, sums.ndim)))
    return counted


_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
Places = dict[tuple[int, int], str]


def differences(
    each: Sequence[tuple[Unit, Judged]], annotators: Sequence[Annotator], documents: Sequence[str]
) -> Iterator[Disagreement]:
    """The units of which annotators say different things, by document; numbers far apart first.

    What one annotator marked and another did not is listed once, however much is judged of it.

    Args:
        each: what is judged, with the judgments.
        annotators: who judged.
        documents: the names of the documents, in the order of `Ratings.documents`.
    """
    each_own = [frozenset(annotator.documents) for annotator in annotators]
    annotated = np.array([[name in own for own in each_own] for name in documents], dtype=bool)
    annotated = annotated.reshape(len(documents), len(annotators))
    marked = first_of_marks([unit for unit, _ in each])
    for (unit, found), finds in zip(each, marked, strict=True):
        present = annotated[found.ratings.documents]
        chosen = _parting(found.ratings, present, finds=finds)
        yield from _listed(unit, found, chosen, present, annotators)


def _parting(ratings: Ratings, present: NDArray[np.bool_], *, finds: bool) -> NDArray[np.int64]:
    """The units that annotators judge differently, in the order in which they are listed."""
    judged = ratings.judged
    spread = np.zeros(len(ratings.values))
    several = judged.sum(axis=1) > 1
    own = ratings.values[several]
    spread[several] = np.nanmax(own, axis=1) - np.nanmin(own, axis=1)
    chosen = spread > 0
    if finds:
        chosen |= (present & ~judged).any(axis=1) & judged.any(axis=1)
    places = np.flatnonzero(chosen)
    if ratings.categories:
        return places
    return places[np.argsort(-spread[places], kind="stable")]


def _listed(
    unit: Unit,
    found: Judged,
    chosen: NDArray[np.int64],
    present: NDArray[np.bool_],
    annotators: Sequence[Annotator],
) -> Iterator[Disagreement]:
    of_units: dict[int, dict[int, tuple[int, int]]] = {}
    wanted = set(chosen.tolist())
    for index, annotator, origin, record in found.places.iter_rows():
        if index in wanted and origin is not None:
            of_units.setdefault(index, {})[annotator] = (origin, record)
    located = _located(of_units, annotators)
    for index in chosen.tolist():
        document, key, _ = found.units.row(index)
        own = of_units.get(index, {})
        yield Disagreement(
            judged=unit.name,
            document=document,
            unit=shown_key(key),
            judgments={
                annotator.name: Judgment(
                    category=_category(found.ratings, index, at),
                    place=located[at].get(own[at]) if at in own else None,
                )
                for at, annotator in enumerate(annotators)
                if present[index, at]
            },
        )


def _located(
    of_units: dict[int, dict[int, tuple[int, int]]], annotators: Sequence[Annotator]
) -> list[Places]:
    """The places of the records of each annotator."""
    wanted: list[dict[int, dict[int, None]]] = [{} for _ in annotators]
    for own in of_units.values():
        for annotator, (origin, record) in own.items():
            wanted[annotator].setdefault(origin, {})[record] = None
    return [
        places(annotator, {origin: [*records] for origin, records in files.items()})
        for annotator, files in zip(annotators, wanted, strict=True)
    ]


def _category(ratings: Ratings, index: int, annotator: int) -> Any:
    value = float(ratings.values[index, annotator])
    if np.isnan(value):
        return None
    return ratings.categories[int(value)] if ratings.categories else value


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
