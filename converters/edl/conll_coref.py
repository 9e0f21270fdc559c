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

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import head, locate_lines
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

# The lines of CoNLL coreference: columns, the brackets in the last, names of documents.


BEGIN = re.compile(r"#begin document \((?P<name>[^\n]*?)\)(?:; part (?P<part>[0-9]+))?[ \t\r]*$")
END = re.compile(r"#end document[ \t\r]*$")
_PART = re.compile(r"(\()?([^()|\s]+)(\))?")
NONE = {"-", "_", "*"}


def columns(line: str) -> list[str]:
    r"""The columns of a line: separated by tabs if it has some, else by spaces.

    Examples:
        >>> columns("d 0 1  Osh (3)"), columns("New York\t-")
        (['d', '0', '1', 'Osh', '(3)'], ['New York', '-'])
    """
    return line.split("\t") if "\t" in line else line.split() or [""]


def brackets(cell: str) -> list[tuple[bool, str, bool]] | None:
    """The mentions that begin or end at a token, from its last column.

    Args:
        cell: of the last column, with `|` between its parts.

    Returns:
        For each part whether a mention begins, its entity, and whether it ends; None if the cell is
        not valid.

    Examples:
        >>> brackets("(1|(7)"), brackets("-"), brackets("1|")
        ([(True, '1', False), (True, '7', True)], [], None)
    """
    if cell in NONE:
        return []
    found = []
    for text in cell.split("|"):
        match = _PART.fullmatch(text)
        if match is None or not (match[1] or match[3]):
            return None
        found.append((bool(match[1]), match[2], bool(match[3])))
    return found


def part(begun: re.Match[str]) -> str:
    """The name of a document, with its part if that is not the first.

    Examples:
        >>> line = "#begin document (D1); part 002"
        >>> part(BEGIN.match(line)), part(BEGIN.match(line.replace("2", "0")))
        ('D1;2', 'D1')
    """
    number = (begun["part"] or "").lstrip("0")  # which may be longer than any number
    return f"{begun['name']};{number}" if number else begun["name"]


# Writing CoNLL coreference: tokens of a corpus with the mentions that begin and end there.


_ENTITY = r"^[^()|\s]+$"
_PARTED = re.compile(r"(.*);([1-9][0-9]*)", re.DOTALL)
_SPACES = re.compile(r"\s+")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the documents that have tokens."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            stream.writelines(f"{line}\n" for line in _lines(corpus))


def _begin(name: str) -> str:
    """The line that begins a document."""
    parted = _PARTED.fullmatch(name)
    base, number = (parted[1], parted[2]) if parted else (name, "")
    return f"#begin document ({base}); part {number:0>3}"


def _is_writable(name: str) -> bool:
    """Whether a document of this name is read as the same one."""
    begun = BEGIN.match(_begin(name))
    return "\n" not in name and "\r" not in name and begun is not None and part(begun) == name


def _tokens(corpus: Corpus) -> pl.DataFrame:
    """The tokens of documents that can be written, in order."""
    names = [name for name in corpus.documents["name"] if _is_writable(name)]
    documents = corpus.documents.filter(pl.col("name").is_in(names)).select(
        named="name", document="row"
    )
    tokens = corpus.tokens.filter(pl.col("text").str.strip_chars() != "")
    named = tokens.join(documents, on="document", maintain_order="left")
    return named.sort("document", "start", "end", maintain_order=True).with_columns(
        token=pl.int_range(pl.len())
    )


def _placed(corpus: Corpus, tokens: pl.DataFrame) -> pl.DataFrame:
    """The mentions that begin and end where tokens do, with the first and the last of these."""
    first = tokens.unique(("document", "start"), keep="first").select(
        "document", "start", first="token"
    )
    last = tokens.unique(("document", "end"), keep="last").select(
        "document", "end", "named", last="token"
    )
    placed = corpus.mentions.join(first, on=("document", "start"), maintain_order="left")
    placed = placed.join(last, on=("document", "end"), maintain_order="left")
    own = pl.format("NIL{}:{}", "number", "named")
    numbered = placed.with_columns(
        number=pl.col("entity").str.extract(r"^NIL([0-9]+):", 1).fill_null("")
    )
    written = pl.when(pl.col("entity") == own).then("number").otherwise("entity")
    return numbered.with_columns(written=written).filter(
        pl.col("first") <= pl.col("last"), pl.col("written").str.contains(_ENTITY)
    )


def _read_again() -> pl.Expr:
    """Whether a token is read with the same offsets: its number, or characters of the words."""
    number = pl.int_range(1, pl.len() + 1).over("document")
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    end = (length + 1).cum_sum().over("document") - 1
    by_number = (pl.col("start") == number) & (pl.col("end") == number + 1)
    return by_number | ((pl.col("start") == end - length) & (pl.col("end") == end))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What no line can represent of the tables."""
    tokens = _tokens(corpus)
    placed = _placed(corpus, tokens)
    silent = corpus.documents.join(tokens, left_on="row", right_on="document", how="anti")
    bare = corpus.segments.join(tokens, left_on="row", right_on="segment_row", how="anti")
    elsewhere = tokens.filter(~_read_again())
    numbers = placed.filter(pl.col("entity").str.contains("^[0-9]+$"))
    return {
        "documents without tokens": silent.height,
        "segments without tokens": bare.height,
        "tokens without text, or with spaces": corpus.tokens.height
        - tokens.filter(~pl.col("text").str.contains(r"\s")).height,
        "tokens with offsets that change on reading": elsewhere.height,
        "mentions without an entity, or not aligned with tokens": corpus.mentions.height
        - placed.height,
        "types and identifiers of mentions": placed.filter(
            (pl.col("label") != "") | (pl.col("mention") != "")
        ).height,
        "links to a knowledge base, read back as clusters": numbers.height,
    }


def _lines(corpus: Corpus) -> Iterator[str]:
    tokens = _tokens(corpus)
    brackets = _brackets(_placed(corpus, tokens))
    document, segment, number = None, None, 0
    for name, sentence, token, text in tokens.select(
        "named", "segment_row", "token", "text"
    ).rows():
        if name != document:
            yield from (["", "#end document"] if document is not None else [])
            yield _begin(name)
            document, segment, number = name, sentence, 0
        elif sentence != segment:
            yield ""
            segment, number = sentence, 0
        word = _SPACES.sub("_", text)
        base = _PARTED.fullmatch(name)
        shown = _SPACES.sub("_", base[1] if base else name)
        cell = "|".join(brackets.get(token, ())) or "-"
        yield "\t".join([shown or "-", str(base[2] if base else 0), str(number), word, cell])
        number += 1
    yield from (["", "#end document"] if document is not None else [])


def _brackets(mentions: pl.DataFrame) -> Mapping[int, list[str]]:
    """The last column by token: mentions that begin, the outer first; then those that end."""
    ordered = mentions.sort("first", "last", descending=[False, True], maintain_order=True)
    rows = ordered.select("first", "last", "written").rows()
    cells: dict[int, list[str]] = {}
    for first, last, entity in rows:
        cells.setdefault(first, []).append(f"({entity})" if first == last else f"({entity}")
    for _, last, entity in (row for row in reversed(rows) if row[0] != row[1]):
        cells.setdefault(last, []).append(f"{entity})")
    return cells


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


FORMAT = declaration(__name__)
