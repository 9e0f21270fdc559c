"""What a table of CCU is: its columns, its header and the codes of what is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from hlteval.converters.ccu.cells import describe_name, describe_number, describe_word
from hlteval.findings import Problem
from hlteval.findings.suggest import closest
from hlteval.syntax.tsv import Column, Table

#: An identifier: no quotes and no control characters, and no space around it.
NAME = r'[^\x00-\x20\x7f-\x9f"](?:[^\x00-\x1f\x7f-\x9f"]*[^\x00-\x20\x7f-\x9f"])?'
#: A number that a computer can hold: neither `1e400` nor `nan`.
NUMBER = r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?:-[0-9]{1,3}|\+?[0-9]{1,2}))?"
#: A number below 10 to the power of 15: no stream is so long, and windows can be counted.
PLACE = (
    r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+"
    r"|[0-9]{1,6}(?:\.[0-9]*)?[eE]\+?0{0,2}[0-8]|[0-9](?:\.[0-9]*)?[eE]\+?0{0,2}(?:9|1[0-4])"
    r"|(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)[eE]-[0-9]{1,3})"
)
#: The most columns of a table; a line with more is not a header.
_MOST = 100
_TEXT = r"[^\x00-\x1f\x7f]*"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of table.

    Attributes:
        name: of the kind, for people.
        columns: its columns; those that are optional may be missing in a header.
        codes: the prefix of its codes.
        others: whether it may have further columns.
        short: a column after which lines may end, if they may.
        also: older headings, and the name of the column that each stands for.
    """

    name: str
    columns: tuple[Column, ...]
    codes: str
    others: bool = False
    short: str = ""
    also: tuple[tuple[str, str], ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns in their usual order, without optional ones."""
        return tuple(column.title for column in self.columns if not column.optional)

    def known(self) -> Mapping[str, Column]:
        """The columns by what a header may call them."""
        named = {column.name: column for column in self.columns}
        known = {column.title: column for column in self.columns}
        return {**known, **{title: replace(named[n], heading=title) for title, n in self.also}}

    def missing(self, titles: Sequence[str]) -> list[str]:
        """The columns that a header lacks."""
        known = self.known()
        there = {known[title].name for title in titles if title in known}
        return [c.title for c in self.columns if not c.optional and c.name not in there]

    def repeated(self, titles: Sequence[str]) -> str:
        """The first of its columns that a header has twice; empty if none."""
        known = self.known()
        counts = Counter(known[title].name for title in titles if title in known)
        return next((t for t in reversed(titles) if t in known and counts[known[t].name] > 1), "")

    def unknown(self, titles: Sequence[str]) -> list[str]:
        """The columns that it cannot have."""
        return [] if self.others else [title for title in titles if title not in self.known()]

    def declared(self, header: str = "") -> Table:
        """The table with its header, whose mistakes in all rows can be found.

        Args:
            header: the first line of a file: older headings that it has are kept.
        """
        names = {column.name for column in self.columns}
        titles = header.split("\t")
        older = {name: title for title, name in self.also if title in titles}
        return Table(
            tuple(replace(c, heading=older.get(c.name, c.heading)) for c in self.columns),
            header="required",
            any_order=True,
            ragged=self.others,
            ascending=("start", "end") if {"start", "end"} <= names else (),
        )

    def table(self, titles: Sequence[str]) -> Table:
        """The declaration of the lines after a header.

        Columns that it does not know are texts. If it may have them, their names begin with `+`.
        """
        return _table(self, tuple(titles))

    def problems(self, header: str) -> Iterator[Problem]:
        """What is wrong with a header: with 102 or 104, the lines after it cannot be read."""
        titles = header.split("\t")
        values = {"table": self.name, "header": " ".join(self.headings)}
        missing = self.missing(titles)
        if missing or len(titles) > _MOST:
            problem = f"lacks {', '.join(missing)}" if missing else f"has {len(titles):,} columns"
            more = {"problem": problem, "hint": _header_hint(self, header)}
            yield Problem(f"{self.codes}102", 1, 0, len(header), {**values, **more})
            return
        for title in dict.fromkeys(self.unknown(titles)):
            hint = f"remove the column {title}" if title else "remove the tab after the last column"
            more = {"column": title or "without a name", "hint": hint}
            yield Problem(f"{self.codes}103", 1, *_stretch(titles, title), {**values, **more})
        if title := self.repeated(titles):
            more = {"column": title}
            yield Problem(f"{self.codes}104", 1, *_stretch(titles, title), {**values, **more})


@lru_cache(maxsize=64)  # thousands of files share one header
def _table(kind: Kind, titles: tuple[str, ...]) -> Table:
    known = kind.known()
    mark = "+" if kind.others else "\t+"
    columns = [
        replace(known[title], optional=False)
        if title in known
        else Column(f"{mark}{title if titles.count(title) == 1 else at}", heading=title)
        for at, title in enumerate(titles)
    ]
    if kind.short in titles:
        end = titles.index(kind.short) + 1
        columns[end:] = [replace(c, optional=True, nullable=True) for c in columns[end:]]
    return Table(
        tuple(columns), code=f"{kind.codes}105", empty_code=f"{kind.codes}106", blank_is_empty=False
    )


def _stretch(titles: Sequence[str], title: str) -> tuple[int, int]:
    """Where the last column of a name is in a header."""
    at = len(titles) - 1 - list(reversed(titles)).index(title)
    start = sum(len(other) + 1 for other in titles[:at])
    return start, start + len(title)


def words_of(header: str) -> list[str]:
    r"""The words of a header, also of a damaged one.

    Examples:
        >>> words_of("FILE_ID, norm  llr")
        ['file_id', 'norm', 'llr']
    """
    plain = header.lower()
    for separator in ("\t", ",", ";"):
        plain = plain.replace(separator, " ")
    return plain.replace('"', "").split()


def _header_hint(kind: Kind, header: str) -> str:
    """How to correct a header that lacks columns."""
    titles, wanted = header.split("\t"), " ".join(kind.headings)
    lower = set(words_of(header))
    if not lower & set(kind.known()):
        return f"begin with the header, separated by tabs: {wanted}"
    if len(titles) == 1:
        given = "commas" if "," in header else "semicolons" if ";" in header else "spaces"
        return f"separate the columns of all lines by tabs, not by {given}"
    pairs = []
    for title in kind.missing(titles):
        others = [other for other in titles if other not in kind.known()]
        if other := closest(title, others):
            pairs.append(f"write {other} as {title}")
    return "; ".join(pairs) or f"these columns are needed, separated by tabs: {wanted}"


def number(
    codes: str, name: str, heading: str = "", *, nullable: bool = False, optional: bool = False
) -> Column:
    """A column of finite numbers."""
    return Column(
        name, "number", NUMBER, f"{codes}107", heading=heading, nullable=nullable,
        optional=optional, describe=describe_number,
    )  # fmt: skip


def place(
    codes: str, name: str, heading: str = "", *, nullable: bool = False, optional: bool = False
) -> Column:
    """A column of places, or of the lengths of documents."""
    column = number(codes, name, heading, nullable=nullable, optional=optional)
    return replace(column, pattern=PLACE)


def identifier(codes: str, name: str, heading: str = "") -> Column:
    """A column of identifiers."""
    return Column(name, pattern=NAME, code=f"{codes}108", heading=heading, describe=describe_name)


def words(codes: str, name: str, heading: str = "", *, optional: bool = False) -> Column:
    """A column of texts, which may be empty."""
    return Column(
        name, pattern=_TEXT, code=f"{codes}109", heading=heading, nullable=True, optional=optional,
        describe=describe_word,
    )  # fmt: skip
