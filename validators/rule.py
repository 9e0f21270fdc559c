"""What a rule is, what it looks at, and how the rows it returns become findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from hlteval.converters.format import Format
from hlteval.findings import Entry, FieldRef, Finding, Location, catalogue
from hlteval.representation import Corpus, effective_fillers, fillers, frame_keys, items
from hlteval.sources import Member, Unreadable

PLACE = ("origin", "record", "field", "id")
"""What a rule returns of each row at fault: its source (null: the submission), its record (null:
the file), the field of the record, and its identifier. Further columns fill the templates."""


@dataclass(frozen=True)
class RuleContext:
    """What rules look at: a batch of documents of a submission, and what it is checked against.

    Tables come as lazy frames: a rule only says what it looks for, and all rules of a task are run
    together, so that what several look at is worked out once.

    Attributes:
        system: the submission.
        against: the documents and what was given with them; the submission itself where it holds
            them. Both number their documents alike.
        schema: what the task allows.
        lists: what options name beside it, by option: lists of documents, a knowledge base.
    """

    system: Corpus
    against: Corpus
    schema: Any
    lists: Mapping[str, Corpus] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Whether the submission brings its own documents."""
        return self.against is self.system

    def table(self, name: str) -> pl.LazyFrame:
        """A table of the submission."""
        frame: pl.DataFrame = getattr(self.system, name)
        return frame.lazy()

    @property
    def given(self) -> pl.LazyFrame:
        """The mentions that were given with the task; none where the submission brings its own."""
        mentions = self.against.mentions
        return (mentions.clear() if self.own else mentions).lazy()

    @property
    def items(self) -> pl.LazyFrame:
        """What identifiers of the submission may refer to; see `representation.items`."""
        return items(self.system, self.against).lazy()

    @property
    def all_arguments(self) -> pl.LazyFrame:
        """The arguments of the submission, resolved; see `representation.fillers`."""
        return fillers(self.system, self.against).lazy()

    @property
    def arguments(self) -> pl.LazyFrame:
        """The resolved arguments that count; see `representation.effective_fillers`."""
        return effective_fillers(self.system, self.against).lazy()

    @cached_property
    def shapes(self) -> pl.DataFrame:
        """Each event with its shape: the frame, and its roles in alphabetical order as `roles`."""
        arguments = effective_fillers(self.system, self.against)
        roles = frame_keys(arguments, pl.col("role")).lazy().select(row="frame_row", roles="said")
        frames = self.table("frames").join(roles, on="row", how="left", maintain_order="left")
        return frames.with_columns(pl.col("roles").fill_null("")).collect()

    @cached_property
    def _kept(self) -> dict[Callable[[RuleContext], pl.LazyFrame], pl.LazyFrame]:
        return {}

    def cached(self, table: Callable[[RuleContext], pl.LazyFrame]) -> pl.LazyFrame:
        """A table that several rules look at, worked out once."""
        if table not in self._kept:
            self._kept[table] = table(self).collect().lazy()
        return self._kept[table]

    @property
    def names(self) -> pl.LazyFrame:
        """The name of each document, as `name`."""
        return self.table("documents").select("name", document="row")


@dataclass(frozen=True, slots=True)
class Rule:
    """A check: a function that gives the rows at fault, and the code that tells what they are.

    Attributes:
        code: the code of its findings.
        runs_on: the table that it checks; it does not run where this is empty.
        check: gives the rows at fault.
        needs: a column, such as `mentions.text`: it does not run on formats that cannot represent
            this.
        once: whether only its first finding is reported, in whatever batch that is: it concerns the
            submission as a whole.
    """

    code: str
    runs_on: str
    check: Callable[[RuleContext], pl.LazyFrame]
    needs: str = ""
    once: bool = False


def apply(
    rules: Sequence[Rule], case: RuleContext, members: Sequence[Member], form: Format
) -> Iterator[Finding]:
    """The findings of rules over a case.

    Args:
        rules: the rules.
        case: what they look at.
        members: the files of `case.system.sources`, in order.
        form: the format of these files, which knows where their fields stand.
    """
    asked = [
        rule
        for rule in rules
        if getattr(case.system, rule.runs_on).height
        and (not rule.needs or rule.needs in form.carries)
    ]
    answers = pl.collect_all([rule.check(case) for rule in asked])
    faults = [
        (catalogue()[rule.code], _told(catalogue()[rule.code], rows).rows(named=True))
        for rule, rows in zip(asked, answers, strict=True)
        if rows.height
    ]
    places = _places((row for _, rows in faults for row in rows), members, form)
    for entry, rows in faults:
        for row in rows:
            located = places.get((row["origin"], row["record"], row["field"]))
            yield entry.finding(
                row,
                file=None if row["origin"] is None else members[row["origin"]].display,
                span=located.span if located else None,
                excerpt=located.excerpt if located else None,
                record=row["id"],
            )


def _told(entry: Entry, rows: pl.DataFrame) -> pl.DataFrame:
    """Of rows at fault, the columns that a finding tells."""
    return rows.select(*PLACE, *(entry.fields - set(PLACE)))


def _places(
    rows: Iterable[Mapping[str, Any]], members: Sequence[Member], form: Format
) -> dict[tuple[int, int, str], Location]:
    """Where the rows at fault stand: each file is searched once for all of them."""
    wanted: dict[int, dict[tuple[int, str], None]] = {}
    for row in rows:
        if row["origin"] is not None and row["record"] is not None:
            wanted.setdefault(row["origin"], {})[row["record"], row["field"]] = None
    found: dict[tuple[int, int, str], Location] = {}
    for origin, places in wanted.items():
        try:
            located = form.locate(members[origin], [FieldRef(*place) for place in places])
        except Unreadable:
            continue
        for place, at in zip(places, located, strict=True):
            if at is not None:
                found[origin, *place] = at
    return found
