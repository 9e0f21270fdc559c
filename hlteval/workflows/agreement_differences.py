"""Where annotators part: units of which they say different things, with file and line of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlteval.results.agreement import Disagreement, Judgment
from hlteval.scoring.agreement.ratings import Ratings
from hlteval.scoring.agreement.units import SEPARATOR, Judged, Unit, first_of_marks
from hlteval.workflows.annotators import Annotator, places

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
