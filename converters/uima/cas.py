"""Feature structures of a CAS as annotations, whatever file they are in: XMI or JSON.

dkpro-cassis, the reader of CAS in Python, has no places of what it reads, raises an exception at
the first error, drops what it does not know, and needs a type system: so files are read here, and
cassis reads and writes beside this in tests.
"""

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
    links = {
        key for key, item in structures.items() if not item.is_annotation and _has_target(item)
    }
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


def _has_target(item: Structure) -> bool:
    return "target" in item.values or "target" in item.references


def read_cas(
    rows: DocumentRows, origin: int, name: str, cas: Cas, report: Report, choice: Choice
) -> None:
    """Add the documents of a file: its views.

    Views with the text of the first one are those of annotators; one with another text is a
    document of its own, named after the file and the view.

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
    chains = _chains(cas.structures)
    for view in views or [first]:
        document, annotator = name, owner
        if view is not first and view.text in {first.text, None}:
            annotator, view.text = "/".join(filter(None, (owner, view.name))), first.text
        elif view is not first:
            document = f"{name}:{view.name}"
        is_new = rows.begin(origin, document, text=view.text, language=language)
        row = rows.tables["documents"][rows.documents[document]]
        text = (
            row["text"] if row.get("text") is not None else view.text
        )  # of the first readable file
        row["text"], row["language"] = text, row.get("language") or language
        if view.text not in {text, None}:
            report(view.record, "UIM204", "sofa", name=document[:_SHOWN])
            continue
        found = list(_annotations(rows, cas, view, chains, report, choice.unit))
        take(rows, None if text is None else str(text), found, choice, annotator, structure=is_new)


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
        link = next(iter(item.references.get("first", ())), None)
        if link is None or item.is_annotation:
            continue
        name = f"chain-{next(numbers)}"
        while link is not None and link in structures and link not in chains:
            chains[link] = name
            link = next(iter(structures[link].references.get("next", ())), None)
    return chains


def _annotations(
    rows: DocumentRows, cas: Cas, view: View, chains: Mapping[str, str], report: Report, unit: str
) -> Iterator[Annotation]:
    """The annotations that a view has, in the order of the file."""
    text = view.text
    plain = text is None or unit == CHARACTERS or text.isascii()
    move = int if plain else UnitText(text or "", unit).character
    indexed: list[Structure] = []
    for key in dict.fromkeys(view.members):
        if key in cas.structures:
            indexed.append(cas.structures[key])
        else:
            report(view.record, "UIM301", "members", what="member", id=key[:_SHOWN])
    for item in sorted(indexed, key=lambda item: item.record):
        if not item.is_annotation:
            continue
        span = _span(rows, item, None if text is None else len(text), report, move)
        if span is not None:
            yield _annotation(cas.structures, item, span, chains, report)


def _span(
    rows: DocumentRows,
    item: Structure,
    size: int | None,
    report: Report,
    move: Callable[[int], int],
) -> tuple[int, int] | None:
    """The span of an annotation in characters; None, with a problem, if it has none."""
    problem: Problem | None = None
    offsets = []
    for name in ("begin", "end"):
        value = item.values.get(name, "0")
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            problem = report(item.record, "UIM202", name, what=name, given=value[:_SHOWN])
            break
        offsets.append(move(int(value)))
    if problem is None and (offsets[0] > offsets[1] or (size is not None and offsets[1] > size)):
        written = {name: item.values.get(name, "0") for name in ("begin", "end")}
        problem = report(item.record, "UIM203", "end", **written)
    if problem is not None:
        text = item.values.get("value", "")
        rejected = problem._replace(record=item.record).rejection("mention", text, id=item.key)
        rows.add("rejected_records", rejected)
        return None
    return offsets[0], offsets[1]


def _annotation(
    structures: Mapping[str, Structure],
    item: Structure,
    span: tuple[int, int],
    chains: Mapping[str, str],
    report: Report,
) -> Annotation:
    """An annotation with its links, or a relation."""
    values = {k: v for k, v in item.values.items() if k not in {"begin", "end", "sofa"}}
    if item.key in chains:
        values.setdefault(IDENTIFIER, chains[item.key])
    found = Annotation(item.key, item.type, *span, item.record, values)
    ends = [next(iter(item.references.get(role, ())), None) for role in ROLES]
    if any(role in item.references for role in ROLES):
        found.ends = (ends[0] or "", ends[1] or "")
        for role, end in zip(ROLES, ends, strict=True):
            if end is None:
                report(item.record, "UIM302", role, role=role)
    for feature, keys in item.references.items():
        for key in keys:
            if key not in structures:
                report(item.record, "UIM301", feature, what=feature, id=key[:_SHOWN])
            elif _has_target(structures[key]) and not structures[key].is_annotation:
                target = next(iter(structures[key].references.get("target", ())), "")
                if target not in structures:
                    values_ = {"what": "target", "id": target[:_SHOWN] or "nothing"}
                    report(structures[key].record, "UIM301", "target", **values_)
                found.links.append((structures[key].values.get("role", ""), target))
    return found
