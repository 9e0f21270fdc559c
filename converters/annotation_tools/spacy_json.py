r"""spaCy JSON: documents as `Doc.to_json` writes them, and the training files of version 2.

Format:
    An object per document (grammars/spacy-json.schema.json), one per line, in an array or alone:
    `text`, `ents`, `tokens`, `sents`, groups of `spans`, and `cats`, which are scores of labels. In
    version 2 it has `paragraphs` with `raw` and `sentences`, whose tokens have BILOU tags (`ner`).

Conventions:
    Offsets are code points, 0-based and half-open. Entities and the spans of one group, `sc` unless
    it is set, are mentions. A category with at least the threshold is a label with that score. All
    other members are kept. A mention that overlaps an earlier entity is written into the group
    `sc`.
    The text of a paragraph without `raw` is that of its tokens with spaces between them.

Example lines:
    {"text": "Ann at Acme", "ents": [{"start": 0, "end": 3, "label": "PER"}], "cats": {"pos": 0.9}}

Codes raised: JSNxxx, for invalid JSON; JANxxx.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit import json_writing
from hlteval.converters.toolkit.json_annotations import Dialect, Draft
from hlteval.converters.toolkit.json_documents import Item
from hlteval.converters.toolkit.json_writing import Document, as_number
from hlteval.converters.toolkit.offsets import CHARACTERS
from hlteval.converters.toolkit.rows import number
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.places import Path

_MEMBERS = re.compile(r'"(?:ents|sents|paragraphs)"[ \t\r\n]*:[ \t\r\n]*\[')
_TRAINING = "paragraphs.*.sentences.*.tokens.*"
_PARTS = {
    "sents.*": "sentence",
    "tokens.*": "token",
    "ents.*": "span",
    "spans.*.*": "span",
    "paragraphs.*": "paragraph",
    "paragraphs.*.sentences.*": "group",
    _TRAINING: "word",
}
_SPAN = ("start", "end", "label", "kb_id", "id")
OWN = ("$.sents", "$.tokens", "$.ents", "$.spans", "$.cats", "$.flags", "$.user_data")
#: The members of a document whose own members are kept apart.
APART = ("flags", "user_data")
#: The group of spans that a span categorizer has.
GROUP = "sc"


def read(
    source: Source, offsets: str = CHARACTERS, spans: str = GROUP, threshold: str = "0.5"
) -> Iterator[ReadResult]:
    """The documents of a source.

    Raises:
        WrongSetting: if the threshold is not a number.
    """
    return DIALECT.read(source, offsets, **checked_settings(spans, threshold))


def checked_settings(spans: str, threshold: str) -> dict[str, str]:
    """The settings of documents.

    Args:
        spans: the group of spans that is read.
        threshold: the least score of a label.

    Raises:
        WrongSetting: if the threshold is not a number.
    """
    if number(threshold) is None:
        raise WrongSetting(f"invalid value {threshold} of threshold: use a number")
    return {"spans": spans, "threshold": threshold}


def _take(draft: Draft, item: Item) -> None:
    """Add a document, or each paragraph of one of version 2."""
    if "paragraphs" in item and "text" not in item:
        _take_training(draft, item)
        return
    first = len(draft.rows["segments"])
    take(draft, item)
    sentences = draft.rows["segments"][first:]
    starts = [sentence[4] for sentence in sentences]
    for path, token in draft.each("tokens.*"):
        start, end = draft.place(token["start"], token["end"])
        at = bisect_right(starts, start) - 1
        outer = first + at if at >= 0 and end <= sentences[at][5] else None
        pos, morph = token.get("pos") or None, token.get("morph") or None
        draft.token(start, end, None, outer, pos, morph)
        usual = {"id": path[1], "pos": pos, "morph": morph}  # spaCy wants empty ones, too
        draft.keep("$.tokens", token, ("start", "end"), usual)


def take(draft: Draft, item: Item) -> None:
    """Add a document without its tokens."""
    draft.document(item.get("id"), item.get("text"))
    group = draft.settings["spans"]
    lists = [name for name in ("sents", "tokens", "ents") if isinstance(item.get(name), list)]
    apart = [name for name in APART if isinstance(item.get(name), dict)]
    draft.keep("$", item, ("id", "text", "cats", "spans", *lists, *apart))
    for name in apart:
        draft.keep(f"$.{name}", item[name])
    groups = item.get("spans", {})
    if group in groups:
        draft.unmatched.discard("spans")
    draft.keep("$.spans", groups, (group,) if groups.get(group) else ())
    for _, sentence in draft.each("sents.*"):
        start, end = draft.place(sentence["start"], sentence["end"])
        place = (draft.row, draft.origin, draft.record)
        draft.rows["segments"].append((*place, None, start, end, draft.quotes.at((start, end))))
        draft.keep("$.sents", sentence, ("start", "end"))
    for pattern in ("ents.*", "spans.*.*"):
        for path, span in draft.each(pattern):
            if len(path) == 3 and path[1] != group:
                continue
            own = span if len(path) == 2 else {**span, "$group": group}
            draft.span(path, own, "$.ents", _SPAN)
    _add_categories(draft, item.get("cats") or {})


def _add_categories(draft: Draft, scores: Mapping[str, float]) -> None:
    """Add the labels that reach the threshold; the others are kept."""
    threshold = float(draft.settings["threshold"])
    for label, score in scores.items():
        if score >= threshold:
            draft.label(label, score=float(score))
    draft.keep("$.cats", {label: score for label, score in scores.items() if score < threshold})


def _take_training(draft: Draft, item: Item) -> None:
    """Add each paragraph of a document of version 2."""
    paragraphs = {int(path[1]): part for path, part in draft.each("paragraphs.*")}
    words: dict[int, list[tuple[Path, int, Item]]] = {at: [] for at in paragraphs}
    own = item.get("id", draft.stem)
    for path, word in draft.each(_TRAINING):
        words[int(path[1])].append((path, draft.record, word))
    for at, paragraph in paragraphs.items():
        raw = paragraph.get("raw")
        joined = " ".join(word["orth"] for *_, word in words[at])
        several = len(item["paragraphs"]) > 1
        name = f"{own}-{at + 1}" if several else own
        draft.document(name, raw if isinstance(raw, str) else joined)
        draft.keep("$", {} if at else item, ("id", "paragraphs"))
        draft.keep("$", paragraph, ("raw", "sentences", "cats"))
        _add_words(draft, words[at])
        listed = paragraph.get("cats", [])
        _add_categories(draft, {each["label"]: each["value"] for each in listed})


def _add_words(draft: Draft, words: Iterable[tuple[Path, int, Item]]) -> None:
    """Add the tokens of a paragraph and the entities that their tags give."""
    text, end = draft.text or "", 0
    begun: tuple[Path, int, str, int, int] | None = None  # with its record, label, start and end
    sentence: Path = ()

    def finish() -> None:
        if begun is not None:
            path, draft.record, label, start, stop = begun
            draft.mention(path, draft.identify(None, path), label, (start, stop))

    for path, record, word in words:
        start = text.find(word["orth"], end)
        if start < 0:
            start, there = end, text[end : end + len(word["orth"])]
            values = {"given": word["orth"][:40], "actual": there[:40]}
            hint = "check the text; it does not contain this after the word before"
            draft.report("JAN203", (*path, "orth"), **values, hint=hint)
        end = start + len(word["orth"])
        draft.record = record
        draft.token(start, end, word["orth"], None, word.get("pos") or None)
        draft.keep("$.tokens", word, ("orth", "ner", "pos", "id"))
        prefix, _, label = word.get("ner", "-").partition("-")
        inside = begun is not None and begun[2] == label and sentence == path[:4]
        if prefix in {"I", "L"} and not inside:
            wanted = f"B-{label} or U-{label}, after a tag that ends an entity"
            draft.report("JAN104", (*path, "ner"), given=word["ner"][:40], wanted=wanted)
        if prefix in {"I", "L"} and inside and begun is not None:
            begun = (*begun[:4], end)
        else:
            finish()
            begun = (path, record, label, start, end) if prefix in {"B", "U", "I", "L"} else None
        if prefix in {"U", "L"}:
            finish()
            begun = None
        sentence = path[:4]
    finish()
    draft.record = draft.first


def objects(corpus: Corpus) -> Iterator[tuple[int, Item]]:
    """Every document, with its row."""
    elements = {"mentions": "$.ents", "tokens": "$.tokens", "segments": "$.sents"}
    for document in json_writing.documents(corpus, elements, "tokens", "segments"):
        item: Item = {"id": as_number(document.name)}
        item |= {} if document.text is None else {"text": document.text}
        spans = _spans(document)
        item["ents"] = spans.pop("", [])
        sentences = document.others.get("segments", [])
        if sentences:
            item["sents"] = [
                {"start": row["start"], "end": row["end"], **row["members"]} for row in sentences
            ]
        item["tokens"] = [
            {"id": at, "start": row["start"], "end": row["end"]}
            | {name: row[name] for name in ("pos", "morph") if row[name] is not None}
            | row["members"]
            for at, row in enumerate(document.others.get("tokens", []))
        ]
        groups = {**document.members["$.spans"], **spans}
        item |= {"spans": groups} if groups else {}
        scores = {each.label: 1.0 if each.score is None else each.score for each in document.labels}
        scores |= document.members["$.cats"]
        item |= {"cats": scores} if scores else {}
        item |= {name: kept for name in APART if (kept := document.members[f"$.{name}"])}
        yield document.row, {**item, **document.members["$"]}


def _spans(document: Document) -> dict[str, list[Item]]:
    """The mentions by their group: entities have none, and do not overlap."""
    groups: dict[str, list[tuple[Any, Item]]] = {"": []}
    last = -1
    for mention in sorted(document.mentions, key=lambda each: (each.start, -each.end)):
        members = dict(mention.members)
        group = members.pop("$group", "")
        if not group and (mention.start < last or mention.end <= mention.start):
            group = GROUP
        last = max(last, mention.end) if not group else last
        item: Item = {"start": mention.start, "end": mention.end, "label": mention.label}
        if group or mention.entity is not None:  # spans have one
            item["kb_id"] = mention.entity or ""
        groups.setdefault(group, []).append((mention, {**item, **members}))
    count, found = 0, dict[str, list[Item]]()
    for group, listed in groups.items():
        found[group] = []
        for mention, item in sorted(listed, key=lambda pair: pair[0].number):
            count += 1
            own = {} if mention.name in {"", f"T{count}"} else {"id": mention.name}
            found[group].append({**item, **own})
    return found


def count_losses(corpus: Corpus, own: Collection[str] = ("$", *OWN)) -> Mapping[str, int]:
    """The counts of what these documents cannot represent.

    Args:
        corpus: the batch.
        own: the elements of attributes that they have.
    """
    labels = corpus.instances.filter(json_writing.is_label().fill_null(value=False))
    texts = {row: text or "" for row, text in corpus.documents.select("row", "text").iter_rows()}
    differing = {
        table: sum(
            text is not None and text != texts[document][max(start, 0) : max(end, 0)]
            for document, start, end, text in rows.select("document", "start", "end", "text").rows()
        )
        for table, rows in (("segments", corpus.segments), ("tokens", corpus.tokens))
    }
    return {
        **json_writing.count_losses(corpus, own, numbered=True),
        "missing scores of labels, written as 1": labels["llr"].null_count(),
        "repeated labels of documents": labels.height - labels.unique(["document", "label"]).height,
        "texts of segments that differ from the document": differing["segments"],
        "texts of tokens that differ from the document": differing["tokens"],
    }


_FORM = ("spacy-json", ".json", _PARTS, _take, _MEMBERS, objects)
DIALECT = Dialect(*_FORM, naming={"spans": GROUP}, several="paragraphs")
FORMAT = declaration(__name__)
