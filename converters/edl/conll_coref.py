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
from typing import Literal

import polars as pl

from hlteval.converters.edl.conll_brackets import BEGIN, END, brackets, columns, part
from hlteval.converters.edl.conll_coref_lines import count_losses, write
from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.toolkit.single_file import head, locate_lines
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
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
    """The rows of all files."""

    def __init__(self, path: str, offsets: Offsets, entities: Entities) -> None:
        self.path, self.offsets, self.entities = path, offsets, entities
        self.members: list[Member] = []
        self.findings: list[Finding] = []
        self.bounded = Bounded(0)
        self.sources: list[dict[str, object]] = []
        self.documents: dict[str, int] = {}
        self.origins: list[int] = []
        self.texts: list[list[str]] = []
        self.rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in _COLUMNS}
        self.begun: list[_Document] = []
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
        self.bounded = Bounded(member.max_per_code)
        for number, line in enumerate((decoded.text or "").split("\n"), start=1):
            self.line(number, line.removesuffix("\r"), member.display)
        self.close(member.display)
        self.findings += self.bounded.findings

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
            self.report("CRF101", number, line, display)
        else:
            self.token(self.here, number, line, display)

    def begin(self, name: str) -> None:
        known = self.documents.setdefault(name, len(self.documents))
        if known == len(self.texts):
            self.texts.append([])
            self.origins.append(len(self.sources) - 1)
            self.begun.append(_Document(name, known, self.texts[known]))
        self.here = self.begun[known]

    def close(self, display: str) -> None:
        """End a document, and report mentions that begin but do not end."""
        self.sentence()
        for entity, begun in self.here.begun.items() if self.here else ():
            for _, number, line in begun:
                self.report("CRF105", number, line, display, entity=entity)
        if self.here:
            self.here.begun.clear()
        self.here = None

    def sentence(self) -> None:
        """End a sentence, if there is one."""
        here = self.here
        if here and here.tokens:
            first, last = here.tokens[0], here.tokens[-1]
            segment = len(self.rows["segments"])
            self.rows["segments"].append((*first[:3], first[3], last[4]))
            self.rows["tokens"] += [(*token[:3], segment, *token[3:]) for token in here.tokens]
            here.tokens.clear()
            here.separate("\n")

    def token(self, here: _Document, number: int, line: str, display: str) -> None:
        """Add a token, and the mentions that begin or end there."""
        cells = columns(line)
        word = cells[3] if len(cells) > 4 else cells[0]
        if len(cells) < 2:
            self.report("CRF102", number, line, display)
            return
        start, end = here.place(word, self.offsets)
        origin = len(self.sources) - 1
        here.tokens.append((here.row, origin, number, start, end, word))
        found = brackets(cells[-1])
        if found is None:
            self.report("CRF103", number, line, display, given=cells[-1])
            return
        for begins, entity, ends in found:
            if begins:
                here.begun.setdefault(entity, []).append((start, number, line))
            if ends and here.begun.get(entity):
                first, begun, _ = here.begun[entity].pop()
                mention = (here.row, origin, begun, "", "", first, end, self.identifier(entity))
                self.rows["mentions"].append(mention)
            elif ends:
                self.report("CRF104", number, line, display, entity=entity)

    def identifier(self, entity: str) -> str:
        """The identifier of an entity in the representation."""
        if self.entities == "written" or not entity.isdigit() or self.here is None:
            return entity
        return f"NIL{entity}" if self.entities == "corpus" else f"NIL{entity}:{self.here.name}"

    def report(self, code: str, number: int, line: str, display: str, **values: object) -> None:
        """Report a problem of a line."""

        def finding(record: int, line: str) -> Finding:
            in_last = code in {"CRF103", "CRF104", "CRF105"}
            start, end = _stretch(line, "entity" if in_last else "")
            return Problem(code, record, start, end, values).in_line(display, line)

        self.bounded.add(code, number, finding, line)

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
                schema={column: TABLES[name].schema[column] for column in names},
                orient="row",
            ).with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
            for name, names in _COLUMNS.items()
        }
        return Corpus(sources=self.sources, documents=documents, **tables)


class _Document:
    """A document that is being read; it may go on after others."""

    def __init__(self, name: str, row: int, words: list[str]) -> None:
        self.name, self.row, self.words = name, row, words
        self.tokens: list[tuple[int, int, int, int, int, str]] = []
        self.begun: dict[str, list[tuple[int, int, str]]] = {}
        self.length = self.number = 0

    def separate(self, space: str) -> None:
        """Put a space or a line break after a token."""
        self.words.append(space)
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
    """The lines of places of a file, or their last columns."""
    return locate_lines(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    in_last = field in {"extent", "offsets", "entity"}
    return len(line) - len(columns(line)[-1]) if in_last else 0, len(line)


FORMAT = Format(
    name="conll-coref",
    title="CoNLL coreference: tokens with the mentions that start and end there",
    suffixes=(SUFFIX,),
    layout="single_file",
    words={
        "segments": "sentence",
        "tokens": "token line",
        "mentions": "coreference mark",
        "mentions.entity": "entity number",
        "rejected_records": "unreadable line",
    },
    carries=("sources", "documents", "segments", "tokens", "mentions", "mentions.entity"),
    sniff=sniff,
    read=read,
    codes=("CRF",),
    locate=locate,
    write=write,
    known_losses="columns between word and entity; which end belongs to which start if "
    "mentions of one entity cross",
    count_losses=count_losses,
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
