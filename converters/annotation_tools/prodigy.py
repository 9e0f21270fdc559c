r"""Prodigy JSON Lines: texts with spans, relations or labels, an object per answer of an annotator.

Format:
    An object per answer (grammars/prodigy.schema.json) with `text`, `tokens`, `spans`, `relations`
    between tokens, `label` or the accepted options `accept`, and the `answer`.

Conventions:
    Offsets are code points, 0-based and half-open; `token_end` is the last token itself. Only
    answers `accept` are read; others are counted. A text is identified by `id`, or by
    `_input_hash`: objects of one text are a document, whose annotators are `_annotator_id`, or
    `_session_id`. A relation connects the spans that it names, or that have its tokens; others of
    its ends are mentions without a label. All other members are kept.
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

_MEMBERS = re.compile(r'"(?:_\w+_(?:hash|id)|token_start|answer|spans"\s*:\s*\[\s*{"\w+)"\s*:')
_LISTS = ("tokens", "spans", "relations")
_SPAN = ("start", "end", "label", "text", "score", "kb_id", "id", "token_start", "token_end")
_RELATION = ("head", "child", "head_span", "child_span", "label", "id")
_WORD, _NUMBER = re.compile(r"\w+|[^\w\s]"), re.compile("0|-?[1-9][0-9]{0,17}")


def _take(draft: Draft, item: Item) -> None:
    """Add an answer: its labels, its tokens if the text is new, its spans and its relations."""
    if (answer := item.get("answer", "accept")) != "accept":
        draft.leave_out(f"{str(answer)[:20]} answer", ())
        return
    new = draft.document(item.get("id", item.get("_input_hash")), item.get("text"))
    annotator, number = _annotator(item), draft.entries[draft.row]
    known = ["text", "accept", *_LISTS, *(() if "id" in item else ("_input_hash",))]
    others = item.get("spans") or item.get("relations") or "accept" in item
    if isinstance(item.get("label"), str) and not others:
        known.append("label")
        draft.label(item["label"], annotator=annotator)
    draft.label(*item.get("accept", ()), annotator=annotator)
    own = [name for name in item if name[:1] == "_" or name in {"answer", "label", "accept"}]
    if new:
        draft.keep("$", item, (*known, *own))
        known += [name for name in item if name not in own]
    draft.keep(f"$.answers[{number}]", item, known)
    starts, places, text = list[int](), dict[Any, str](), draft.text or ""
    for path, token in draft.each("tokens.*"):
        starts.append(token["start"])
        if new:
            start, end = draft.place(token["start"], token["end"])
            draft.token(start, end, token.get("text"), None)
            usual = {"id": path[1], "ws": text[end : end + 1] == " "}
            draft.keep("$.tokens", token, ("text", "start", "end"), usual)
    for path, span in draft.each("spans.*"):
        name = draft.span(path, span, "$.spans", _SPAN if starts else _SPAN[:-2], annotator)
        places.setdefault((span["start"], span["end"]), name)
    words, by_token = dict[Any, tuple[int, int]](), dict[int, Any]()
    if "relations.*" in draft.parts:
        by_token = _spans_of_tokens(starts, places)
        words = {path[1]: (word["start"], word["end"]) for path, word in draft.each("tokens.*")}
    for path, relation in draft.each("relations.*"):
        ends = dict[str, str | None]()
        for side in _RELATION[:2]:
            limits = relation.get(f"{side}_span") or {}
            stretch: Any = (limits.get("start"), limits.get("end"))
            ends[side] = places.get(stretch) or by_token.get(relation[side])
            word = words.get(relation[side]) if None in stretch else stretch
            if ends[side] is None and word:  # relations may connect words that are no spans
                ends[side] = places[word] = draft.identify(None, path)
                draft.mention(path, places[word], "", word, annotator=annotator)
        draft.relation(path, relation.get("label", ""), relation, ends, annotator)
        draft.keep("$.relations", relation, _RELATION)


def _annotator(item: Mapping[str, Any]) -> str | None:
    by = item.get("_annotator_id", item.get("_session_id"))
    return None if by is None else str(by)


def _spans_of_tokens(starts: list[int], places: dict[tuple[int, int], str]) -> dict[int, Any]:
    """The first span that each token starts in, by the number of the token.

    Args:
        starts: where each token starts.
        places: the names of spans by their start and end, in order.
    """
    order, token = np.unique(np.array(starts, dtype=np.int64), return_inverse=True)
    bounds = np.searchsorted(order, np.array([*places], dtype=np.int64).reshape(-1, 2)).tolist()
    owner, names = np.full(len(order), -1), np.array([*places.values(), None])
    for at, (first, last) in reversed([*enumerate(bounds)]):
        owner[first:last] = at
    return dict(enumerate(names[owner[token]]))


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
        borders = {at for each in document.mentions for at in (each.start, each.end)}
        for start, end in pairwise(sorted(borders | {0, len(text)})):
            words = ((word[0], *word.span()) for word in _WORD.finditer(text, start, end))
            rows += [{"text": w, "start": a, "end": b, "members": {}} for w, a, b in words]
    return [
        {name: row[name] for name in ("text", "start", "end")}
        | {"id": at, "ws": text[row["end"] : row["end"] + 1] == " ", **row["members"]}
        for at, row in enumerate(rows)
    ]


def _answer(document: Document, members: Item, tokens: Sequence[Item]) -> Item:
    """The object of an annotator."""
    starts, ends = ([token[side] for token in tokens] for side in ("start", "end"))

    def place(mention: Mention) -> Item:
        first, last = bisect_right(starts, mention.start) - 1, bisect_left(ends, mention.end)
        own = (
            {"token_start": max(first, 0), "token_end": min(last, len(ends) - 1)} if tokens else {}
        )
        return {"start": mention.start, "end": mention.end, **own, "label": mention.label or None}

    item, name = present(text=document.text), document.name
    if "id" not in members | document.members["$"]:
        item |= {"_input_hash": int(name)} if _NUMBER.fullmatch(name) else {"id": name}
    spans, relations = list[Item](), list[Item]()
    connected = {each.number for link in document.relations for each in link.ends}
    for each in document.mentions:
        if not each.label and each.number in connected:
            continue
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
_FORM = ("prodigy", ".jsonl", _PARTS, _take, _MEMBERS, _objects)
DIALECT = Dialect(*_FORM, merges=True, identifiers=("id", "_input_hash"))
FORMAT = declaration(__name__)
