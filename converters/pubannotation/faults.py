"""The documents of a file of PubAnnotation, and what is wrong with them, each at its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from hlteval.converters.pubannotation.scopes import SECTIONS, compact
from hlteval.findings import Finding, catalogue
from hlteval.syntax.json_parser import JsonFault, Parsed, Path, blanks, parse
from hlteval.syntax.json_places import Places, place_of, shown
from hlteval.syntax.json_schema import KINDS, WANTED, Violation, refused, violations
from hlteval.syntax.json_text import items, one, starts, strict

SCHEMA = "pubannotation"
_TRIED = 5
"""Lines that are looked at to tell whether each is a document."""


@dataclass
class Found:
    """What a file holds.

    Attributes:
        text: the file.
        values: the documents, or what stands in their place.
        faults: what is no JSON, with the document it is in; None where it is in none.
        refused: the documents that cannot be read, each with the code of the reason.
        single: whether the file is one document.
    """

    text: str
    values: list[Any]
    single: bool = False
    faults: list[tuple[int | None, JsonFault]] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    begins: list[int] | None = None

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where each document begins."""
        if self.begins is not None:
            return self.begins
        return [blanks(self.text, 0)[0]] if self.single else starts(self.text)


def file_documents(text: str) -> Found:
    """The documents of a file: of an array, of lines, or a single one."""
    good, value = strict(text.encode())
    if good:
        return Found(text, value) if isinstance(value, list) else Found(text, [value], single=True)
    if not text.strip():
        return Found(text, [])
    if text.lstrip(" \t\r\n").startswith("{") and _are_documents(text):
        return _lines(text)
    return _slowly(text)


def _are_documents(text: str) -> bool:
    """Whether there are lines, and one of the first is a document."""
    listed = [line for line in text.split("\n", _TRIED * 2) if line.strip()]
    tried = (strict(line.encode()) for line in listed[:_TRIED])
    return len(listed) > 1 and any(good and isinstance(value, dict) for good, value in tried)


def _lines(text: str) -> Found:
    """The documents of a file that has one a line."""
    found = Found(text, [], begins=[])
    at = 0
    for line in text.split("\n"):
        if line.strip():
            good, value = strict(line.encode())
            found.starts.append(at + len(line) - len(line.lstrip()))  # type: ignore[attr-defined]
            found.values.append(value)
            if not good:
                _explained(found, one(text[: at + len(line)], found.starts[-1]), at + len(line))
        at += len(line) + 1
    return found


def _explained(found: Found, parsed: Parsed, end: int) -> None:
    """Add what is wrong with the last document, which should end at the end of its line."""
    index = len(found.values) - 1
    faults = list(parsed.faults)
    rest = blanks(found.text, parsed.end)[0] if parsed.complete else end
    if rest < end:
        hint = {"hint": "put one document on each line, and nothing after it"}
        faults.append(JsonFault("JSN107", rest, min(end, rest + 40), hint))
    found.values[-1] = parsed.value
    found.faults += [(index, fault) for fault in faults]
    found.refused[index] = faults[0].code if faults else "JSN101"


def _slowly(text: str) -> Found:
    """The documents of a text that is no faultless JSON."""
    listed = items(text)
    array = text.lstrip(" \t\r\n\ufeff").startswith("[")
    found = Found(text, [one.value for one in listed.parsed], single=not array)
    found.begins = [one.start for one in listed.parsed]
    found.faults = [(None, fault) for fault in listed.faults]
    for index, parsed in enumerate(listed.parsed):
        if parsed.faults or not parsed.complete:
            found.refused[index] = parsed.faults[0].code if parsed.faults else "JSN101"
            found.faults += [(index, fault) for fault in parsed.faults]
    return found


class Faults:
    """What is wrong with the documents of a file, as findings."""

    def __init__(self, found: Found, display: str) -> None:
        self.found, self.display = found, display
        self.places = Places(found.text)
        self.findings: list[Finding] = []
        self.kept: tuple[int, Parsed] | None = None
        self.waiting: list[tuple[tuple[int, int], str, str, Mapping[str, object]]] = []
        for index, fault in found.faults:
            self.add(fault.code, (fault.start, fault.end), self.way(index, ()), fault.values)
        if not found.values and not found.faults:
            self.add("PUB101", (0, 0), "$", {})
        self.violating = {
            index for index in refused(SCHEMA, found.values) if index not in found.refused
        }

    def way(self, index: int | None, path: Path) -> str:
        """A path in the file, as people write it."""
        return shown(path if index is None or self.found.single else (index, *path))

    def add(self, code: str, at: tuple[int, int], path: str, values: Mapping[str, object]) -> None:
        """Add a finding about a stretch of the file."""
        span = self.places.span(*at)
        self.findings.append(
            catalogue()[code].finding(
                {"path": path, **values},
                file=self.display,
                span=span,
                excerpt=self.places.excerpt(span),
                record=path,
            )
        )

    def parsed(self, index: int) -> Parsed:
        """A document with the places of its parts."""
        if self.kept is None or self.kept[0] != index:
            self.kept = (index, parse(self.found.text, self.found.starts[index]))
        return self.kept[1]

    def tell(self, index: int, code: str, path: Path, **values: object) -> None:
        """Keep what is wrong with a part of a document, until all of it is known."""
        at = place_of(self.found.text, self.parsed(index), path)
        self.waiting.append((at, code, self.way(index, path), values))

    def settle(self) -> None:
        """Add what was kept, in the order of its places: going back costs a look from the first."""
        for at, code, path, values in sorted(self.waiting, key=lambda one: one[0]):
            self.add(code, at, path, values)
        self.waiting.clear()

    def broken(self, index: int) -> set[Path]:
        """Tell how a document breaks the schema; the ways to the items that cannot be taken."""
        bad: set[Path] = set()
        if index in self.violating:
            for violation in violations(SCHEMA, "document", self.found.values[index]):
                code, values = _explanation(violation)
                self.tell(index, code, violation.path, **values)
                bad.update(_item(violation.path))
        return bad

    def refusal(self, index: int) -> tuple[object, ...]:
        """A document that cannot be taken, as the end of a row of the table `rejected_records`."""
        code = self.found.refused.get(index)
        if code is None:
            code = "PUB104"
            for violation in violations(SCHEMA, "document", self.found.values[index]):
                self.tell(index, code, (), **_explanation(violation)[1])
            self.settle()
        start = self.found.starts[index]
        text = self.found.text[start : start + 1000].partition("\n")[0]
        column = self.places.span(start, start).column
        return (code, "document", None, None, text, column, column + len(text), "a document")


def _item(path: Path) -> Iterator[Path]:
    """The way to the item that a path leads into, if it leads into one."""
    for at, (step, after) in enumerate(pairwise(path)):
        if step in SECTIONS and isinstance(after, int):
            yield path[: at + 2]
            return


def _explanation(violation: Violation) -> tuple[str, dict[str, object]]:
    """The code of a violation and what its message says."""
    keyword, wanted, given = violation.keyword, violation.wanted, violation.given
    if keyword == "required":
        missing = [name for name in wanted if name not in given]
        flat = "span" in missing and "begin" in given
        hint = 'write "span": {"begin": …, "end": …}' if flat else "add it"
        return "PUB103", {"missing": ", ".join(missing), "hint": hint}
    if keyword == "anyOf":
        return "PUB105", {"given": compact(given)[:60]}
    if keyword == "type":
        listed = wanted if isinstance(wanted, list) else [wanted]
        told = " or ".join(WANTED.get(one, str(one)) for one in listed)
        return "PUB104", {"given": KINDS.get(type(given), "something else"), "wanted": told}
    told = " or ".join(map(str, wanted)) if isinstance(wanted, list) else f"{keyword} {wanted}"
    return "PUB104", {"given": str(given)[:60], "wanted": told}
