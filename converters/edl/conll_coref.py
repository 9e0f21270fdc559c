r"""CoNLL coreference: one token per line, with the mentions that start and end there.

Format:
    `#begin document (NAME); part 000`, token lines, `#end document`. Columns are separated by
    spaces or tabs; the word is the fourth column, or the first if there are fewer than five; the
    last column is `-`, or parts separated by `|`: `(7` starts a mention of entity 7, `7)` ends the
    most recent one, `(7)` is a mention of one token. An empty line ends a sentence.

Conventions:
    The offset of a token is its 1-based number in the document, so a mention of the first two
    tokens is at 1-2, as in neleval. With `--set offsets=characters`, offsets are code points of a
    text with a space between words and a line feed between sentences. Entity 7 of document D
    becomes `NIL7:D`; with `--set entities=corpus` it becomes `NIL7`, shared by all documents, and
    with `--set entities=written` it stays as it is. Parts after the first are separate documents,
    `NAME;PART`.

Example lines:
    #begin document (D1); part 000
    D1	0	0	Daniel	(7
    D1	0	1	Ortega	7)
    D1	0	2	spoke	-

    #end document

Codes raised: CRF1xx.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

import polars as pl

from hlteval.converters.edl.conll_brackets import BEGIN, END, columns, part, parts
from hlteval.converters.edl.conll_coref_lines import lost, write
from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.toolkit.single_file import head
from hlteval.findings import FieldRef, Finding, Location, Span, catalogue, excerpt
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

SUFFIX = ".conll"
Offsets = Literal["tokens", "characters"]
Entities = Literal["document", "corpus", "written"]

_PLACED = ("document", "origin", "record")
_COLUMNS = {
    "segments": (*_PLACED, "start", "end"),
    "tokens": (*_PLACED, "segment_row", "start", "end", "text"),
    "mentions": (*_PLACED, "mention", "label", "start", "end", "entity"),
}


def sniff(source: Source) -> bool:
    """Whether the first line of a single file begins a document."""
    return BEGIN.match(head(source, 400).partition("\n")[0]) is not None


def read(
    source: Source, offsets: Offsets = "tokens", entities: Entities = "document"
) -> Iterator[ReadResult]:
    """The tokens and mentions of all files, as one batch."""
    table = _Table(source.path, offsets, entities)
    for member in source.members:
        table.take(member)
    yield ReadResult(table.corpus(), tuple(table.findings), tuple(table.members))


class _Table:
    """What is collected over the lines of all files."""

    def __init__(self, path: str, offsets: Offsets, entities: Entities) -> None:
        self.path, self.offsets, self.entities = path, offsets, entities
        self.members: list[Member] = []
        self.findings: list[Finding] = []
        self.sources: list[dict[str, object]] = []
        self.documents: dict[str, int] = {}
        self.origins: list[int] = []
        self.texts: list[list[str]] = []
        self.rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in _COLUMNS}
        self.here: _Document | None = None

    def take(self, member: Member) -> None:
        """Add a file."""
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return
        self.members.append(member)
        self.sources.append(
            {"row": len(self.sources), "path": self.path, "member": member.name or member.basename,
             "format": FORMAT.name, "sha256": sha256(data)}
        )  # fmt: skip
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings.extend(decoded.findings)
        for number, line in enumerate((decoded.text or "").split("\n"), start=1):
            self.line(number, line.removesuffix("\r"), member.display)
        self.close(member.display)

    def line(self, number: int, line: str, display: str) -> None:
        """Add a line."""
        if begun := BEGIN.match(line):
            self.close(display)
            self.begin(part(begun))
        elif END.match(line):
            self.close(display)
        elif not line.strip():
            self.sentence()
        elif self.here is None:
            self.tell("CRF101", number, line, display)
        else:
            self.token(self.here, number, line, display)

    def begin(self, name: str) -> None:
        known = self.documents.setdefault(name, len(self.documents))
        if known == len(self.texts):
            self.texts.append([])
            self.origins.append(len(self.sources) - 1)
        self.here = _Document(name, known, self.texts[known])

    def close(self, display: str) -> None:
        """End a document: what was begun and not ended is told."""
        self.sentence()
        for entity, begun in self.here.begun.items() if self.here else ():
            for _, number, line in begun:
                self.tell("CRF105", number, line, display, entity=entity)
        self.here = None

    def sentence(self) -> None:
        """End a sentence, if there is one."""
        here = self.here
        if here and here.tokens:
            first, last = here.tokens[0], here.tokens[-1]
            segment = len(self.rows["segments"])
            self.rows["segments"].append((*first[:3], first[3], last[4]))
            self.rows["tokens"] += [(*one[:3], segment, *one[3:]) for one in here.tokens]
            here.tokens.clear()
            here.separate("\n")

    def token(self, here: _Document, number: int, line: str, display: str) -> None:
        """Add a token, and the mentions that begin or end there."""
        cells = columns(line)
        word = cells[3] if len(cells) > 4 else cells[0]
        if len(cells) < 2:
            self.tell("CRF102", number, line, display)
            return
        start, end = here.place(word, self.offsets)
        origin = len(self.sources) - 1
        here.tokens.append((here.row, origin, number, start, end, word))
        said = parts(cells[-1])
        if said is None:
            self.tell("CRF103", number, line, display, given=cells[-1])
            return
        for begins, entity, ends in said:
            if begins:
                here.begun.setdefault(entity, []).append((start, number, line))
            if ends and here.begun.get(entity):
                first, begun, _ = here.begun[entity].pop()
                mention = (here.row, origin, begun, "", "", first, end, self.named(entity))
                self.rows["mentions"].append(mention)
            elif ends:
                self.tell("CRF104", number, line, display, entity=entity)

    def named(self, entity: str) -> str:
        """An entity as the representation has it."""
        if self.entities == "written" or not entity.isdigit() or self.here is None:
            return entity
        return f"NIL{entity}" if self.entities == "corpus" else f"NIL{entity}:{self.here.name}"

    def tell(self, code: str, number: int, line: str, display: str, **values: object) -> None:
        end = len(line) + 1
        start = end - len(columns(line)[-1]) if code in {"CRF103", "CRF104", "CRF105"} else 1
        span = Span(number, start, end)
        self.findings.append(
            catalogue()[code].finding(values, file=display, span=span, excerpt=excerpt(line, span))
        )

    def corpus(self) -> Corpus:
        """Everything that was read."""
        texts = ["".join(words) if self.offsets == "characters" else None for words in self.texts]
        documents = [
            {"row": row, "origin": self.origins[row], "name": name, "text": texts[row]}
            for name, row in self.documents.items()
        ]
        tables = {
            name: pl.DataFrame(
                self.rows[name],
                schema={column: TABLES[name].schema[column] for column in told},
                orient="row",
            ).with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
            for name, told in _COLUMNS.items()
        }
        return Corpus(sources=self.sources, documents=documents, **tables)


class _Document:
    """The document that is being read."""

    def __init__(self, name: str, row: int, words: list[str]) -> None:
        self.name, self.row, self.words = name, row, words
        self.tokens: list[tuple[int, int, int, int, int, str]] = []
        self.begun: dict[str, list[tuple[int, int, str]]] = {}
        self.length = sum(map(len, words))
        self.number = sum(word not in {" ", "\n"} for word in words)

    def separate(self, blank: str) -> None:
        """Put a blank behind a token."""
        self.words.append(blank)
        self.length += 1

    def place(self, word: str, offsets: Offsets) -> tuple[int, int]:
        """The offsets of the next token."""
        if self.tokens:
            self.separate(" ")
        self.number += 1
        self.length += len(word)
        self.words.append(word)
        if offsets == "tokens":
            return self.number, self.number + 1
        return self.length - len(word), self.length


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of places of a file, or what their last columns say."""
    decoded = decode(member.fetch(), display=member.display, encoding=member.encoding)
    wanted = {place.record for place in places}
    lines = (decoded.text or "").split("\n")
    kept = {
        number: line.removesuffix("\r")
        for number, line in islice(enumerate(lines, start=1), max(wanted, default=0))
        if number in wanted
    }
    return [
        _located(kept[place.record], place) if place.record in kept else None for place in places
    ]


def _located(line: str, place: FieldRef) -> Location:
    end = len(line) + 1
    start = end - len(columns(line)[-1]) if place.field in {"extent", "offsets", "entity"} else 1
    span = Span(place.record, start, end)
    return Location(span, excerpt(line, span))


FORMAT = Format(
    name="conll-coref",
    title="CoNLL coreference: tokens with the mentions that start and end there",
    suffixes=(SUFFIX,),
    layout="single_file",
    carries=("sources", "documents", "segments", "tokens", "mentions", "mentions.entity"),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    known_losses="columns between word and entity; which end belongs to which start if "
    "mentions of one entity cross",
    count_losses=lost,
    settings=(
        Setting(
            "offsets",
            "Whether offsets are 1-based tokens, or characters of the text built from them.",
            "tokens",
            of="read",
            choices=("tokens", "characters"),
        ),
        Setting(
            "entities",
            "Scope of entity numbers: the document, the corpus, or as written.",
            "document",
            of="read",
            choices=("document", "corpus", "written"),
        ),
    ),
)
