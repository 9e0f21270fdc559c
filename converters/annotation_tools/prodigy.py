r"""Prodigy JSON Lines: texts with spans, relations or labels, an object per answer of an annotator.

Format:
    An object per answer (grammars/prodigy.schema.json) with `text`, `tokens`, `spans`, `relations`
    between tokens, `label` or the accepted options `accept`, and the `answer`.

Conventions:
    Offsets are code points, 0-based and half-open; `token_end` is the last token itself. Only
    answers `accept` are read; others are counted. A text is identified by `id`, or by
    `_input_hash`: objects of one text are a document, whose annotators are `_annotator_id`, or
    `_session_id`. A relation connects the spans that it names, or that have its tokens. All other
    members are kept.
    Relations need tokens: where a document has none, words and signs are written as such.

Example lines:
    {"text": "Ann at Acme", "_input_hash": 7, "tokens": [{"text": "Ann", "start": 0, "end": 3,
      "id": 0, "ws": true}], "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0,
      "label": "PER"}], "answer": "accept", "_annotator_id": "ann"}

Codes raised: JSNxxx, for invalid JSON; JANxxx.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit import json_writing
from hlteval.converters.toolkit.json_annotations import Dialect, Draft
from hlteval.converters.toolkit.json_documents import Item
from hlteval.converters.toolkit.json_writing import Document, Mention, present
from hlteval.representation import Corpus

_MEMBERS = re.compile(r'"(?:_input_hash|_task_hash|_annotator_id|token_start|answer)"[ \t\r\n]*:')
_LISTS = ("tokens", "spans", "relations")
_SPAN = ("start", "end", "label", "text", "score", "kb_id", "id", "token_start", "token_end")
_RELATION = ("head", "child", "head_span", "child_span", "label", "id")
_ENDS = ("head", "child")
_WORD = re.compile(r"\w+|[^\w\s]")


def _take(draft: Draft, item: Item) -> None:
    """Add an answer."""
    if (answer := item.get("answer", "accept")) != "accept":
        draft.leave_out(f"{str(answer)[:20]} answer", ())
        return
    new = draft.document(item.get("id", item.get("_input_hash")), item.get("text"))
    annotator, number = _annotator(item), draft.entries[draft.row]
    known = ["text", "accept", *_LISTS, *(() if "id" in item else ("_input_hash",))]
    labels = item.get("accept", [])
    others = item.get("spans") or item.get("relations") or "accept" in item
    if isinstance(item.get("label"), str) and not others:
        known.append("label")
        labels = [item["label"]]
    for label in labels:
        draft.label(str(label), None, annotator)
    own = [name for name in item if name[:1] == "_" or name in {"answer", "label", "accept"}]
    if new:
        draft.keep("$", item, (*known, *own))
        known += [name for name in item if name not in own]
    draft.keep(f"$.answers[{number}]", item, known)
    starts = _add_tokens(draft, new=new)
    places: dict[Any, str] = {}
    for path, span in draft.each("spans.*"):
        name, place = draft.identify(span.get("id"), path), (span["start"], span["end"])
        places.setdefault(place, name)
        more = (span.get("text"), span.get("kb_id") or None, span.get("score"))
        draft.mention(path, name, span.get("label", ""), place, *more, annotator)
        draft.keep("$.spans", span, _SPAN if starts else _SPAN[:-2])
    by_start = _spans_of_tokens(starts, places) if "relations.*" in draft.parts else {}
    by_token = dict(enumerate(map(by_start.get, starts)))
    for path, relation in draft.each("relations.*"):
        ends = list[tuple[str | None, object, str]]()
        for end in _ENDS:
            limits, token = relation.get(f"{end}_span") or {}, relation[end]
            target = places.get((limits.get("start"), limits.get("end"))) or by_token.get(token)
            ends.append((target, token, end))
        draft.relation(path, relation.get("label", ""), ends, relation.get("id"), annotator)
        draft.keep("$.relations", relation, _RELATION)


def _annotator(item: Mapping[str, Any]) -> str | None:
    by = item.get("_annotator_id", item.get("_session_id"))
    return None if by is None else str(by)


def _add_tokens(draft: Draft, *, new: bool) -> list[int]:
    """Add the tokens, those of the first answer for a text, and give where each starts."""
    starts, text = list[int](), draft.text or ""
    for path, token in draft.each("tokens.*"):
        starts.append(token["start"])
        if new:
            start, end = draft.place(token["start"], token["end"])
            draft.token(start, end, token.get("text"), None)
            usual = {"id": path[1], "ws": text[end : end + 1] == " "}
            draft.keep("$.tokens", token, ("text", "start", "end"), usual)
    return starts


def _spans_of_tokens(starts: list[int], places: dict[tuple[int, int], str]) -> dict[int, str]:
    """The first span that each token starts in, by the start of the token.

    Args:
        starts: where each token starts.
        places: the names of spans by their start and end, in order.
    """
    order, names = np.unique(np.array(starts, dtype=np.int64)), [*places.values()]
    spans = np.searchsorted(order, np.array([*places], dtype=np.int64).reshape(-1, 2)).tolist()
    owner = np.full(len(order), -1)
    for at, (first, last) in reversed([*enumerate(spans)]):
        owner[first:last] = at
    return {int(start): names[at] for start, at in zip(order, owner, strict=True) if at >= 0}


def _objects(corpus: Corpus) -> Iterator[tuple[int, Item]]:
    """Every answer, with the row of its document."""
    elements = {"mentions": "$.spans", "frames": "$.relations", "tokens": "$.tokens"}
    for document in json_writing.documents(corpus, elements, "tokens", apart=True):
        parts, tokens = document.by_annotator(), _tokens(document)
        answers: dict[str | None, Item] = {}
        usual = (present(_annotator_id=annotator, answer="accept") for annotator in parts)
        for members in (*document.entries("$.answers").values(), *usual):
            answers.setdefault(_annotator(members), members)
        for annotator, members in (answers or {None: {"answer": "accept"}}).items():
            item = _answer(parts[annotator], members, tokens)
            yield document.row, {**item, **document.members["$"], **members}


def _tokens(document: Document) -> list[Item]:
    """The tokens; where relations need some, words and signs, none across a border of a mention."""
    text, rows = document.text or "", document.others.get("tokens", [])
    if document.relations and not rows:
        borders = sorted({at for each in document.mentions for at in (each.start, each.end)})
        for word in _WORD.finditer(text):
            start, end = word.span()
            inside = borders[bisect_right(borders, start) : bisect_left(borders, end)]
            parts = pairwise([start, *inside, end])
            rows += [{"text": text[a:b], "start": a, "end": b, "members": {}} for a, b in parts]
    return [
        {name: row[name] for name in ("text", "start", "end")}
        | {"id": at, "ws": text[row["end"] : row["end"] + 1] == " ", **row["members"]}
        for at, row in enumerate(rows)
    ]


def _answer(document: Document, members: Item, tokens: Sequence[Item]) -> Item:
    """The object of an annotator."""
    starts, ends = ([token[side] for token in tokens] for side in ("start", "end"))

    def place(mention: Mention) -> Item:
        first = max(bisect_right(starts, mention.start) - 1, 0)
        last = max(min(bisect_left(ends, mention.end), len(ends) - 1), 0)
        own = {"token_start": first, "token_end": last} if tokens else {}
        return {"start": mention.start, "end": mention.end, **own, "label": mention.label}

    number = re.fullmatch("0|-?[1-9][0-9]{0,17}", document.name)
    item = present(text=document.text)
    if "id" not in members | document.members["$"]:
        item |= {"_input_hash": int(document.name)} if number else {"id": document.name}
    spans, relations = list[Item](), list[Item]()
    for each in document.mentions:
        more = present(id=each.own_name, score=each.confidence, kb_id=each.entity)
        spans.append({**place(each), **more, **each.members})
    for link in document.relations:
        head, child = map(place, link.ends)
        own = {"head": head.get("token_end", 0), "child": child.get("token_end", 0)}
        own |= {"head_span": head, "child_span": child, "label": link.label}
        relations.append({**present(id=link.name), **own, **link.members})
    labels = [each.label for each in document.labels]
    listed = spans if spans or not labels else None
    item |= present(tokens=[*tokens] or None, spans=listed, relations=relations or None)
    options = "options" in document.members["$"] or spans or relations
    single = {"label": labels[0]} if len(labels) == 1 and not options else {"accept": labels}
    return {**item, **(single if labels else {})}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what answers cannot represent."""
    own = ("$", "$.answers", *(f"$.{name}" for name in _LISTS))
    return json_writing.count_losses(corpus, own, apart=True, numbered=True)


_PARTS = {f"{name}.*": name[:-1] for name in _LISTS}
_NAMES = ("id", "_input_hash")
_FORM = ("prodigy", ".jsonl", _PARTS, _take, _MEMBERS, _objects)
DIALECT = Dialect(*_FORM, merges=True, identifiers=_NAMES)
FORMAT = declaration(__name__)
