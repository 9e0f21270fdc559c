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

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import compress, pairwise
from pathlib import Path as FilePath
from typing import Any

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import json_writing
from hlteval.converters.toolkit.json_annotations import Dialect, Draft, is_like
from hlteval.converters.toolkit.json_documents import Item
from hlteval.converters.toolkit.json_writing import Document, Mention, Relation, write_objects
from hlteval.converters.toolkit.offsets import CHARACTERS
from hlteval.representation import Corpus
from hlteval.sources import Source

_MEMBERS = re.compile(r'"(?:_input_hash|_task_hash|_annotator_id|token_start|answer)"[ \t\r\n]*:')
_PARTS = {"tokens.*": "token", "spans.*": "span", "relations.*": "relation"}
_LISTS = ("tokens", "spans", "relations")
_SPAN = ("start", "end", "label", "text", "token_start", "token_end", "score", "kb_id", "id")
_UNPLACED = tuple(name for name in _SPAN if not name.startswith("token"))
_RELATION = ("head", "child", "head_span", "child_span", "label", "id")
_TOKEN = ("text", "start", "end", "id", "ws")
_OWN = ("$", "$.answers", "$.tokens", "$.spans", "$.relations")
_ENDS = ("head", "child")
_WORD = re.compile(r"\w+|[^\w\s]")


def sniff(source: Source) -> bool:
    """Whether a file has members of an answer."""
    return is_like(source, ".jsonl", _MEMBERS)


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The answers of a source."""
    return DIALECT.read(source, offsets)


def _take(draft: Draft, item: Item) -> None:
    """Add an answer."""
    answer = item.get("answer", "accept")
    if answer != "accept":
        draft.leave_out(f"{str(answer)[:20]} answer", ())
        return
    new = draft.document(item.get("id", item.get("_input_hash")), item.get("text"))
    annotator, number = _annotator(item), draft.entries[draft.row]
    known = ["text", *(name for name in _LISTS if isinstance(item.get(name), list))]
    known += [] if "id" in item else ["_input_hash"]
    accepted, label = item.get("accept"), item.get("label")
    if isinstance(accepted, list):
        known.append("accept")
        for each in accepted:
            draft.label(str(each), None, annotator)
    elif isinstance(label, str) and not item.get("spans") and not item.get("relations"):
        known.append("label")
        draft.label(label, None, annotator)
    own = [name for name in item if name[:1] == "_" or name in {"answer", "label", "accept"}]
    if new:
        draft.keep("$", item, (*known, *own))
        known += [name for name in item if name not in own]
    draft.keep(f"$.answers[{number}]", item, known)
    starts = _add_tokens(draft, new=new)
    _add_spans(draft, annotator, starts)


def _annotator(item: Mapping[str, Any]) -> str | None:
    by = item.get("_annotator_id", item.get("_session_id"))
    return None if by is None else str(by)


def _add_tokens(draft: Draft, *, new: bool) -> list[int]:
    """Add the tokens, those of the first answer for a text, and give where each starts."""
    starts, rows, text = list[int](), draft.rows["tokens"], draft.text or ""
    row, origin, place = draft.row, draft.origin, draft.place
    for path, token in draft.each("tokens.*"):
        starts.append(token["start"])
        if not new:
            continue
        start, end = place(token["start"], token["end"])
        own = token.get("text", text[start:end])
        rows.append((row, origin, draft.record, None, None, start, end, own))
        usual = token.get("id") == path[1], token.get("ws") == (text[end : end + 1] == " ")
        if usual != (True, True) or len(token) > len(_TOKEN):
            known = compress(_TOKEN, (True, True, True, *usual))
            draft.keep("$.tokens", token, tuple(known))
    return starts


def _add_spans(draft: Draft, annotator: str | None, starts: Sequence[int]) -> None:
    """Add mentions and relations.

    Args:
        draft: the draft.
        annotator: whose they are.
        starts: where each token starts.
    """
    places: dict[Any, str] = {}
    for path, span in draft.each("spans.*"):
        name, place = draft.identify(span.get("id"), path), (span["start"], span["end"])
        places.setdefault(place, name)
        more = {"confidence": span.get("score"), "entity": span.get("kb_id") or None}
        label, text = span.get("label", ""), span.get("text")
        draft.mention(path, name, label, place, text, annotator=annotator, **more)
        draft.keep("$.spans", span, _SPAN if starts else _UNPLACED)
    by_start: dict[int, str] | None = None
    for path, relation in draft.each("relations.*"):
        ends = list[tuple[str | None, object, str]]()
        for end in _ENDS:
            limits, index = relation.get(f"{end}_span"), relation[end]
            limits = limits if isinstance(limits, dict) else {}
            target: str | None = places.get((limits.get("start"), limits.get("end")))
            if target is None and index < len(starts):
                if by_start is None:
                    by_start = _spans_of_tokens(starts, places)
                target = by_start.get(starts[index])
            ends.append((target, index, end))
        own = relation.get("id")
        draft.relation(path, relation.get("label", ""), ends, own, annotator)
        draft.keep("$.relations", relation, _RELATION)


def _spans_of_tokens(
    starts: Sequence[int], places: Mapping[tuple[int, int], str]
) -> dict[int, str]:
    """The first span that each token starts in, by the start of the token.

    Args:
        starts: where each token starts.
        places: the names of spans by their start and end, in order.
    """
    spans = sorted((a, at, b, name) for at, ((a, b), name) in enumerate(places.items()))
    found, waiting = dict[int, str](), list[tuple[int, int, str]]()
    following = iter([*spans, (math.inf, 0, 0, "")])
    span = next(following)
    for start in sorted(set(starts)):
        while span[0] <= start:
            heappush(waiting, span[1:])
            span = next(following)
        while waiting and waiting[0][1] <= start:
            heappop(waiting)  # it ends before all other tokens, too
        if waiting:
            found[start] = waiting[0][2]
    return found


def write(corpora: Iterable[Corpus], path: FilePath, layout: str = "lines") -> None:
    """All documents, an object per annotator."""
    write_objects(corpora, path, layout, _objects)


def _objects(corpus: Corpus) -> Iterator[tuple[int, Item]]:
    """Every answer, with the row of its document."""
    elements = {"mentions": "$.spans", "frames": "$.relations", "tokens": "$.tokens"}
    for document in json_writing.documents(corpus, elements, "tokens", apart=True):
        answers: dict[str | None, Item] = {}
        for members in document.entries("$.answers").values():
            answers.setdefault(_annotator(members), members)
        parts = document.by_annotator()
        for annotator in parts:
            own = {} if annotator is None else {"_annotator_id": annotator}
            answers.setdefault(annotator, {**own, "answer": "accept"})
        text = document.text or ""
        tokens = [
            _make_token(at, row, text) for at, row in enumerate(document.others.get("tokens", []))
        ]
        if document.relations and not tokens:
            tokens = _tokens(text, document.mentions)
        for annotator, members in (answers or {None: {"answer": "accept"}}).items():
            item = _answer(parts[annotator], members, tokens)
            yield document.row, {**item, **document.members["$"], **members}


def _make_token(at: int, row: Mapping[str, Any], text: str) -> Item:
    space = text[row["end"] : row["end"] + 1] == " "
    token = {"text": row["text"], "start": row["start"], "end": row["end"], "id": at, "ws": space}
    return {**token, **row["members"]}


def _tokens(text: str, mentions: Iterable[Mention]) -> list[Item]:
    """Words and signs as tokens, none across the start or the end of a mention."""
    borders = sorted({border for each in mentions for border in (each.start, each.end)})
    tokens = list[Item]()
    for word in _WORD.finditer(text):
        start, end = word.span()
        cuts = [start, *(at for at in borders if start < at < end), end]
        for first, last in pairwise(cuts):
            row = {"text": text[first:last], "start": first, "end": last, "members": {}}
            tokens.append(_make_token(len(tokens), row, text))
    return tokens


def _answer(document: Document, members: Item, tokens: Sequence[Item]) -> Item:
    """The object of an annotator."""
    starts, ends = ([token[side] for token in tokens] for side in ("start", "end"))

    def place(mention: Mention) -> Item:
        first, last = bisect_right(starts, mention.start) - 1, bisect_left(ends, mention.end)
        known = {"token_start": max(first, 0), "token_end": max(min(last, len(ends) - 1), 0)}
        span = {"start": mention.start, "end": mention.end, **(known if tokens else {})}
        return {**span, "label": mention.label}

    def link(relation: Relation) -> Item:
        spans = [place(end) for end in relation.ends]
        item: Item = {} if relation.name is None else {"id": relation.name}
        item |= {end: span.get("token_end", 0) for end, span in zip(_ENDS, spans, strict=True)}
        item |= {f"{end}_span": span for end, span in zip(_ENDS, spans, strict=True)}
        return {**item, "label": relation.label, **relation.members}

    item: Item = {} if document.text is None else {"text": document.text}
    number = re.fullmatch("0|-?[1-9][0-9]{0,17}", document.name)
    if "id" not in members | document.members["$"]:
        item |= {"_input_hash": int(document.name)} if number else {"id": document.name}
    item |= {"tokens": list(tokens)} if tokens else {}
    spans = list[Item]()
    for mention in document.mentions:
        more = {"id": mention.own_name, "score": mention.confidence, "kb_id": mention.entity}
        more = {name: value for name, value in more.items() if value is not None}
        spans.append({**place(mention), **more, **mention.members})
    relations = [link(each) for each in document.relations]
    labels = [each.label for each in document.labels]
    item |= {"spans": spans} if spans or not labels else {}
    item |= {"relations": relations} if relations else {}
    single = (
        len(labels) == 1 and "options" not in document.members["$"] and not spans and not relations
    )
    return {**item, **({"label": labels[0]} if single else {"accept": labels} if labels else {})}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what answers cannot represent."""
    nameless = corpus.mentions.filter(corpus.mentions["mention"] == "")
    return {
        **json_writing.count_losses(corpus, _OWN, apart=True),
        "missing identifiers of mentions, which are numbered": nameless.height,
    }


DIALECT = Dialect("prodigy", ".jsonl", _PARTS, _take, merges=True)
locate = DIALECT.locate
FORMAT = declaration(__name__)
