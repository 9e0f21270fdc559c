"""Tables of clauses: the requirements of a specification and their implementation.

The data of a table is next to its page in docs/clauses/. tests/unit/docs/test_clauses.py checks
that all codes, metrics, functions and tests in a table exist, and that every code and metric of a
task is in its table.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

Status = Literal["implemented", "partial", "planned", "not implemented"]
STATUSES: tuple[Status, ...] = ("implemented", "partial", "planned", "not implemented")


class Clause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A requirement or definition of a specification.

    Attributes:
        section: number or name of its section, as printed in the specification.
        title: name of a numbered section, at the first of its clauses.
        at: part of the section, for codes that are more specific than a section.
        says: the requirement in one line, in our words.
        codes: codes of the findings that report a violation.
        metrics: its metrics, as a task and the name of a metric, in which `*` matches anything.
        options: options that change the behaviour, as a task and the name of an option.
        by: functions that implement it, as `module:name`.
        tests: tests that check it, as a path below tests/ and the name of a function.
        note: the interpretation of an ambiguous or contradictory clause.
        open: the part that is not implemented, and why.
        planned: the task that will implement it.
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
        """The status of its implementation.

        Examples:
            >>> Clause(section="1", says="Frames have a type.", codes=("SFJ202",)).status
            'implemented'
        """
        if self.planned:
            return "planned"
        if not any((self.codes, self.metrics, self.by, self.tests)):
            return "not implemented"
        return "partial" if self.open else "implemented"

    @property
    def place(self) -> str:
        """The section, and the part of it."""
        return f"{self.section}, {self.at}" if self.at else self.section


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document, or a part of a document that codes and metrics refer to by name.

    Attributes:
        name: name of the document in the clauses of codes and metrics.
        word: the word before the section in these clauses.
        source: the full reference of the document.
        clause: the clauses, in order.
    """

    name: str
    source: str
    word: str = ""
    clause: tuple[Clause, ...] = ()

    def reference(self, clause: Clause) -> str:
        """The reference to a clause in codes and metrics, after the name of the document."""
        return f"{self.word}{clause.place}"


class Specification(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A specification, which consists of one or several documents."""

    title: str
    part: tuple[Part, ...]

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses of all parts."""
        return tuple(clause for part in self.part for clause in part.clause)


def load(path: Path) -> Specification:
    """Read a specification from its file.

    Raises:
        msgspec.ValidationError: if the file has an unknown key or a value of a wrong type.
    """
    return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Specification)


def references(clause: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The documents and sections in the clause of a code or metric, for some documents only.

    The sections of a document are separated by `and`, documents by semicolons.

    Args:
        clause: the clause of a code or metric.
        names: the names of the documents.

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
    """The page of a specification in Markdown.

    Args:
        specification: the specification.
        stem: name of its file without suffix.
    """
    counts = Counter(clause.status for clause in specification.clauses)
    summary = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    head = _HEAD.format(title=specification.title, stem=stem, counts=f"Clauses: {summary}.")
    return "\n".join([head, *map(_part, specification.part)])


def index_page(specifications: Mapping[str, Specification]) -> str:
    """The index of all specifications in Markdown.

    Args:
        specifications: the specifications by name of their file without suffix.
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
    cells = [_plain(place), says, "<br>".join(_implementation(clause)), planned]
    return f"| {' | '.join(cells)} |"


def _implementation(clause: Clause) -> Iterator[str]:
    """The implementation of a clause, one line per kind."""
    kinds: Sequence[tuple[str, Iterable[str]]] = (
        ("codes", (f"[{code}](../codes.md#{code.lower()})" for code in clause.codes)),
        ("metrics", map(_code, clause.metrics)),
        ("options", map(_code, clause.options)),
        ("in", map(_code, clause.by)),
        ("tests", map(_code, clause.tests)),
    )
    for kind, names in kinds:
        if text := ", ".join(names):
            yield f"{kind}: {text}"


def _code(name: str) -> str:
    return f"`{name.replace('|', chr(92) + '|')}`"


def _plain(prose: str) -> str:
    """Prose in a cell: code in backticks, all other text without markup."""
    parts = prose.replace("|", "\\|").split("`")
    return "".join(
        f"`{part}`" if number % 2 else re.sub(r"([*_<>\[\]])", r"\\\1", part)
        for number, part in enumerate(parts)
    )
