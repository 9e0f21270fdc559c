"""Cascades: findings that only follow from another finding, which are left out.

The entries of the catalogue declare which findings they follow from (`suppressed_by`), and where:

- by default at the same record, or in a file that the other finding is about as a whole;
- with `suppressed_in = "file"`, anywhere in the same file, with `"submission"` in any file;
- with `suppressed_in = "document"`, about the submission as a whole, or about a file with the name
  of the document that is `unresolved`;
- with `unresolved`, where a record of the document that cannot be read has the missing identifier;
- with `unreferenced`, where such a record mentions the identifier;
- with `suppressed_in = "reference"`, anywhere in what the submission is checked against.

An entry that `hides` its file makes all other findings of the file pointless; if the file is the
submission, those of the submission.

A finding that stands for further problems is divided: those of its problems are left out that
follow from another finding. Any record may be among the problems of a code that are only counted.

What is left out still counts: if it blocks, the finding that it follows from blocks. Only what
follows from a reference is not a problem of the submission: a record of a reference that cannot be
read may be any that a submission of the same document needs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from hlteval.findings.catalogue import Entry, entry, values
from hlteval.findings.finding import SUBMISSION, Finding
from hlteval.findings.sequence import part

_TOKEN = re.compile(r"[\w-]+")

_ANY = "*"
"""Placeholder of the identifiers of a file that cannot be read."""

Causes = tuple[tuple[str, str], ...]
"""The codes and sides from which a finding follows, `_ANY` for that of its file."""
_NONE: Causes = ()

Place = tuple[str, str | None, int | str | None]
"""Side, file, and record or line; None for all of the file."""


def without_cascades(
    findings: Iterable[Finding],
    paths: Mapping[str, str] = MappingProxyType({}),
    kept: Collection[str] = (),
) -> list[Finding]:
    """The findings without those that follow from another one.

    Args:
        findings: the findings of a run.
        paths: the path of each side.
        kept: codes that are never left out, and that hide nothing.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> at = {"file": "d.a2", "span": Span(1, 4, 9), "record": "E1", "label": "Binding"}
        >>> role = finding("SEE201", role="agent", hint="did you mean Agent?", **at)
        >>> missing = finding("SEE203", roles="Agent or Process", **at)
        >>> [item.code for item in without_cascades([role, missing])]
        ['SEE201']
    """
    return cascades(findings, paths, kept).kept


class Cascades(NamedTuple):
    """Findings, by what they follow from.

    Attributes:
        kept: those that follow from no other one.
        of_reference: those that follow only from findings about a reference, not left out alone.
    """

    kept: list[Finding]
    of_reference: list[Finding]


def cascades(
    findings: Iterable[Finding],
    paths: Mapping[str, str] = MappingProxyType({}),
    kept: Collection[str] = (),
) -> Cascades:
    """What `without_cascades` keeps, and what follows from the reference; the arguments are its."""
    roots = _Roots(list(findings), paths, kept)
    parts = [
        part
        for item in roots.findings
        for part in ([(item, _NONE)] if item.code in kept else roots.parts(item))
    ]
    listed = [item for item, _ in parts]
    causes = {id(item): found for item, found in parts}
    blocking = {
        (code, side, document)
        for item in listed
        if item.blocking
        for code, side in causes[id(item)]
        for document in _documents(item)
    }
    remaining = [
        _blocking(item) if (item.code, item.side, _document(item).lower()) in blocking else item
        for item in listed
        if not causes[id(item)]
    ]
    other = [
        item
        for item in listed
        if (found := causes[id(item)]) and all(side != item.side for _, side in found)
    ]
    return Cascades(remaining, other)


class _Roots:
    """The findings from which others may follow."""

    def __init__(
        self, findings: list[Finding], paths: Mapping[str, str], kept: Collection[str]
    ) -> None:
        self.findings, self.paths = findings, paths
        self.codes = sorted({finding.code for finding in findings})
        wanted = {root for code in self.codes for root in self._codes(entry(code))}
        self.hidden: set[tuple[str, str | None]] = set()
        self.places: defaultdict[str, set[Place]] = defaultdict(set)
        self.files: defaultdict[str, set[tuple[str, str | None]]] = defaultdict(set)
        self.documents: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self.sides = sorted({finding.side for finding in findings})
        self.identifiers: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        self.mentions: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        for finding in findings:
            if entry(finding.code).hides and finding.code not in kept:
                self.hidden.add((finding.side, finding.file))
            if finding.code in wanted:
                self._add(finding)

    def _codes(self, declared: Entry) -> Iterator[str]:
        """The codes among the findings from which an entry follows."""
        return (code for code in self.codes if code.startswith(declared.suppressed_by or "-"))

    def _add(self, finding: Finding) -> None:
        code, side, file = finding.code, finding.side, finding.file
        places = finding.further.places if finding.further else _places(finding)
        self.places[code].update((side, file, place) for place in places)
        self.files[code].add((side, file))
        self.documents[code].add((side, _document(finding).lower()))
        tokens = _TOKEN.findall(finding.excerpt.text.lower()) if finding.excerpt else []
        first = tokens[:1] if finding.excerpt and not finding.excerpt.offset else []
        identifier = [finding.record.lower()] if finding.record else []
        identifier += [_ANY] if entry(code).hides or finding.further else []
        key = code, side, _document(finding)
        self.identifiers[key].update(_with_stems([*first, *identifier]))
        self.mentions[key].update(_with_stems([*tokens, *identifier]))

    def parts(self, finding: Finding) -> Iterator[tuple[Finding, Causes]]:
        """A finding with what it follows from; of further problems, those with the same causes."""
        further = finding.further
        if further is None:
            yield finding, self.of(finding, tuple(_places(finding)))
            return
        if not any(self._codes(entry(finding.code))):
            yield finding, self.of(finding, ())
            return
        groups: defaultdict[Causes, list[int]] = defaultdict(list)
        for number, place in enumerate(further.places):
            name = further.names[number] if further.names else None
            groups[self.of(finding, (place,), name)].append(number)
        for causes, numbers in groups.items():
            yield part(finding, numbers), causes

    def of(
        self, finding: Finding, places: tuple[int | str | None, ...], name: str | None = None
    ) -> Causes:
        """What a finding, or the problem of it at some places, follows from."""
        declared = entry(finding.code)
        if not declared.hides and self._hide(finding):
            return ((_ANY, finding.side),)
        codes = (code for code in self._codes(declared) if code != finding.code)
        sides = [side for side in self.sides if side == finding.side or side != SUBMISSION]
        return tuple(
            (code, side)
            for code in codes
            for side in sides
            if self._follows(finding, declared, code, side, places, name)
        )

    def _hide(self, finding: Finding) -> bool:
        """Whether its file, or all of its side, could not be read."""
        side = finding.side
        own = self.paths.get(side)
        return (side, finding.file) in self.hidden or (
            own is not None and (side, own) in self.hidden
        )

    def _follows(
        self,
        finding: Finding,
        declared: Entry,
        code: str,
        side: str,
        own: tuple[int | str | None, ...],
        name: str | None,
    ) -> bool:
        """Whether a finding follows from one of a code on its own side, or on another one."""
        other, file = side != finding.side, finding.file
        key = code, side, _document(finding)
        if declared.suppressed_in in {"submission", "reference"}:
            meant = other == (declared.suppressed_in == "reference")
            return meant and any(place[0] == side for place in self.files[code])
        if declared.suppressed_in == "document":
            return not other and self._is_about(code, side, _unresolved(finding, name))
        if declared.unresolved and other:
            return key in self.identifiers
        if declared.unresolved or declared.unreferenced:
            known = self.identifiers if declared.unresolved else self.mentions
            missing = _unresolved(finding, name).lower()
            return key in known and not known[key].isdisjoint((missing, _ANY))
        if declared.suppressed_in == "file":
            return not other and (side, file) in self.files[code]
        places = self.places[code]
        return not other and any((side, file, place) in places for place in (*own, None))

    def _is_about(self, code: str, side: str, document: str) -> bool:
        """Whether a code is about a document, or about its side as a whole."""
        whole = (side, self.paths.get(side)) in self.files[code]
        return whole or (side, document.lower()) in self.documents[code]


def _blocking(finding: Finding) -> Finding:
    return finding if finding.blocking else msgspec.structs.replace(finding, blocking=True)


def _with_stems(tokens: Iterable[str]) -> Iterator[str]:
    """Identifiers, and what is before each of their hyphens: `m1` of `m1-2`.

    Looked up, not searched: many findings may ask about many records of one document.

    Examples:
        >>> sorted(_with_stems(["d1-m2-x"]))
        ['d1', 'd1-m2', 'd1-m2-x']
    """
    for token in tokens:
        yield token
        yield from (token[: match.start()] for match in re.finditer("-", token))


def _places(finding: Finding) -> Iterator[int | str | None]:
    """The record and the line of a finding; None if it is about a whole file."""
    if finding.span is None:
        yield None
        return
    if finding.record and finding.record.startswith("$"):  # JSON: all may be on one line
        yield finding.record
    else:
        yield finding.span.line


def _unresolved(finding: Finding, name: str | None = None) -> str:
    """The identifier that a finding misses, or that others may mention; its name if it is known."""
    if name is not None:
        return name
    declared = entry(finding.code)
    template = declared.unresolved or declared.unreferenced
    return template.format_map(values(finding))


def _documents(finding: Finding) -> Iterator[str]:
    """The documents that a finding is about, in small letters: that of its file, or the missing."""
    if entry(finding.code).suppressed_in != "document":
        yield _document(finding).lower()
    elif finding.further:
        yield from (name.lower() for name in finding.further.names)
    else:
        yield _unresolved(finding).lower()


def _document(finding: Finding) -> str:
    """The name of the file without folder and suffixes."""
    return (finding.file or "").rpartition("/")[2].partition(".")[0]
