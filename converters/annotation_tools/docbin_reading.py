"""DocBin files of spaCy: from their bytes to documents as `Doc.to_json` has them.

A file is MessagePack in zlib: `attrs`, the attributes of a token by their numbers; `tokens`, a row
of 64-bit numbers for each token of all documents; `spaces`, whether a space follows it; `lengths`,
how many tokens each document has; `strings`, which the numbers stand for; and for each document
`cats`, `flags`, `span_groups` and `user_data`.
"""

import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby, pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec import msgpack

from hlteval.converters.annotation_tools.spacy_strings import hashes, symbols
from hlteval.converters.toolkit.json_annotations import Draft
from hlteval.converters.toolkit.json_documents import Content, Item, Reporter, compact
from hlteval.findings import Bounded, Finding, Problem, entry
from hlteval.sources import Member
from hlteval.syntax.places import Path

#: A span of a group: the numbers of its identifier, entity and label; its first token and the one
#: after its last; and the same in characters.
SPAN = struct.Struct(">qqqllll")
#: The attributes of a token that are members of it, in small letters.
MEMBERS = ("TAG", "POS", "MORPH", "LEMMA", "NORM", "DEP")
#: The values of ENT_IOB.
MISSING, INSIDE, OUTSIDE, BEGIN = range(4)
#: The flag that has the places where it is not known whether there are entities.
NO_ENTS = "missing_ents"
#: A morphology without features.
NO_MORPH = "_"
#: The member of a document that has the members of its tokens as columns.
COLUMNS = "columns"
#: The errors of a file that is damaged.
DAMAGE = (ValueError, RecursionError, zlib.error)
#: Bytes that a file may unpack to: this, or as many times its size if that is more.
_UNPACKED, _RATIO = 16 << 20, 64
#: What a file may hold: this, or as much for each byte of it. A value of a token counts as one.
_LOAD, _DENSITY = 500_000, 3
#: What a span, a sentence or an entity counts, and a document.
_SPAN, _DOCUMENT = 8, 32
#: The values of tokens that begin an entity or a sentence.
_MARKS = {"ENT_IOB": BEGIN, "SENT_START": 1}
#: Values that are empty, or missing.
_NOTHING = (b"", b"\x80", b"\x90", b"\xc0")
#: The greatest score.
_GREATEST = 1e300
#: Attributes of a token; characters of a string; bytes of what belongs to a whole document.
_ATTRIBUTES, _STRING, _LARGEST = 100, 1_000_000, 1 << 20


#: The columns of tokens by the names of attributes, and the places of tokens.
Columns = Mapping[str, list[int]]
Places = Sequence[tuple[int, int]]


class _File(msgspec.Struct):
    """The members of a file."""

    attrs: list[int]
    tokens: memoryview
    spaces: memoryview
    lengths: memoryview
    strings: msgspec.Raw
    cats: msgspec.Raw
    flags: msgspec.Raw = msgspec.Raw()
    span_groups: msgspec.Raw = msgspec.Raw()
    user_data: msgspec.Raw = msgspec.Raw()


class _Group(msgspec.Struct):
    """A group of spans."""

    spans: list[bytes]
    name: str = ""
    attrs: msgspec.Raw = msgspec.Raw(b"\x80")


def unpack(data: bytes) -> bytes:
    """The content of a file.

    Raises:
        ValueError: if it is incomplete, or much larger than the file.
        zlib.error: if it is not compressed, or damaged.
    """
    most, stream = max(_UNPACKED, _RATIO * len(data)), zlib.decompressobj()
    content = stream.decompress(data, most)
    if stream.unconsumed_tail:
        raise ValueError(f"{len(data):,} bytes unpack to more than {most:,}")
    if not stream.eof:
        raise ValueError("it ends too early")
    return content


class Documents(Reporter):
    """The documents of a file, and the problems in them.

    Args:
        data: the file.
        member: the same.
        draft: what documents are added to.

    Raises:
        ValueError, RecursionError, zlib.error: if the file is damaged, or holds much more than its
            size lets one expect.
    """

    def __init__(self, data: bytes, member: Member, draft: Draft) -> None:
        file, names = msgpack.decode(unpack(data), type=_File), [*symbols()]
        lengths, spaces = np.frombuffer(file.lengths, "<i4"), np.frombuffer(file.spaces, "u1") != 0
        total, width = int(lengths.sum(dtype=np.int64)), len(file.attrs)
        if not 0 < width <= _ATTRIBUTES or len(file.tokens) != total * width * 8:
            raise ValueError(f"{len(file.tokens):,} bytes are not {total:,} tokens of {width:,}")
        if len(spaces) != total or (lengths < 0).any():
            raise ValueError(f"{len(spaces):,} spaces are not those of {total:,} tokens")
        parts = [file.cats, file.flags, file.span_groups, file.user_data]
        for part in filter(memoryview, parts):
            if _count(part) != len(lengths):
                raise ValueError(f"{_count(part):,} cats or flags for {len(lengths):,} documents")
        self.tokens = np.frombuffer(file.tokens, "<i8").reshape(total, width)
        attrs = {names[number]: at for at, number in enumerate(file.attrs) if number < len(names)}
        self.used = {name: at for name, at in attrs.items() if self.tokens[:, at].any()}
        marks = [self.tokens[:, at] == _MARKS.get(name) for name, at in self.used.items()]
        spans = sum(map(np.count_nonzero, marks)) + len(memoryview(file.span_groups)) // SPAN.size
        load = total * len(self.used) + _SPAN * spans + _DOCUMENT * len(lengths)
        if max(load, _count(file.strings)) > max(_LOAD, _DENSITY * len(data)):
            raise ValueError(f"{len(data):,} bytes hold {total:,} tokens and {spans:,} spans")
        strings = msgpack.decode(file.strings, type=list[str])
        if max(map(len, strings), default=0) > _STRING:
            raise ValueError(f"a string has more than {_STRING:,} characters")
        hashed: list[int] = hashes(strings).view("<i8").tolist()
        self.names = dict(chain(zip(hashed, strings, strict=True), enumerate(names)))
        self.ends, self.spaces = [0, *np.cumsum(lengths, dtype=np.int64).tolist()], spaces
        nothing = msgpack.encode([None] * len(lengths))
        listed = (part if memoryview(part) else nothing for part in parts)
        decoder = msgpack.Decoder(list[msgspec.Raw])
        self.parts = list(zip(*map(decoder.decode, listed), strict=True))
        self.content, self.display = Content("", [None] * len(lengths)), member.display
        self.bounded, self.waiting, self.draft = Bounded(member.max_per_code), [], draft
        if not len(lengths):
            self.add(Problem("JAN101", 0, 0, 0), "$")

    def place(self, index: int, path: Path) -> tuple[int, int]:  # noqa: ARG002
        """The number of a document: a file has no lines."""
        return index, index

    def _finding(self, path: str, problem: Problem) -> Finding:
        row = None if path == "$" else problem.start
        table = None if path == "$" else "documents"
        values = {"path": path, **problem.values}
        own = entry(problem.code)
        return own.finding(values, file=self.display, record=path, table=table, row=row)

    def schema_errors(self, index: int) -> set[Path]:  # noqa: ARG002
        """None: documents are made as the schema has them."""
        return set()

    def reject(self, index: int, row: int, origin: int, record: int) -> Mapping[str, object]:  # noqa: ARG002
        """A document whose words are not known, as a row of the table `rejected_records`."""
        self.settle()
        problem = Problem("DCB102", record, 0, 0)
        return problem.rejection("document", "", expected="a word", row=row, origin=origin)

    def take(self) -> Iterator[Item | None]:
        """Take each document; None for one with a word that is not known."""
        for index, (start, end) in enumerate(pairwise(self.ends)):
            rows, spaces = self.tokens[start:end], self.spaces[start:end].tolist()
            columns = {name: rows[:, at].tolist() for name, at in self.used.items()}
            self.index = self.draft.index = index
            yield self._document(columns, spaces, self.parts[index])

    def _document(
        self, columns: Columns, spaces: Sequence[bool], parts: Sequence[msgspec.Raw]
    ) -> Item | None:
        """A document from the columns of its tokens and its parts of the lists."""
        words = self._texts("ORTH", columns.get("ORTH", [0] * len(spaces)))
        if not all(words):
            return None
        pieces = [f"{word} " if space else word for word, space in zip(words, spaces, strict=True)]
        begins = accumulate(map(len, pieces), initial=0)
        places = [(at, at + len(word)) for at, word in zip(begins, words, strict=False)]
        texts = {
            name.lower(): self._texts(name, columns[name])
            for name in MEMBERS
            if any(columns.get(name, ()))
        }
        self._add_heads(texts, columns, len(places))
        cats, flags, groups, user_data = parts
        item: Item = {"text": "".join(pieces), "ents": self._entities(places, columns)}
        item |= {"sents": _sentences(places, columns.get("SENT_START", ())), "tokens": places}
        item |= {"spans": self._groups(places, groups), "cats": self._cats(cats)}
        given = self._decode("flags", flags, dict[str, Any] | None) or {}
        kept = {name: True for name, value in given.items() if value is True}
        unknown = _missing(places, columns.get("ENT_IOB", [MISSING] * len(places)))
        item["flags"] = {**kept, NO_ENTS: unknown} if unknown else kept
        spans = [*item["ents"], *chain.from_iterable(item["spans"].values())]
        counts = Counter(span.get("id") for span in spans)
        for span in spans:
            if counts[span.get("id")] > 1 and "id" in span:  # that of a pattern or an entity
                span["ent_id"] = span.pop("id")
        return {**item, **self._user_data(user_data), COLUMNS: {"orth": words, **texts}}

    def _texts(self, attr: str, column: Sequence[int]) -> list[str]:
        """The strings of a column; empty for those that are not known, each reported once."""
        found = [self.names.get(value) for value in column]
        if None in found or (attr == "ORTH" and "" in found):
            for value in dict.fromkeys(column):
                if not self.names.get(value) and (value or attr == "ORTH"):
                    self._text(value, ("tokens", column.index(value), attr))
        return [text or "" for text in found]

    def _text(self, value: int, path: Path) -> str:
        """The string of a number; the number itself, which is reported, if it is not known."""
        name = self.names.get(value)
        if name is not None and (value or path[-1] != "ORTH"):
            return name
        self.report(self.index, "DCB102", path, value=value % (1 << 64))
        return str(value % (1 << 64))

    def _wrong(self, path: Path, given: object, wanted: str) -> None:
        """Report a value that cannot be there."""
        self.report(self.index, "JAN104", path, given=str(given)[:60], wanted=wanted)

    def _add_heads(self, texts: dict[str, list[Any]], columns: Columns, size: int) -> None:
        """Add the heads of tokens, where there are any or relations to them."""
        distances = columns.get("HEAD", [0] * size)
        if not any(distances) and "dep" not in texts:
            return
        heads = [at + distance for at, distance in enumerate(distances)]
        for at, head in enumerate(heads):
            if not 0 <= head < size:
                self._wrong(("tokens", at, "HEAD"), distances[at], "the distance to a token")
                heads[at] = at
        texts |= {"dep": texts.get("dep", [""] * size), "head": heads}

    def _entities(self, places: Places, columns: Columns) -> list[Item]:
        """The entities: each begins with the tag of a token, which others may continue."""
        found, open_ = list[Item](), False
        nothing = [0] * len(places)
        names = ("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
        iob, labels, entities, ids = (columns.get(name, nothing) for name in names)
        for at, tag in enumerate(iob):
            if tag not in {MISSING, INSIDE, OUTSIDE, BEGIN}:
                self._wrong(("tokens", at, "ENT_IOB"), tag, "0 to 3")
            if tag == INSIDE and not open_:
                self._wrong(("tokens", at, "ENT_IOB"), tag, "3 for the first token of an entity")
            if tag == INSIDE and open_:
                found[-1]["end"] = places[at][1]
                continue
            open_ = tag in {INSIDE, BEGIN} and labels[at] != 0
            if open_:
                numbers = (labels[at], entities[at], ids[at])
                found.append(self._span(("tokens", at), places[at], numbers))
        return found

    def _span(self, path: Path, place: tuple[int, int], numbers: Sequence[int]) -> Item:
        """A span with its label, and its entity and identifier if it has them."""
        span: Item = {"start": place[0], "end": place[1], "label": ""}
        for name, number in zip(("label", "kb_id", "id"), numbers, strict=True):
            if number:
                span[name] = self._text(number, (*path, name))
        return span

    def _groups(self, places: Places, raw: msgspec.Raw) -> dict[str, list[Item]]:
        """The groups of spans, by their keys."""
        found = dict[str, list[Item]]()
        kinds = list[bytes] | dict[bytes, list[str]]
        packed: Any = self._decode("spans", raw, bytes | None) or b"\x90"
        listed: Any = self._decode("spans", packed, kinds) or []
        for content in listed:
            group: Any = self._decode("spans", content, _Group)
            if group is None:
                continue
            if msgpack.decode(group.attrs):
                self.draft.leave_out("attributes of groups of spans", ("spans",), "JAN106")
            for key in listed[content] if isinstance(listed, dict) else [group.name]:
                spans = (
                    self._group_span(("spans", key, at), places, span)
                    for at, span in enumerate(group.spans)
                )
                found[key] = [span for span in spans if span]
        return found

    def _group_span(self, path: Path, places: Places, packed: bytes) -> Item | None:
        """A span of a group; None where it has no tokens."""
        if len(packed) != SPAN.size:
            self._wrong(path, f"{len(packed)} bytes", f"{SPAN.size} bytes")
            return None
        name, entity, label, start, end, *extent = SPAN.unpack(packed)
        if not 0 <= start < end <= len(places):
            self._wrong(path, f"tokens {start} to {end}", f"tokens from 0 to {len(places)}")
            return None
        place = (places[start][0], places[end - 1][1])
        if (*extent,) != place:
            self._wrong(path, "characters {} to {}".format(*extent), "those of its tokens")
        return self._span(path, place, (label, entity, name))

    def _decode(self, member: str, packed: Any, kind: Any) -> Any:
        """A value; None for one that is damaged, and reported, and for one that is too large."""
        if bytes(memoryview(packed)[:2]) in _NOTHING:  # most are so, and this is quick
            return None
        if len(memoryview(packed)) > _LARGEST and member != "spans":
            self.draft.leave_out(f"more than {_LARGEST:,} bytes of {member}", (member,), "JAN106")
            return None
        try:
            return msgpack.decode(packed, type=kind)
        except DAMAGE as error:
            self._wrong((member,), f"read ({error})", "what spaCy writes")
        return None

    def _cats(self, raw: msgspec.Raw) -> dict[str, float]:
        """The scores of categories."""
        scores: Item = self._decode("cats", raw, dict[str, Any] | None) or {}
        for label, score in scores.items():
            if not is_score(score):
                self._wrong(("cats", label), score, "a finite number")
        return {
            label: score if type(score) is int else float(score)
            for label, score in scores.items()
            if is_score(score)
        }

    def _user_data(self, raw: msgspec.Raw) -> Item:
        """The name of a document, and its other data that are JSON."""
        packed = self._decode("user_data", raw, bytes | None) or b"\x80"
        data: dict[Any, Any] = self._decode("user_data", packed, dict[Any, Any]) or {}
        own = {"id": data.pop("id")} if type(data.get("id")) in {str, int} else {}
        kept = {
            name if isinstance(name, str) else compact(name): value
            for name, value in data.items()
            if _is_json(value) and is_name(name)
        }
        for _ in range(len(data) - len(kept)):
            self.draft.leave_out("user data that are not JSON", ("user_data",), "JAN106")
        return {**own, "user_data": kept}


def _count(packed: msgspec.Raw) -> int:
    """The number of items that a list says it has.

    Raises:
        ValueError: if it is no list.
    """
    first, *size = bytes(memoryview(packed)[:5])
    if first & 0xF0 == 0x90:
        return first & 0x0F
    if first not in {0xDC, 0xDD}:
        raise ValueError("cats, strings and what belongs to documents are lists")
    return int.from_bytes(size[: 2 if first == 0xDC else 4], "big")


def is_score(value: object) -> bool:
    """Whether a value is a score.

    Examples:
        >>> is_score(0.5), is_score(float("nan")), is_score("0.5")
        (True, False, False)
    """
    return isinstance(value, int | float) and abs(value) <= _GREATEST


def is_name(value: object) -> bool:
    """Whether a value can be a name in user data: a text, or that of an attribute of an extension.

    Examples:
        >>> is_name("id"), is_name(("._.", "id", None, None)), is_name(1)
        (True, True, False)
    """
    parts = value if isinstance(value, list | tuple) else ()
    plain = parts and all(part is None or isinstance(part, str | int) for part in parts)
    return isinstance(value, str) or bool(plain)


def _is_json(*values: object) -> bool:
    """Whether values come back from JSON as they are."""
    try:
        return bool(json.loads(json.dumps(values, allow_nan=False)) == [*values])
    except (TypeError, ValueError, RecursionError):
        return False


def _sentences(places: Places, starts: Sequence[int]) -> list[Item]:
    """The sentences, where it is known of any token whether it begins one."""
    if not any(starts[1:]) and [*starts] != [1]:
        return []
    begins = [0, *(at for at, start in enumerate(starts) if at and start == 1), len(starts)]
    return [{"start": places[a][0], "end": places[b - 1][1]} for a, b in pairwise(begins)]


def _missing(places: Places, tags: Sequence[int]) -> list[list[int]]:
    """The places of tokens of which it is not known whether they are in an entity."""
    runs = groupby(range(len(places)), key=lambda at: tags[at] == MISSING)
    listed = [[*run] for is_missing, run in runs if is_missing]
    return [[places[run[0]][0], places[run[-1]][1]] for run in listed]
