"""DocBin files of spaCy: from documents as `Doc.to_json` has them to their bytes.

All tokens together cover a text: where a span begins or ends inside of a token, that is cut, and
the text between tokens becomes one, but for a single space, which belongs to the token before it.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from msgspec import msgpack

from hlteval.converters.annotation_tools.docbin_reading import (
    BEGIN,
    INSIDE,
    MEMBERS,
    MISSING,
    NO_ENTS,
    OUTSIDE,
    SPAN,
    is_name,
    is_score,
)
from hlteval.converters.annotation_tools.spacy_strings import numbers, symbols
from hlteval.converters.toolkit.json_documents import Item
from hlteval.syntax.json_text import strict

#: The attributes that spaCy writes by default, in the order of their numbers.
ATTRS = (
    *("ORTH", "NORM", "LEMMA", "POS", "TAG", "DEP", "ENT_IOB", "ENT_TYPE", "HEAD", "SENT_START"),
    *("ENT_KB_ID", "MORPH", "ENT_ID"),
)
#: Words, spaces and signs, of texts that have no tokens.
_WORD = r"(?s)\s+|[\w\p{M}]+|."
#: The members of a token and of a span that are written; those of an entity by their attributes.
_MEMBERS = frozenset(name.lower() for name in MEMBERS)
_SPAN = frozenset({"start", "end", "label", "kb_id", "id", "ent_id"})
#: The numbers of the symbols that are universal parts of speech.
_UNIVERSAL = (84, 104)
_OF_ENTITY = {"ENT_TYPE": "label", "ENT_KB_ID": "kb_id", "ENT_ID": "id"}


class Word(NamedTuple):
    """A token that is written: its place, whether a space follows it, and the token that it was."""

    start: int
    end: int
    space: bool
    token: Item


@dataclass
class Packing:
    """Documents that become a file.

    Attributes:
        columns: the values of each attribute of all tokens: strings, or numbers.
        spaces: whether a space follows each token.
        lengths: how many tokens each document has.
        groups: the groups of spans of each document: the strings of a span, and its place.
        parts: the further lists of the file.
        lost: what cannot be written, by what it is.
        universal: the universal parts of speech, and none.
    """

    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in ATTRS})
    spaces: list[bool] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    groups: list[Mapping[str, Sequence[tuple[Any, ...]]]] = field(default_factory=list)
    parts: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    lost: Counter[str] = field(default_factory=Counter)
    universal: frozenset[str] = field(
        default_factory=lambda: frozenset({"", *islice(symbols(), *_UNIVERSAL)})
    )

    def add(self, item: Item) -> None:
        """Add a document as `Doc.to_json` has it."""
        text, tokens = item.get("text", ""), item["tokens"]
        self.lost["documents without a text"] += "text" not in item
        listed = item.get("spans", {})
        groups = {name: _items_in(spans, text) for name, spans in listed.items()}
        ents = _items_in(item["ents"], text)
        spans = [*ents, *chain.from_iterable(groups.values())]
        sents = _items_in(item.get("sents"), text)
        words = _words(text, _items_in(tokens, text), spans, sents)
        begins = {word.start: at for at, word in enumerate(words)}
        ends = {word.end: at for at, word in enumerate(words, start=1)}
        rows = [self._row(word, text) for word in words]
        self._add_heads(rows, words, tokens)
        self._add_starts(rows, words, sents)
        for start, end in item.get("flags", {}).get(NO_ENTS, ()):
            for word, row in zip(words, rows, strict=True):
                row["ENT_IOB"] = MISSING if start <= word.start < end else row["ENT_IOB"]
        for span in ents:
            for at in range(begins[span["start"]], ends[span["end"]]):
                rows[at] |= {attr: _name(span, name) for attr, name in _OF_ENTITY.items()}
                rows[at]["ENT_IOB"] = INSIDE if words[at].start > span["start"] else BEGIN
        for name, column in self.columns.items():
            column += [row.get(name, "") for row in rows]
        self.spaces += [word.space for word in words]
        self.lengths.append(len(words))
        self.groups.append(
            {
                name: [
                    (
                        *(_name(span, member) for member in ("id", "kb_id", "label")),
                        *(begins[span["start"]], ends[span["end"]], span["start"], span["end"]),
                    )
                    for span in spans
                ]
                for name, spans in groups.items()
            }
        )
        given = [item["ents"], *listed.values()]
        count = sum(len(each) if isinstance(each, list) else 1 for each in given)
        self.lost["spans without characters of the text"] += count - len(spans)
        self.lost["further members of spans"] += sum(len(span.keys() - _SPAN) for span in spans)
        self.lost["sentences without characters of the text"] += len(item.get("sents", ())) - len(
            sents
        )
        self._add_parts(item)

    def _row(self, word: Word, text: str) -> Item:
        """The attributes of a token that do not depend on others."""
        row: Item = {"ORTH": text[word.start : word.end], "ENT_IOB": OUTSIDE}
        for name, value in word.token.items():
            if name == "pos" and value not in self.universal:
                self.lost["parts of speech that are not universal"] += 1
            elif name == "morph" and value != normal_features(value):
                self.lost["morphologies that are not as spaCy has them"] += 1
            elif name in _MEMBERS and isinstance(value, str):
                row[name.upper()] = value
            elif name not in {"id", "start", "end", "head"}:
                self.lost["further members of tokens"] += 1
        return row

    def _add_heads(self, rows: list[Item], words: Sequence[Word], tokens: Sequence[Item]) -> None:
        """Add the distances of tokens to their heads."""
        kept = {id(word.token): at for at, word in enumerate(words) if word.token}
        self.lost["tokens that mentions cut, or that are not of the text"] += len(tokens) - len(
            kept
        )
        for at, word in enumerate(words):
            head = word.token.get("head", at)
            if "head" in word.token:
                known = type(head) is int and 0 <= head < len(tokens)
                goal = kept.get(id(tokens[head])) if known else None
                self.lost["heads of tokens"] += goal is None
                rows[at]["HEAD"] = 0 if goal is None else goal - at

    def _add_starts(self, rows: list[Item], words: Sequence[Word], sents: Sequence[Item]) -> None:
        """Add whether tokens begin sentences, which end where the next one begins."""
        if not sents:
            return
        starts = {sentence["start"] for sentence in sents}
        begins = [at for at, word in enumerate(words) if at == 0 or word.start in starts]
        for row in rows:
            row["SENT_START"] = -1
        for at in begins:
            rows[at]["SENT_START"] = 1
        limits = pairwise([*begins, len(words)])
        there = Counter((words[first].start, words[last - 1].end) for first, last in limits)
        given = Counter((sentence["start"], sentence["end"]) for sentence in sents)
        self.lost["sentences with gaps between them"] += (given - there).total()
        self.lost["further members of sentences"] += sum(len(sentence) - 2 for sentence in sents)

    def _add_parts(self, item: Item) -> None:
        """Add what belongs to the whole document."""
        cats = item.get("cats", {})
        scores = {label: score for label, score in cats.items() if is_score(score)}
        self.lost["scores that are not finite numbers"] += len(cats) - len(scores)
        self.parts["cats"].append(scores)
        is_unknown = item.get("flags", {}).get("has_unknown_spaces") is True
        self.parts["flags"].append({"has_unknown_spaces": is_unknown})
        data: dict[Any, Any] = {"id": str(item["id"])}
        for name, value in item.get("user_data", {}).items():
            is_list, parts = strict(name.encode()) if name.startswith("[") else (False, ())
            try:
                msgpack.encode(value)
            except (OverflowError, RecursionError):
                self.lost["user data with large numbers"] += 1
            else:
                data[(*parts,) if is_list and is_name(parts) else name] = value
        self.parts["user_data"].append(msgpack.encode(data))

    def pack(self) -> bytes:
        """The file."""
        groups = [*chain.from_iterable(each.values() for each in self.groups)]
        strings = {name for spans in groups for span in spans for name in span[:3]}
        for column in self.columns.values():
            strings.update(value for value in column if type(value) is str)
        listed = sorted(strings | {""})
        ids = {name: value - (value >> 63 << 64) for name, value in numbers(listed).items()}
        rows = [
            np.array([value if type(value) is int else ids[value] for value in column], "<i8")
            for column in self.columns.values()
        ]
        lists = [
            {
                name: [SPAN.pack(*map(ids.get, span[:3]), *span[3:]) for span in spans]
                for name, spans in each.items()
            }
            for each in self.groups
        ]
        content = {
            "version": "0.1",
            "attrs": [symbols()[name] for name in ATTRS],
            "tokens": np.stack(rows, axis=1).tobytes(),
            "spaces": bytes(self.spaces),
            "lengths": np.array(self.lengths, "<i4").tobytes(),
            "strings": listed,
            "cats": self.parts["cats"],
            "flags": self.parts["flags"],
            "span_groups": [
                msgpack.encode(
                    {
                        msgpack.encode({"name": name, "attrs": {}, "spans": spans}): [name]
                        for name, spans in each.items()
                    }
                    or []
                )
                for each in lists
            ],
            "user_data": self.parts["user_data"],
        }
        return zlib.compress(msgpack.encode(content))


def _words(
    text: str, tokens: Iterable[Item], spans: Iterable[Item], sents: Iterable[Item]
) -> list[Word]:
    """The words that a text is written as: spans begin and end with them."""
    own = {(token["start"], token["end"]): token for token in tokens}
    begins, ends = {span["start"] for span in spans}, {span["end"] for span in spans}
    limits = {0, len(text), *begins, *ends, *chain.from_iterable(own)}
    limits |= {sentence["start"] for sentence in sents}
    if not own:
        import regex  # type: ignore[import-untyped]

        limits |= {match.start() for match in regex.finditer(_WORD, text)}
    words = list[Word]()
    for start, end in pairwise(sorted(limits)):
        token = own.get((start, end), {})
        is_after = bool(words) and words[-1].end == start and not token
        if is_after and text[start] == " " and start not in begins and start + 1 not in ends:
            words[-1] = words[-1]._replace(space=True)
            if start + 1 < end:
                words.append(Word(start + 1, end, space=False, token={}))
        else:
            words.append(Word(start, end, space=False, token=token))
    return words


def _items_in(listed: Any, text: str) -> list[Item]:
    """The items of a list that have characters of a text."""
    return [
        item
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
        and all(type(item.get(name)) is int for name in ("start", "end"))
        and 0 <= item["start"] < item["end"] <= len(text)
    ]


def _name(span: Item, member: str) -> str:
    """A member of a span that is a string; an identifier that several spans share is apart."""
    value = span.get(member, span.get("ent_id") if member == "id" else "")
    return str(value) if isinstance(value, str | int) else ""


def normal_features(text: object) -> str:
    """A morphology as spaCy orders it; empty for what is none, which spaCy cannot read.

    Examples:
        >>> normal_features("Number=Sing|Case=Nom,Acc"), normal_features("3sg")
        ('Case=Acc,Nom|Number=Sing', '')
    """
    pairs = [part.split("=") for part in str(text).split("|")]
    names = {pair[0] for pair in pairs}
    if len(names) < len(pairs) or any(len(pair) != 2 or not all(pair) for pair in pairs):
        return ""
    parts = (f"{name}={','.join(sorted(values.split(',')))}" for name, values in pairs)
    return "|".join(sorted(parts))
