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

A finding that represents further problems is divided: those of its problems are left out that
follow from another finding. Any record may be among the problems of a code that are only counted.

What is left out still counts: if it blocks, the finding that it follows from blocks. Only what
follows from a reference is not a problem of the submission: a record of a reference that cannot be
read may be any that a submission of the same document needs.

A code names the codes from which it follows (`suppressed_by`, `hides`); `findings/cascades.py`
leaves such findings out, in one place for all tasks.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

import msgspec

from hlteval.findings.catalogue import Entry, entry, values
from hlteval.findings.finding import SUBMISSION, Finding
from hlteval.findings.sequence import lists_by_key, part

_TOKEN = re.compile(r"[\w-]+")

#: Placeholder of the identifiers of a file that cannot be read.
_ANY = "*"

#: The codes and sides from which a finding follows, `_ANY` for that of its file.
Causes = tuple[tuple[str, str], ...]
_NONE: Causes = ()

#: Records, lines, or lines with columns, of a file; None for all of it.
At = int | str | tuple[int, int] | None
Places = tuple[At, ...]
#: Side, file, and one of these.
Place = tuple[str, str | None, At]


class Cascades(NamedTuple):
    """Findings, by what they follow from.

    Attributes:
        kept: those that follow from no other one.
        of_reference: those that follow only from findings about a reference, not left out alone.
    """

    kept: list[Finding]
    of_reference: list[Finding]


def cascades(
    findings: Iterable[Finding], paths: Mapping[str, str], kept: Collection[str] = ()
) -> Cascades:
    """Divide findings by whether they follow from another finding, or only from the reference.

    Args:
        findings: the findings of a run.
        paths: the path of each side.
        kept: codes that are never left out, and that hide nothing.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> at = {"file": "d.a2", "span": Span(1, 4, 9), "record": "E1", "label": "Binding"}
        >>> role = finding("SEE201", role="agent", hint="did you mean Agent?", **at)
        >>> missing = finding("SEE203", roles="Agent or Process", **at)
        >>> [item.code for item in cascades([role, missing], {}).kept]
        ['SEE201']
    """
    roots = _Roots(list(findings), paths, kept)
    if not (roots.codes_of_roots or roots.hidden):
        return Cascades(roots.findings, [])
    parts = [
        part
        for item in roots.findings
        for part in ([(item, _NONE)] if item.code in kept else roots.parts(item))
    ]
    blocking: set[tuple[str, str, str]] = set()
    for item, causes in parts:
        if item.blocking and causes:
            names = [_document(item)]
            if entry(item.code).suppressed_in == "document":
                names = [*item.further.names] if item.further else [_missing_identifier(item)]
            blocking |= {(*cause, name.lower()) for cause in causes for name in names}
    remaining = [
        msgspec.structs.replace(item, blocking=True)
        if not item.blocking and (item.code, item.side, _document(item).lower()) in blocking
        else item
        for item, causes in parts
        if not causes
    ]
    of_reference = [
        item for item, causes in parts if causes and all(side != item.side for _, side in causes)
    ]
    return Cascades(remaining, of_reference)


class _Roots:
    """The findings from which others may follow."""

    def __init__(
        self, findings: list[Finding], paths: Mapping[str, str], kept: Collection[str]
    ) -> None:
        self.findings, self.paths = findings, paths
        self.codes = sorted({finding.code for finding in findings})
        self.sides = sorted({finding.side for finding in findings})
        self.hidden: set[tuple[str, str | None]] = set()
        self.places: defaultdict[str, set[Place]] = defaultdict(set)
        self.files: defaultdict[str, set[tuple[str, str | None]]] = defaultdict(set)
        self.documents: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self.identifiers: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        self.mentions: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        self.codes_of_roots = {root for code in self.codes for root in self._codes(entry(code))}
        for finding in findings:
            if entry(finding.code).hides and finding.code not in kept:
                self.hidden.add((finding.side, finding.file))
            if finding.code in self.codes_of_roots:
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
        if further is None or not any(self._codes(entry(finding.code))):
            yield finding, self._causes(finding, () if further else _places(finding))
            return
        problems = enumerate(zip_longest(further.places, further.names))
        groups = lists_by_key((self._causes(finding, (at,), name), n) for n, (at, name) in problems)
        for causes, numbers in groups.items():
            yield part(finding, numbers), causes

    def _causes(self, finding: Finding, places: Places, name: str | None = None) -> Causes:
        """The causes of a finding, or of its problem at some places."""
        declared, own = entry(finding.code), finding.side
        hiding = {(own, finding.file), (own, self.paths.get(own, finding.file))}
        if not declared.hides and not hiding.isdisjoint(self.hidden):
            return ((_ANY, own),)
        return tuple(
            (code, side)
            for code in self._codes(declared)
            if code != finding.code
            for side in self.sides
            if (side == own or side != SUBMISSION)
            and self._follows(finding, code, side, places, name)
        )

    def _follows(
        self, finding: Finding, code: str, side: str, places: Places, name: str | None
    ) -> bool:
        """Whether a finding follows from one of a code on its own side, or on another one."""
        declared, other, file = entry(finding.code), side != finding.side, finding.file
        key = code, side, _document(finding)
        if declared.suppressed_in in {"submission", "reference"}:
            meant = other == (declared.suppressed_in == "reference")
            return meant and any(place[0] == side for place in self.files[code])
        if declared.suppressed_in == "document":
            document = side, _missing_identifier(finding, name).lower()
            concerned = (side, self.paths.get(side)) in self.files[code]
            return not other and (concerned or document in self.documents[code])
        if declared.unresolved and other:
            return key in self.identifiers
        if declared.unresolved or declared.unreferenced:
            known = self.identifiers if declared.unresolved else self.mentions
            missing = _missing_identifier(finding, name).lower()
            return key in known and not known[key].isdisjoint((missing, _ANY))
        if declared.suppressed_in == "file":
            return not other and (side, file) in self.files[code]
        at_code = self.places[code]
        return not other and any((side, file, place) in at_code for place in (*places, None))


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


def _places(finding: Finding) -> Places:
    """The record or the line of a finding, and its line and column; None for a whole file.

    In JSON, all may be on one line, and records of rules have no paths, but identifiers.
    """
    if finding.span is None:
        return (None,)
    is_path = finding.record and finding.record.startswith("$")
    place = finding.record if is_path else finding.span.line
    return place, (finding.span.line, finding.span.column)


def _missing_identifier(finding: Finding, name: str | None = None) -> str:
    """The identifier that a finding misses, or that others may mention; its name if it is known."""
    if name is not None:
        return name
    declared = entry(finding.code)
    template = declared.unresolved or declared.unreferenced
    return template.format_map(values(finding))


def _document(finding: Finding) -> str:
    """The name of the file without folder and suffixes."""
    return (finding.file or "").rpartition("/")[2].partition(".")[0]
