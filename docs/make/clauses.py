"""Tables of clauses: what a specification asks, what holds it, and what is not held and why.

A table names tests, which are not installed: its data stand beside its page in docs/clauses/, and
only this, which makes the page, is in the package. tests/unit/docs/test_clauses.py holds that
what a table names is there, and that it names every code and metric.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

Status = Literal["implemented", "partial", "planned", "not implemented"]
STATUSES: tuple[Status, ...] = ("implemented", "partial", "planned", "not implemented")


class Clause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that a specification asks or defines.

    Attributes:
        section: number or name of its section, as the specification prints it.
        title: the name of a section that has a number, at the first of its clauses.
        at: which part of the section, where a code is finer than that.
        says: what it says, in a line of our own.
        codes: the findings that tell where it is broken.
        metrics: what measures it: a task and the name of a metric, in which `*` is anything.
        options: a task and the option with which it can be had otherwise.
        by: the functions that do what it says, as `module:name`.
        tests: the tests that hold it, as a path below tests/ and the name of a function.
        note: how it is understood, where it leaves something open or contradicts itself.
        open: what of it is not held, and why.
        planned: the task that will hold it, once that is built.
    """

    section: str
    says: str
    title: str = ""
    at: str = ""
    codes: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    note: str = ""
    open: str = ""
    planned: str = ""

    @property
    def status(self) -> Status:
        """How far it is held.

        Examples:
            >>> Clause(section="1", says="Frames have a type.", codes=("SFJ202",)).status
            'implemented'
        """
        if self.planned:
            return "planned"
        held = any((self.codes, self.metrics, self.by, self.tests))
        return ("partial" if self.open else "implemented") if held else "not implemented"

    @property
    def place(self) -> str:
        """Its section, and which part of it."""
        return f"{self.section}, {self.at}" if self.at else self.section


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document, or a part of one that codes and metrics name as such.

    Attributes:
        name: as clauses of codes and metrics begin.
        word: what these put before the section.
        source: what document it is.
        clause: its clauses, in their order.
    """

    name: str
    source: str
    word: str = ""
    clause: tuple[Clause, ...] = ()

    def reference(self, clause: Clause) -> str:
        """A clause as codes and metrics name it, behind the name of the document."""
        return f"{self.word}{clause.place}"


class Specification(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table: what is known under one title, in one or several documents."""

    title: str
    part: tuple[Part, ...]

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """All of its clauses."""
        return tuple(clause for part in self.part for clause in part.clause)


def load(path: Path) -> Specification:
    """A table from its file.

    Raises:
        msgspec.ValidationError: if the file says something that a table does not.
    """
    return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Specification)


def references(clause: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The documents and sections that the clause of a code or metric names, those of `names` only.

    Sections of a document are divided by `and`, documents by semicolons.

    Examples:
        >>> list(references("Plan, 17.2 and 17.4, field 5; RFC 8259, section 2", {"Plan"}))
        [('Plan', '17.2'), ('Plan', '17.4, field 5')]
    """
    known = set(names)
    for piece in clause.split("; "):
        document, _, sections = piece.partition(", ")
        if document in known:
            yield from ((document, section) for section in sections.split(" and "))


_HEAD = """\
# Clauses of {title}

<!-- Made from docs/clauses/{stem}.toml by docs.make.clauses; do not edit. -->

The requirements of the specification in order, with their implementation, or the reason why a
requirement is not implemented. Test paths are relative to the folder `tests` of the repository.
{counts}
"""

_INDEX = """\
# Clauses of the specifications

<!-- Made from docs/clauses/*.toml by docs.make.clauses; do not edit. -->

For each specification, these pages list the rules, metrics, functions and tests that implement each
clause, and the clauses that are not implemented, with the reason. *Planned* clauses belong to tasks
that do not exist yet.

"""


def clause_page(specification: Specification, stem: str) -> str:
    """The page of a specification, in Markdown.

    Args:
        specification: its table.
        stem: the name of the file of the table, without its suffix.
    """
    counts = Counter(clause.status for clause in specification.clauses)
    told = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    head = _HEAD.format(title=specification.title, stem=stem, counts=f"Clauses: {told}.")
    return "\n".join([head, *map(_part, specification.part)])


def index_page(specifications: Mapping[str, Specification]) -> str:
    """The page that leads to all tables, in Markdown.

    Args:
        specifications: the tables by the names of their files, without suffix.
    """
    lines = [
        "| specification | clauses | implemented | partial | planned | not implemented |",
        "|---" * 6 + "|",
    ]
    for stem, specification in specifications.items():
        counts = Counter(clause.status for clause in specification.clauses)
        cells = [str(counts.total()), *(str(counts[status]) for status in STATUSES)]
        lines.append(f"| [{_plain(specification.title)}]({stem}.md) | {' | '.join(cells)} |")
    return _INDEX + "\n".join(lines) + "\n"


def _part(part: Part) -> str:
    lines = [f"## {part.name}\n", f"{part.source}\n"]
    lines += [
        "| clause | requirement, and *interpretation* | implemented by | not "
        "implemented, and why |",
        "|---" * 4 + "|",
    ]
    lines += map(_row, part.clause)
    return "\n".join(lines) + "\n"


def _row(clause: Clause) -> str:
    name = f"{clause.section} {clause.title}" if clause.title else clause.section
    place = f"{name}, {clause.at}" if clause.at else name
    says = _plain(clause.says) + (f" *{_plain(clause.note)}.*" if clause.note else "")
    planned = f"planned: `{clause.planned}`" if clause.planned else _plain(clause.open)
    cells = [_plain(place), says, "<br>".join(_held(clause)), planned]
    return f"| {' | '.join(cells)} |"


def _held(clause: Clause) -> Iterator[str]:
    """What holds a clause, a line a kind."""
    links = [f"[{code}](../codes.md#{code.lower()})" for code in clause.codes]
    parts: Sequence[tuple[str, Iterable[str]]] = (
        ("codes", links),
        ("metrics", map(_code, clause.metrics)),
        ("options", map(_code, clause.options)),
        ("in", map(_code, clause.by)),
        ("tests", map(_code, clause.tests)),
    )
    for kind, listed in parts:
        if named := ", ".join(listed):
            yield f"{kind}: {named}"


def _code(name: str) -> str:
    return f"`{name.replace('|', chr(92) + '|')}`"


def _plain(prose: str) -> str:
    """Prose in a cell, in which code stands between backticks and all else is plain text."""
    parts = prose.replace("|", "\\|").split("`")
    inside = (f"`{part}`" if number % 2 else _escaped(part) for number, part in enumerate(parts))
    return "".join(inside)


def _escaped(text: str) -> str:
    return "".join(f"\\{one}" if one in "*_<>[]" else one for one in text)
