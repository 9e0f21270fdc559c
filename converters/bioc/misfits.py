"""Annotations of BioC that are not what stands at their locations, and what they have in common.

Offsets that count bytes, or units of UTF-16, are told once a file: so what does not fit is kept
until enough of it is seen, whatever the parts that the file is read in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hlteval.converters.bioc.texts import CONVENTIONS, Misfit, counted, nearest
from hlteval.syntax.xml_elements import Fault

_LEAST, _SURE = 3, 0.9
"""How many annotations, and which share of those that do not fit, tell how offsets are counted."""
_MOST = 10_000
"""Annotations after which that is settled."""
Placed = tuple[Fault, str | None]
"""A fault at its place, with the identifier of the record."""


class _Kept(NamedTuple):
    """An annotation that does not fit, at its place, and the units that it fits in."""

    placed: Placed
    units: frozenset[str]


class Misfits:
    """What is known of the annotations of a file that do not fit."""

    def __init__(self) -> None:
        self.kept: list[_Kept] = []
        self.unit: str | None = None
        """The unit that offsets count, once that is settled; empty for none."""

    def open(self, misfits: Iterable[Misfit]) -> list[Misfit]:
        """Those that are to be told, as far as that is known."""
        if not self.unit:
            return list(misfits)
        return [one for one in misfits if not counted(one, self.unit)]

    def settled(
        self, misfits: Iterable[Misfit], places: Mapping[int, tuple[int, int]]
    ) -> Iterator[Placed]:
        """Take annotations that do not fit; what can be told by now comes out."""
        for one in misfits:
            units = frozenset(unit for unit in CONVENTIONS if counted(one, unit))
            if self.unit in units:
                continue
            kept = _Kept(_told(one, places[one.ordinal]), units)
            if self.unit is not None:
                yield kept.placed
                continue
            self.kept.append(kept)
            if len(self.kept) >= _MOST:
                yield from self.rest()

    def rest(self) -> Iterator[Placed]:
        """Settle what is open: the unit that nearly all fit in, and those that do not."""
        if self.unit is not None:
            return
        self.unit = ""
        for unit, (what, _, _) in CONVENTIONS.items():
            fitting = [one for one in self.kept if unit in one.units]
            if len(fitting) >= max(_LEAST, _SURE * len(self.kept)):
                fault, record = fitting[0].placed
                values = {"what": what, "element": "annotation"}
                yield fault._replace(code="BIO204", values=values), record
                self.unit = unit
                break
        yield from (one.placed for one in self.kept if self.unit not in one.units)
        self.kept.clear()


def _told(misfit: Misfit, place: tuple[int, int]) -> Placed:
    """An annotation that is not what stands there, as it is told."""
    begin = misfit.within.start
    said = " … ".join(
        misfit.within.text[max(0, start - begin) : max(0, end - begin)][:40]
        for start, end in misfit.spans[:3]
    )
    values = {"actual": said, "given": misfit.text[:40], "hint": nearest(misfit)}
    return Fault("BIO203", *place, values), misfit.record
