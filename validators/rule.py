"""What a rule is, what it looks at, and how the rows it returns become findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from hlteval.converters.format import Format, Located, Place
from hlteval.findings import Finding, catalogue
from hlteval.representation import Corpus, counted, fillers, frame_keys, items
from hlteval.sources import Member, Unreadable

PLACE = ("origin", "record", "field", "id")
"""What a rule returns of each row at fault: its source (null: the submission), its record (null:
the file), the field of the record, and its identifier. Further columns fill the templates."""


@dataclass(frozen=True)
class Case:
    """What rules look at: a batch of documents of a submission, and what it is checked against.

    Attributes:
        system: the submission.
        against: the documents and what was given with them; the submission itself where it holds
            them. Both number their documents alike.
        schema: what the task allows.
    """

    system: Corpus
    against: Corpus
    schema: Any

    @property
    def items(self) -> pl.DataFrame:
        """What identifiers of the submission may refer to; see `representation.items`."""
        return items(self.system, self.against)

    @property
    def all_arguments(self) -> pl.DataFrame:
        """The arguments of the submission, resolved; see `representation.fillers`."""
        return fillers(self.system, self.against)

    @property
    def arguments(self) -> pl.DataFrame:
        """The resolved arguments that count; see `representation.counted`."""
        return counted(self.system, self.against)

    @cached_property
    def shapes(self) -> pl.DataFrame:
        """Each event with its shape: the frame, and its roles in alphabetical order as `roles`."""
        roles = frame_keys(self.arguments, pl.col("role")).select(row="frame_row", roles="said")
        frames = self.system.frames.join(roles, on="row", how="left", maintain_order="left")
        return frames.with_columns(pl.col("roles").fill_null(""))

    @cached_property
    def _kept(self) -> dict[Callable[[Case], pl.DataFrame], pl.DataFrame]:
        return {}

    def once(self, table: Callable[[Case], pl.DataFrame]) -> pl.DataFrame:
        """A table that several rules look at, worked out once."""
        if table not in self._kept:
            self._kept[table] = table(self)
        return self._kept[table]

    @cached_property
    def names(self) -> pl.DataFrame:
        """The name of each document."""
        return self.system.documents.select("name", document="row")


@dataclass(frozen=True, slots=True)
class Rule:
    """A check: a function that returns the rows at fault, and the code that tells what they are."""

    code: str
    check: Callable[[Case], pl.DataFrame]


def apply(
    rules: Sequence[Rule], case: Case, members: Sequence[Member], form: Format
) -> Iterator[Finding]:
    """The findings of rules over a case.

    Args:
        rules: the rules.
        case: what they look at.
        members: the files of `case.system.sources`, in order.
        form: the format of these files, which knows where their fields stand.
    """
    faults = [(rule.code, row) for rule in rules for row in rule.check(case).iter_rows(named=True)]
    places = _places(faults, members, form)
    for code, row in faults:
        origin, record, field = row["origin"], row.get("record"), row.get("field") or ""
        located = places.get((origin, record, field))
        yield catalogue()[code].finding(
            row,
            file=None if origin is None else members[origin].display,
            span=located.span if located else None,
            excerpt=located.excerpt if located else None,
            record=row.get("id"),
        )


def _places(
    faults: Iterable[tuple[str, Mapping[str, Any]]], members: Sequence[Member], form: Format
) -> dict[tuple[int, int, str], Located]:
    """Where the rows at fault stand: each file is searched once for all of them."""
    wanted: dict[int, dict[Place, None]] = {}
    for _, row in faults:
        if row["origin"] is not None and row.get("record") is not None:
            place = Place(row["record"], row.get("field") or "")
            wanted.setdefault(row["origin"], {})[place] = None
    found: dict[tuple[int, int, str], Located] = {}
    for origin, places in wanted.items():
        try:
            located = form.locate(members[origin], list(places))
        except Unreadable:
            continue
        for place, at in zip(places, located, strict=True):
            if at is not None:
                found[origin, place.record, place.field] = at
    return found
