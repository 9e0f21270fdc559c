r"""Doccano JSON Lines: texts with spans, relations or categories.

Format:
    An object per text (grammars/doccano.schema.json), one per line or in an array, with `id`,
    `text`, and `label`: lists of start, end and label, or one or several categories. Projects with
    relations have `entities` and `relations` between them instead. Older versions have `labels`, or
    `annotations`; other programs, such as spaCy 2, call the lists `entities`.

Conventions:
    A span is a mention, a category a label of the text. Labels that are sentences are the texts of
    a sequence-to-sequence project, which are not read. All other members are kept. Spans are
    written as lists, or as entities where there are relations or numbers of entities; categories
    beside spans are `cats`.

    Doccano counts UTF-16 units in some versions, and grapheme clusters in projects that are set so
    (`offsets`). Spans have no text: JAN205 says that those after an emoji cut words.

Example lines:
    {"id": 1, "text": "Ann at Acme", "label": [[0, 3, "PER"], [7, 11, "ORG"]], "Comments": []}
    {"id": 1, "text": "Ann at Acme", "entities": [{"id": 5, "label": "PER", "start_offset": 0,
      "end_offset": 3}], "relations": []}

Codes raised: JSNxxx, for invalid JSON; JANxxx.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit import json_writing
from hlteval.converters.toolkit.json_annotations import Dialect, Draft
from hlteval.converters.toolkit.json_documents import Item
from hlteval.converters.toolkit.json_writing import Document, as_number, present
from hlteval.representation import Corpus

_TEXT = r'"(?:[^"\\]|\\.)*+"'
_TEXTS = rf"\[\s*(?:{_TEXT}\s*,?\s*)*+\]"
_MEMBERS = re.compile(
    r'"(?:start_offset|Comments|annotation_approver)"[ \t\r\n]*:'
    r'|"(?:labels?|entities)"[ \t\r\n]*:[ \t\r\n]*\[[ \t\r\n]*\[[ \t\r\n]*[0-9]'
    rf'|\A[\[\s]*+{{(?:"(?:id|text|labels?)"\s*:\s*(?:{_TEXT}|[0-9]+|{_TEXTS})\s*+,?\s*+){{2,3}}}}'
)
#: The definition of the items of each member.
_PARTS = {
    **dict.fromkeys(("label", "labels", "entities", "annotations", "cats"), "span"),
    "relations": "relation",
}
_ENTITY = ("id", "label", "start_offset", "end_offset", "user")
_RELATION = ("id", "from_id", "to_id", "type")
#: Categories are shorter, have fewer words, and do not end as a sentence of several words does.
_LONGEST, _SENTENCE = 80, re.compile(r"(?s)(?: [^ ]*){6}| .*[.!?\u2026]$")


def _take(draft: Draft, item: Item) -> None:
    """Add a text."""
    draft.document(item.get("id"), item.get("text"))
    known = [name for name in _PARTS if name in item and isinstance(item[name], list | str)]
    draft.keep("$", item, ("id", "text", *known))
    names: dict[object, str] = {}
    for member in known:
        single = [((member,), item[member])] if isinstance(item[member], str) else None
        for path, part in single or draft.each(f"{member}.*"):
            if member == "relations":
                ends = {end: names.get(part[end]) for end in _RELATION[1:3]}
                draft.relation(path, str(part["type"]), part, ends)
                draft.keep("$.relations", part, _RELATION)
            elif isinstance(part, list):
                draft.mention(path, draft.identify(None, path), str(part[2]), (part[0], part[1]))
            elif isinstance(part, dict):
                name = draft.identify(part.get("id"), path)
                names[part.get("id")] = name
                user = None if part.get("user") is None else str(part["user"])
                span = (part["start_offset"], part["end_offset"])
                draft.mention(path, name, str(part["label"]), span, annotator=user)
                draft.keep("$.entities", part, _ENTITY)
            elif len(str(part)) > _LONGEST or _SENTENCE.search(str(part)):
                draft.leave_out(
                    "texts as labels, of a sequence-to-sequence project", path, "JAN106"
                )
            else:
                draft.label(part)


def _objects(corpus: Corpus) -> Iterator[tuple[int, Item]]:
    """Every text, with the row of its document."""
    elements = {"mentions": "$.entities", "frames": "$.relations"}
    listed = list(json_writing.documents(corpus, elements))
    numbered, spans = _has_numbers(listed), any(document.mentions for document in listed)
    for document in listed:
        item = present(id=as_number(document.name), text=document.text)
        categories = [label.label for label in document.labels]
        if spans and numbered:
            given = {each.number: as_number(each.name) for each in document.mentions}
            numbers = {at: name for at, name in given.items() if isinstance(name, int)}
            others = [at for at in given if at not in numbers]
            numbers |= dict(zip(others, count(max([0, *numbers.values()]) + 1), strict=False))
            item["entities"] = [
                {"id": numbers[each.number], "label": each.label, "start_offset": each.start,
                 "end_offset": each.end, **each.members}
                for each in document.mentions
            ]  # fmt: skip
            item["relations"] = [
                {"id": at if each.name is None else as_number(each.name),
                 "from_id": numbers[each.ends[0].number], "to_id": numbers[each.ends[1].number],
                 "type": each.label, **each.members}
                for at, each in enumerate(document.relations, start=1)
            ]  # fmt: skip
        elif spans:
            item["label"] = [[each.start, each.end, each.label] for each in document.mentions]
        else:
            item["label"] = categories
        more = {"cats": categories} if spans and categories else {}
        yield document.row, {**item, **more, **document.members["$"]}


def _has_numbers(documents: Iterable[Document]) -> bool:
    """Whether there are relations, or entities with numbers."""
    return any(
        document.relations
        or any(isinstance(as_number(each.name), int) for each in document.mentions)
        for document in documents
    )


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what these objects cannot represent."""
    documents = list(json_writing.documents(corpus, {})) if corpus.mentions.height else []
    numbered = _has_numbers(documents)
    lost = sum(
        isinstance(as_number(each.name), str) if numbered else each.own_name is not None
        for document in documents
        for each in document.mentions
    )
    relations = [each.name for document in documents for each in document.relations]
    return {
        **json_writing.count_losses(corpus, ("$", "$.entities", "$.relations")),
        "identifiers of mentions that are not numbers": lost,
        "missing identifiers of relations, which are numbered": relations.count(None),
    }


_PATTERNS = {f"{name}.*": definition for name, definition in _PARTS.items()}
DIALECT = Dialect("doccano", ".jsonl", _PATTERNS, _take, _MEMBERS, _objects)
FORMAT = declaration(__name__)
