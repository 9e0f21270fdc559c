"""DocBin files of spaCy: from their bytes to documents as `Doc.to_json` has them.

A file is MessagePack in zlib: `attrs`, the attributes of a token by their numbers; `tokens`, a row
of 64-bit numbers for each token of all documents; `spaces`, whether a space follows it; `lengths`,
how many tokens each document has; `strings`, which the numbers stand for; and for each document
`cats`, `flags`, `span_groups` and `user_data`.
"""

import json
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from operator import mul
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import msgpack

from hlteval.converters.annotation_tools.spacy_strings import hashes, symbols
from hlteval.converters.toolkit.json_annotations import Draft
from hlteval.converters.toolkit.json_documents import Content, Item, Reporter, compact
from hlteval.findings import Bounded, Finding, Problem, entry
from hlteval.sources import Member
from hlteval.syntax.places import Path
from hlteval.syntax.places import Places as TextPlaces

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
_NO_MORPH = "_"
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
#: Bytes of the data of documents that count one.
_DATA = 8
#: The attributes of a token that are numbers of strings.
_STRINGS = ("ORTH", *MEMBERS, "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
#: The values of tokens that begin an entity or a sentence.
_MARKS = {"ENT_IOB": BEGIN, "SENT_START": 1}
#: Values that are empty, or missing.
_NOTHING = (b"", b"\x80", b"\x90", b"\xc0")
#: The greatest score.
_GREATEST = 1e300
#: Attributes of a token; characters of a string; bytes of what belongs to a whole document.
_ATTRIBUTES, _STRING, _LARGEST = 100, 1_000_000, 1 << 20


#: The columns of tokens by the names of attributes, and where tokens begin and end.
Column = npt.NDArray[Any]
Columns = dict[str, Column]
Places = tuple[Column, Column]


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


def most_bytes(data: bytes) -> int:
    """The number of bytes that a file may unpack to, and of characters that its tokens may have.

    Examples:
        >>> most_bytes(bytes(1_000_000))
        64000000
    """
    return max(_UNPACKED, _RATIO * len(data))


def unpack(data: bytes) -> bytes:
    """The content of a file.

    Raises:
        ValueError: if it is incomplete, or much larger than the file.
        zlib.error: if it is not compressed, or damaged.
    """
    most, stream = most_bytes(data), zlib.decompressobj()
    content = stream.decompress(data, most)
    if stream.unconsumed_tail:
        raise ValueError(f"{len(data):,} bytes unpack to more than {most:,}")
    if not stream.eof:
        raise ValueError("it ends too early")
    return content


class DocumentPlaces(TextPlaces):
    """The numbers of documents, where a file has no lines."""

    def finding(self, problem: Problem, file: str, identifier: str | None = None) -> Finding:
        """The finding of a problem whose start is the number of a document; see `Places`."""
        row = None if identifier == "$" else problem.start
        own, table = entry(problem.code), "documents" if row is not None else None
        return own.finding(problem.values, file=file, record=identifier, table=table, row=row)


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
        self.room = max(_LOAD, _DENSITY * len(data)) - load
        if self.room < 0 or _count(file.strings) > load + self.room:
            raise ValueError(f"{len(data):,} bytes hold {total:,} tokens and {spans:,} spans")
        strings = msgpack.decode(file.strings, type=list[str])
        if max(map(len, strings), default=0) > _STRING:
            raise ValueError(f"a string has more than {_STRING:,} characters")
        hashed: list[int] = hashes(strings).view("<i8").tolist()
        self.names = dict(chain(zip(hashed, strings, strict=True), enumerate(names)))
        self.left = most_bytes(data) - self._characters()
        if self.left < 0:
            raise ValueError(f"{len(data):,} bytes hold more than {most_bytes(data):,} characters")
        self.ends, self.spaces = [0, *np.cumsum(lengths, dtype=np.int64).tolist()], spaces
        nothing = msgpack.encode([None] * len(lengths))
        listed = (part if memoryview(part) else nothing for part in parts)
        decoder = msgpack.Decoder(list[msgspec.Raw])
        self.parts = list(zip(*map(decoder.decode, listed), strict=True))
        self.content, self.display = Content("", [None] * len(lengths)), member.display
        self.bounded, self.places = Bounded(member.max_per_code), DocumentPlaces("")
        self.waiting, self.draft = [], draft
        if not len(lengths):
            self.add(Problem("JAN101", 0, 0, 0), "$")

    def _characters(self) -> int:
        """The characters of all strings that tokens have, as often as they have them."""
        total, longest = 0, max(map(len, self.names.values()))
        for at in (at for name, at in self.used.items() if name in _STRINGS):
            if longest * len(self.tokens) > _UNPACKED:  # else it does not matter
                values, counts = np.unique(self.tokens[:, at], return_counts=True)
                texts = map(self.names.get, values.tolist())
                sizes = (len(text or "") for text in texts)
                total += sum(map(mul, sizes, counts.tolist()))
        return total

    def place(self, index: int, path: Path) -> tuple[int, int]:  # noqa: ARG002
        """The number of a document: a file has no lines."""
        return index, index

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
            self.index = self.draft.index = index
            rows = self.tokens[start:end]
            columns: Columns = defaultdict(partial(np.zeros, end - start, np.int64))
            columns |= {name: rows[:, at] for name, at in self.used.items()}
            yield self._document(columns, self.spaces[start:end], self.parts[index])

    def _document(self, columns: Columns, spaces: Column, parts: Sequence[Any]) -> Item | None:
        """A document from the columns of its tokens and its parts of the lists."""
        words = self._texts("ORTH", columns["ORTH"])
        if not all(words):
            return None
        gaps = [" " if space else "" for space in spaces.tolist()]
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        ends = np.cumsum(sizes + spaces) - spaces
        places = (ends - sizes, ends)
        item: Item = {"text": "".join(chain.from_iterable(zip(words, gaps, strict=True)))}
        texts: Item = {"orth": words, "start": places[0], "end": places[1]}
        for name in MEMBERS:
            if name in columns and columns[name].any():
                texts[name.lower()] = self._texts(name, columns[name])
        if "morph" in texts:
            texts["morph"] = ["" if text == _NO_MORPH else text for text in texts["morph"]]
        if ("HEAD" in columns and columns["HEAD"].any()) or "dep" in texts:
            heads = np.arange(len(words)) + columns["HEAD"]
            for at in np.flatnonzero((heads < 0) | (heads >= len(words))).tolist():
                self._wrong(("tokens", at, "HEAD"), columns["HEAD"][at], "the distance to a token")
                heads[at] = at
            texts |= {"dep": texts.get("dep", [""] * len(words)), "head": heads.tolist()}
        marks = columns["SENT_START"] if "SENT_START" in columns else spaces[:0]
        if marks[1:].any() or marks.tolist() == [1]:
            firsts = np.union1d([0], np.flatnonzero(marks == 1))
            lasts = [*(firsts[1:] - 1), len(words) - 1]
            limits = zip(places[0][firsts].tolist(), ends[lasts].tolist(), strict=True)
            item["sents"] = [{"start": start, "end": end} for start, end in limits]
        cats, flags, groups, user_data = parts
        item |= {"ents": self._entities(places, columns), "spans": self._groups(places, groups)}
        spans = [*item["ents"], *chain.from_iterable(item["spans"].values())]
        counts = Counter(span.get("id") for span in spans)
        for span in spans:
            if counts[span.get("id")] > 1 and "id" in span:  # that of a pattern or an entity
                span["ent_id"] = span.pop("id")
        given = self._decode("flags", flags, Item | None) or {}
        item["flags"] = {name: True for name, value in given.items() if value is True}
        edges = np.flatnonzero(np.diff(columns["ENT_IOB"] == MISSING, prepend=False, append=False))
        unknown = zip(places[0][edges[::2]].tolist(), ends[edges[1::2] - 1].tolist(), strict=True)
        item["flags"] |= {NO_ENTS: [[*place] for place in unknown]} if len(edges) else {}
        return {**item, "cats": self._cats(cats), **self._user_data(user_data), COLUMNS: texts}

    def _texts(self, attr: str, column: Column) -> list[str]:
        """The strings of a column; empty for those that are not known, each reported once."""
        values = column.tolist()
        found = [self.names.get(value) for value in values]
        if None in found or (attr == "ORTH" and "" in found):
            for value in dict.fromkeys(values):
                if not self.names.get(value) and (value or attr == "ORTH"):
                    self._text(value, ("tokens", values.index(value), attr))
        return [text or "" for text in found]

    def _text(self, value: int, path: Path) -> str:
        """The string of a number; the number itself, which is reported, if it is not known."""
        name = self.names.get(value)
        if name is not None and (value or path[-1] != "ORTH"):
            if len(name) > self.left:  # a few bytes of a span may be a long string
                self._wrong(path, f"{len(name):,} characters", "shorter")
                return ""
            self.left -= len(name)
            return name
        self.report(self.index, "DCB102", path, value=value % (1 << 64))
        return str(value % (1 << 64))

    def _wrong(self, path: Path, given: object, wanted: str) -> None:
        """Report a value that cannot be there."""
        self.report(self.index, "JAN104", path, given=str(given)[:60], wanted=wanted)

    def _entities(self, places: Places, columns: Columns) -> list[Item]:
        """The entities: each begins with the tag of a token, which others may continue."""
        found, last, tags = list[Item](), -2, columns["ENT_IOB"]
        for at in np.flatnonzero((tags != MISSING) & (tags != OUTSIDE)).tolist():
            tag, names = int(tags[at]), ("ENT_TYPE", "ENT_KB_ID", "ENT_ID")
            if tag not in {INSIDE, BEGIN}:
                self._wrong(("tokens", at, "ENT_IOB"), tag, "0 to 3")
            elif tag == INSIDE and last == at - 1:
                found[-1]["end"], last = int(places[1][at]), at
            elif tag == INSIDE:
                self._wrong(("tokens", at, "ENT_IOB"), tag, "3 for the first token of an entity")
            if tag in {INSIDE, BEGIN} and last != at and columns["ENT_TYPE"][at]:
                numbers, last = [int(columns[name][at]) for name in names], at
                place = (int(places[0][at]), int(places[1][at]))
                found.append(self._span(("tokens", at), place, numbers))
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
            keys = listed[content] if isinstance(listed, dict) else [group.name]
            self.room -= _SPAN * len(group.spans) * (len(keys) - 1)  # each is a copy
            if self.room < 0:
                self._wrong(("spans",), f"{len(keys):,} names of a group", "fewer")
                break
            for key in keys:
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
        if not 0 <= start < end <= len(places[0]):
            self._wrong(path, f"tokens {start} to {end}", f"tokens from 0 to {len(places[0])}")
            return None
        place = (int(places[0][start]), int(places[1][end - 1]))
        if (*extent,) != place:
            self._wrong(path, "characters {} to {}".format(*extent), "those of its tokens")
        span = self._span(path, place, (label, entity, name))
        return {**span, "kb_id": span.get("kb_id", "")}  # `Doc.from_json` wants one

    def _decode(self, member: str, packed: Any, kind: Any) -> Any:
        """A value; None for one that is damaged, and reported, and for one that is too large."""
        if bytes(memoryview(packed)[:2]) in _NOTHING:  # most are so, and this is quick
            return None
        if member != "spans":
            size = len(memoryview(packed))
            self.room -= size // _DATA
            if size > _LARGEST or self.room < 0:
                what = f"more than {_LARGEST:,} bytes of {member}"
                what = what if size > _LARGEST else f"{member} of a file that unpacks to too much"
                self.draft.leave_out(what, (member,), "JAN106")
                return None
        try:
            return msgpack.decode(packed, type=kind)
        except DAMAGE as error:
            self._wrong((member,), f"read ({error})", "what spaCy writes")
        return None

    def _cats(self, raw: msgspec.Raw) -> dict[str, float]:
        """The scores of categories."""
        scores: Item = self._decode("cats", raw, Item | None) or {}
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
        kept: Item = {}
        for name, value in data.items():
            try:
                is_same = json.loads(json.dumps(value, allow_nan=False)) == value
            except (TypeError, ValueError, RecursionError):
                is_same = False
            if is_same and is_name(name):
                kept[name if isinstance(name, str) else compact(name)] = value
            else:
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
