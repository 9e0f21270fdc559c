"""Annotations in JSON: the documents of a corpus as formats of annotation tools write them."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.toolkit.json_documents import Item, compact
from hlteval.converters.toolkit.spans import ROLES, count_roles, two_arguments
from hlteval.representation import Corpus, annotators_by_document, are_distinct
from hlteval.representation.corpus import document_slices
from hlteval.syntax.json_text import strict

_KEY = ("document", "origin", "record")
_LARGEST = 10**15 - 1
#: Rows whose documents are made at a time.
_ROWS = 50_000
_NUMBER = re.compile(r"\[[0-9]+\]")
_ENTRY = re.compile(r"(.*)\[([1-9][0-9]{0,8})\]")


class Mention(NamedTuple):
    """A mention that is written.

    Attributes:
        number: its number in its document, from 1.
        name: its identifier.
        members: what only its format has.
    """

    number: int
    name: str
    label: str
    start: int
    end: int
    text: str | None
    entity: str | None
    confidence: float | None
    annotator: str | None
    members: Item

    @property
    def own_name(self) -> str | None:
        """Its identifier, unless that is its number."""
        return None if self.name == f"T{self.number}" else self.name


class Relation(NamedTuple):
    """A relation of two mentions, with what only its format has."""

    name: str | None
    label: str
    ends: tuple[Mention, Mention]
    annotator: str | None
    members: Item


class Label(NamedTuple):
    """A label of a document, with its score and what only its format has."""

    label: str
    score: float | None
    annotator: str | None
    members: Item


@dataclass(slots=True)
class Document:
    """A document that is written.

    Attributes:
        row: its row.
        name: its name.
        text: its text.
        members: what only its format has, by element: of itself under `$`.
        annotators: those who have completed an annotation, which may be empty.
        others: the rows of other tables that the format asked for.
    """

    row: int
    name: str
    text: str | None
    members: dict[str, Item] = field(default_factory=lambda: defaultdict(dict))
    annotators: list[str] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    others: dict[str, list[Item]] = field(default_factory=dict)

    def entries(self, element: str) -> dict[int, Item]:
        """The members of all elements of a name with a number, by that and in its order."""
        found = ((_ENTRY.fullmatch(name), members) for name, members in self.members.items())
        own = {int(at[2]): members for at, members in found if at and at[1] == element}
        return dict(sorted(own.items()))

    def by_annotator(self) -> dict[str | None, "Document"]:
        """The document of each annotator, with their annotations."""
        found: dict[str | None, Document] = defaultdict(
            lambda: replace(self, mentions=[], relations=[], labels=[])
        )
        for name in ("mentions", "relations", "labels"):
            for each in getattr(self, name):
                getattr(found[each.annotator], name).append(each)
        found |= {by: found[by] for by in self.annotators}
        return found


def documents(
    corpus: Corpus, elements: Mapping[str, str], *others: str, apart: bool = False
) -> Iterator[Document]:
    """The documents of a batch.

    Args:
        corpus: the batch.
        elements: the elements of attributes that the items of tables have, by table.
        others: further tables whose rows are given.
        apart: whether what annotators have is apart, so that a relation is that of its mentions.
    """
    names = corpus.documents["name"]
    parts = document_slices(corpus, _ROWS) if are_distinct(names) else iter([corpus])
    for part in parts:  # objects of rows take many times their memory
        yield from _documents(part, elements, others, apart=apart)


def _documents(
    corpus: Corpus, elements: Mapping[str, str], others: Sequence[str], *, apart: bool
) -> Iterable[Document]:
    """The documents of a part of a batch. See `documents`."""
    columns = ("row", "name", "text")
    listed = {row: Document(row, *rest) for row, *rest in corpus.documents.select(columns).rows()}
    members: dict[tuple[Any, ...], Item] = defaultdict(dict)
    attributes = corpus.attributes.select(*_KEY, "element", "name", "value")
    own = set(elements.values())
    plain: Item = {}  # texts and numbers, which many items have
    for *place, element, name, value in attributes.iter_rows():
        if value not in plain or not element.startswith("$"):
            if not is_member(element, value):
                continue
            member = json.loads(value)
            if isinstance(member, str | int):
                plain[value] = member
        else:
            member = plain[value]
        if element in own:
            members[element, *place][name] = member
        else:
            listed[place[0]].members[element][name] = member
    named = annotators_by_document(corpus, ()).sort("annotator").rows() if apart else []
    for row, annotator in named:
        listed[row].annotators.append(annotator)
    _add_mentions(corpus, listed, members, elements.get("mentions"))
    _add_relations(corpus, listed, members, elements.get("frames"), apart=apart)
    labels = corpus.instances.filter(is_label()).select(*_KEY, "label", "llr", "annotator")
    for *place, label, score, annotator in labels.iter_rows():
        more = members.get((elements.get("instances"), *place), {})
        listed[place[0]].labels.append(Label(label, score, annotator, more))
    for table in others:
        rows: pl.DataFrame = getattr(corpus, table)
        for row in rows.iter_rows(named=True):
            place = [row[name] for name in _KEY]
            row["members"] = members.get((elements.get(table), *place), {})
            listed[place[0]].others.setdefault(table, []).append(row)
    return listed.values()


def _add_mentions(
    corpus: Corpus, listed: Mapping[int, Document], members: Mapping[Any, Item], element: Any
) -> None:
    columns = ("mention", "label", "start", "end", "text", "entity", "confidence", "annotator")
    rows: Iterable[Any] = corpus.mentions.filter(has_place()).select(*_KEY, *columns).iter_rows()
    for document, origin, record, *values in rows:
        mentions = listed[document].mentions
        more = members.get((element, document, origin, record), {})
        mentions.append(Mention._make((len(mentions) + 1, *values, more)))


def _add_relations(
    corpus: Corpus,
    listed: Mapping[int, Document],
    members: Mapping[Any, Item],
    element: Any,
    *,
    apart: bool,
) -> None:
    if corpus.frames.is_empty():
        return
    names = {row: unique_mentions(document.mentions) for row, document in listed.items()}
    targets = two_arguments(corpus)
    columns = ("row", *_KEY, "frame", "label", "annotator")
    for row, *place, name, label, annotator in corpus.frames.select(columns).rows():
        known = names[place[0]]
        ends = [known.get(target) for target in targets.get(row, ())]
        if len(ends) == len(ROLES) and ends[0] and ends[1]:
            if apart and ends[0].annotator != ends[1].annotator:
                continue
            more, by = members.get((element, *place), {}), ends[0].annotator if apart else annotator
            relation = Relation(name, label, (ends[0], ends[1]), by, more)
            listed[place[0]].relations.append(relation)


def unique_mentions(mentions: Iterable[Mention]) -> dict[str, Mention]:
    """The mentions whose identifiers are unique, by these."""
    found: dict[str, Mention] = {}
    repeated = set[str]()
    for mention in mentions:
        if mention.name in found:
            repeated.add(mention.name)
        found[mention.name] = mention
    return {name: each for name, each in found.items() if name not in repeated and name}


def is_member(element: str, value: str) -> bool:
    """Whether an attribute is a member of a document in JSON, or of an item of it."""
    return element.startswith("$") and strict(value.encode())[0]


def is_label() -> pl.Expr:
    """Whether an instance is a label of a document."""
    return (pl.col("kind") == "label") & pl.col("start").is_null() & pl.col("end").is_null()


def has_place() -> pl.Expr:
    """Whether a segment or mention has offsets that can be written."""
    first, last = pl.min_horizontal("start", "end"), pl.max_horizontal("start", "end")
    return first.is_between(0, _LARGEST) & (last <= _LARGEST)


def count_losses(
    corpus: Corpus,
    elements: Collection[str],
    *,
    texts: bool = False,
    apart: bool = False,
    numbered: bool = False,
) -> Mapping[str, int]:
    """The counts of what no format of annotation tools can represent.

    Args:
        corpus: the batch.
        elements: the elements of the format, without numbers.
        texts: whether mentions have texts of their own.
        apart: whether what annotators have is apart.
        numbered: whether mentions without identifiers are read with their numbers as such.

    Examples:
        >>> sum(count_losses(Corpus(), ()).values())
        0
    """
    relations = differing = foreign = 0
    for document in documents(corpus, {}) if corpus.mentions.height else ():
        text = document.text or ""
        differing += sum(
            each.text is not None and each.text != text[each.start : each.end]
            for each in document.mentions
        )
        relations += len(document.relations)
        foreign += sum(
            any(end.annotator != each.annotator for end in each.ends) for each in document.relations
        )
    mentions = corpus.mentions.filter(has_place())
    kinds = corpus.instances.filter(~is_label().fill_null(value=False))
    attributes = corpus.attributes.select("element", "value").iter_rows()
    found = {
        "mentions outside of texts": corpus.mentions.height - mentions.height,
        "mentions without characters": mentions.filter(pl.col("start") >= pl.col("end")).height,
        "relations without two mentions as arguments": corpus.frames.height - relations,
        "roles other than Arg1 and Arg2": count_roles(corpus),
        "instances that are not labels of documents": kinds.height,
        "attributes of other formats": sum(
            _NUMBER.sub("", element) not in elements or not is_member(element, value)
            for element, value in attributes
        ),
    }
    if not texts:
        found["texts of mentions that differ from the document"] = differing
    if numbered:
        nameless = corpus.mentions.filter(pl.col("mention") == "")
        found["missing identifiers of mentions, which are numbered"] = nameless.height
    if apart:
        found["relations of other annotators than their mentions"] = foreign
    return found


#: Gives the objects of a batch, each with the row of its document.
Objects = Callable[[Corpus], Iterable[tuple[int, Item]]]


def write_objects(
    corpora: Iterable[Corpus],
    path: Path,
    layout: str,
    objects: Objects,
    spread: Callable[[Item], str] = compact,
) -> None:
    """Write all documents to a file.

    Args:
        corpora: the batches.
        path: the file.
        layout: `array` is an array with an object per line; `lines` is an object per line.
        objects: gives them.
        spread: gives an object as JSON in an array, if not in a single line.
    """
    rows = (item for corpus in corpora for _, item in objects(corpus))
    with path.open("w", encoding="utf-8", newline="") as stream:
        if layout == "lines":
            stream.writelines(f"{compact(item)}\n" for item in rows)
            return
        stream.write("[")
        for number, item in enumerate(rows):
            stream.write(f"{',' if number else ''}\n{spread(item)}")
        stream.write("\n]\n")


def writer(objects: Objects, default: str) -> Callable[..., None]:
    """Make the function of a format that writes documents, with a default layout."""

    def write(corpora: Iterable[Corpus], path: Path, layout: str = default) -> None:
        write_objects(corpora, path, layout, objects)

    return write


def as_number(name: str) -> str | int:
    """An identifier as a number, if it is written as one.

    Examples:
        >>> as_number("7"), as_number("07"), as_number("T7")
        (7, '07', 'T7')
    """
    digits = name.isascii() and name.isdigit() and len(name) < 16
    return int(name) if digits and str(int(name)) == name else name


def present(**members: object) -> Item:
    """The members that are not null."""
    return {name: value for name, value in members.items() if value is not None}
