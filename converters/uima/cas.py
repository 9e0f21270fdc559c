"""Feature structures of a CAS as annotations, whatever file they are in: XMI or JSON.

dkpro-cassis, the reader of CAS in Python, has no places of what it reads, raises an exception at
the first error, drops what it does not know, and needs a type system: so files are read here, and
cassis reads and writes beside this in tests.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from hlteval.converters.toolkit.offsets import CHARACTERS, UnitText
from hlteval.converters.toolkit.rows import DocumentRows
from hlteval.converters.uima.layers import (
    IDENTIFIER,
    LABELS,
    OWN,
    ROLES,
    Annotation,
    Choice,
    annotator_of,
    take,
)
from hlteval.converters.uima.types import Types
from hlteval.findings import Problem

#: The name of the first view.
INITIAL = "_InitialView"
#: Features that refer to structures in files that do not say so.
_REFERENCES = frozenset(
    (*ROLES, "target", "first", "next", "pos", "lemma", "stem", "morph", "morphTag")
)
#: Features that every annotation has, and that of arrays.
_PLACE = frozenset(("begin", "end", "sofa", "elements"))
_OFFSET = re.compile("[0-9]{1,9}")
#: Most characters of a value in a message.
_SHOWN = 40


@dataclass(slots=True)
class Structure:
    """A feature structure.

    Attributes:
        key: its identifier in the file.
        type: the name of its type.
        record: its number in the file.
        values: its features that are written as text.
        references: the keys that its other features refer to.
    """

    key: str
    type: str
    record: int
    values: dict[str, str] = field(default_factory=dict)
    references: dict[str, Sequence[str]] = field(default_factory=dict)

    @property
    def is_annotation(self) -> bool:
        """Whether it has a span."""
        return "begin" in self.values or "end" in self.values

    @property
    def is_link(self) -> bool:
        """Whether it has a target, and no span."""
        return not self.is_annotation and ("target" in self.values or "target" in self.references)

    def reference(self, feature: str) -> str:
        """The first key that a feature refers to; empty for none."""
        return next(iter(self.references.get(feature, ())), "")


@dataclass(slots=True)
class View:
    """A text with the structures that are indexed for it."""

    name: str
    text: str | None
    members: Sequence[str] = ()
    record: int = 0


@dataclass(slots=True)
class Cas:
    """A file: its structures by their keys, its views, and the types that it declares."""

    structures: dict[str, Structure]
    views: list[View]
    types: Types

    @property
    def language(self) -> str | None:
        """The language of the document annotation, unless it is unknown."""
        for item in self.structures.values():
            language = item.values.get("language")
            if language and item.is_annotation and language != "x-unspecified":
                return language
        return None


#: Reports a problem of a record: its number, the code, the field and the values.
Report = Callable[..., Problem]


def resolve(structures: Mapping[str, Structure], types: Types) -> None:
    """Find the references among features that are all written as text.

    Types say which they are. Features that no type declares refer to structures if they have the
    usual names, or are lists of links: of structures without a span and with a target; also empty
    ones.

    Args:
        structures: those of a file, which are changed.
        types: as far as they are known.
    """
    ranges = {name: types.features(name) for name in {item.type for item in structures.values()}}
    links = {key for key, item in structures.items() if item.is_link}
    arrays = {
        key: item.values["elements"].split()
        for key, item in structures.items()
        if "elements" in item.values and item.type.endswith("FSArray")
    }
    for item in structures.values():
        for feature in [name for name in item.values if name not in _PLACE]:
            range_ = ranges[item.type].get(feature)
            if range_ is not None and not types.is_reference(range_):
                continue
            keys = item.values[feature].split()
            linked = range_ is None and bool(keys) and links.issuperset(keys)
            linked = linked or (range_ is None and len(keys) == 1 and keys[0] in arrays)
            empty = not item.values[feature] and feature not in OWN and feature not in LABELS
            if range_ is not None or feature in _REFERENCES or linked or empty:
                item.references[feature] = keys
                del item.values[feature]
    take_arrays(structures, arrays)


def take_arrays(structures: Mapping[str, Structure], arrays: Mapping[str, Sequence[str]]) -> None:
    """Put what arrays refer to where a feature refers to an array.

    Args:
        structures: those of a file, which are changed.
        arrays: the keys in arrays, by the keys of these. One may be that of many features, but not
            of so many that all refer to far more than the file has.
    """
    left = 1000 + 10 * len(structures)
    for item in structures.values():
        for feature, keys in item.references.items():
            if len(keys) == 1 and keys[0] in arrays:
                listed = arrays[keys[0]][:left]
                item.references[feature] = listed
                left -= len(listed)


def read_cas(
    rows: DocumentRows, origin: int, name: str, cas: Cas, report: Report, choice: Choice
) -> None:
    """Add the documents of a file: its views.

    Views with the text of the first one are those of annotators, and so is the first one if others
    have annotations, too; one with another text is a document of its own, named after the file and
    the view.

    Args:
        rows: those of the batch.
        origin: row of the file.
        name: the document of the file.
        cas: what is in the file.
        report: reports a problem, and gives it.
        choice: what is read of it.
    """
    declared = cas.types.supertypes.keys()
    for layer in {item.type for item in cas.structures.values()} & declared:
        choice.see(layer, cas.types.values(layer))
    member = rows.files.members[origin]
    views = [view for view in cas.views if view.text is not None or view.members]
    if not any(view.text is not None for view in views):
        report(0, "UIM201")
    views.sort(key=lambda view: (view.text is None, view.name != INITIAL))
    _report_unindexed(cas, views, report, choice)
    language = cas.language
    first = views[0] if views else View(INITIAL, None)
    owner = annotator_of(member)
    reader = _Reader(rows, cas.structures, _chains(cas.structures), report)
    spans = {key for key, item in cas.structures.items() if choice.takes(item.type)}
    same = [view for view in views if view.text in {first.text, None}]
    several = sum(not spans.isdisjoint(view.members) for view in same) > 1
    for view in views or [first]:
        document, annotator = name, owner
        if view.text in {first.text, None} and (several or view is not first):
            annotator, view.text = "/".join(filter(None, (owner, view.name))), first.text
        elif view is not first:
            document = f"{name}:{view.name}"
        found = reader.annotations(view, choice.unit)
        if not take(rows, origin, document, view.text, found, choice, annotator, language):
            report(view.record, "UIM204", "sofa", name=document[:_SHOWN])


def _report_unindexed(cas: Cas, views: Iterable[View], report: Report, choice: Choice) -> None:
    """Report once how many spans of chosen layers no view has."""
    indexed = {key for view in views for key in view.members}
    lost = [
        item
        for key, item in cas.structures.items()
        if key not in indexed and item.is_annotation and choice.takes(item.type)
    ]
    if lost:
        report(lost[0].record, "UIM303", count=len(lost))


def _chains(structures: Mapping[str, Structure]) -> dict[str, str]:
    """The names of the chains by the keys of their links: chain-1 and so on."""
    chains: dict[str, str] = {}
    numbers = count(1)
    for item in structures.values():
        link = item.reference("first")
        if not link or item.is_annotation:
            continue
        name = f"chain-{next(numbers)}"
        while link in structures and link not in chains:
            chains[link] = name
            link = structures[link].reference("next")
    return chains


@dataclass(slots=True)
class _Reader:
    """Makes annotations of the structures of a file.

    Attributes:
        rows: those of the batch.
        structures: those of the file.
        chains: the names of chains by the keys of their links.
        report: reports a problem, and gives it.
    """

    rows: DocumentRows
    structures: Mapping[str, Structure]
    chains: Mapping[str, str]
    report: Report

    def annotations(self, view: View, unit: str) -> Iterator[Annotation]:
        """The annotations that a view has, in the order of the file."""
        text = view.text
        plain = text is None or unit == CHARACTERS or text.isascii()
        move = int if plain else UnitText(text or "", unit).character
        indexed: list[Structure] = []
        for key in dict.fromkeys(view.members):
            if key in self.structures:
                indexed.append(self.structures[key])
            else:
                self.report(view.record, "UIM301", "members", what="member", id=key[:_SHOWN])
        for item in sorted(indexed, key=lambda item: item.record):
            span = self.span(item, text, move) if item.is_annotation else None
            if span is not None:
                yield self.annotation(item, span)

    def span(
        self, item: Structure, text: str | None, move: Callable[[int], int]
    ) -> tuple[int, int] | None:
        """The span of an annotation in characters; None, with a problem, if it has none."""
        written = {name: item.values.get(name, "0") for name in ("begin", "end")}
        odd = next((name for name in written if not _OFFSET.fullmatch(written[name])), None)
        if odd is None:
            start, end = (move(int(value)) for value in written.values())
            if start <= end and (text is None or end <= len(text)):
                return start, end
            problem = self.report(item.record, "UIM203", "end", **written)
        else:
            given = written[odd][:_SHOWN]
            problem = self.report(item.record, "UIM202", odd, what=odd, given=given)
        problem = problem._replace(record=item.record)
        rejected = problem.rejection("mention", item.values.get("value", ""), id=item.key)
        self.rows.add("rejected_records", rejected)
        return None

    def annotation(self, item: Structure, span: tuple[int, int]) -> Annotation:
        """An annotation with its links, or a relation."""
        values = {k: v for k, v in item.values.items() if k not in {"begin", "end", "sofa"}}
        if item.key in self.chains:
            values.setdefault(IDENTIFIER, self.chains[item.key])
        found = Annotation(item.key, item.type, *span, item.record, values)
        source, target = (item.reference(role) for role in ROLES)
        if not item.references.keys().isdisjoint(ROLES):
            found.ends = source, target
            for role, end in zip(ROLES, found.ends, strict=True):
                if not end:
                    self.report(item.record, "UIM302", role, role=role)
        for feature, keys in item.references.items():
            for key in keys:
                if key not in self.structures:
                    self.report(item.record, "UIM301", feature, what=feature, id=key[:_SHOWN])
                elif (link := self.structures[key]).is_link:
                    end = link.reference("target")
                    if end not in self.structures:
                        own = {"what": "target", "id": end[:_SHOWN] or "nothing"}
                        self.report(link.record, "UIM301", "target", **own)
                    found.links.append((link.values.get("role", ""), end))
        return found
