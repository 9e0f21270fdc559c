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
    `NAME;PART`. With `--set columns=tabs`, only tabs separate columns, as the official scorer of
    CoNLL-2012 has it: without tabs, marks are looked for in the whole line.

Example lines:
    #begin document (D1); part 000
    D1	0	0	Daniel	(7
    D1	0	1	Ortega	7)
    D1	0	2	spoke	-

    #end document

Codes raised: CRF1xx.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.rows import keyed
from hlteval.converters.toolkit.source_files import FileBatch, head, locate_lines
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Sections, marked_sections

# The lines of CoNLL coreference: columns, the brackets in the last, names of documents.


BEGIN = re.compile(r"#begin document \((?P<name>[^\n]*?)\)(?:; part (?P<part>[0-9]+))?[ \t\r]*$")
END = re.compile(r"#end document[ \t\r]*$")
_PART = re.compile(r"(\()?([^()|\s]+)(\))?")
#: A token with the tag of a named entity, of which `conll-columns` are made.
_TAGGED = re.compile(r"\s*\S[^\n]*[\t ](?:O|[BIESLU]-[^\s()|]+)[\t ]*\r?\n")
NONE = {"-", "_", "*"}
#: Different last columns whose brackets are kept.
_ALIKE = 10_000


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


def with_tabs(text: str) -> str:
    r"""A text whose lines without tabs have one word, and all of their marks in a last column.

    Examples:
        >>> with_tabs("d 0 0 (1) -\nd 0 1 word -")
        'd\t(1)\nd\t-'
    """
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.strip() and "\t" not in line and not line.startswith("#"):
            marks = (match[0] for match in _PART.finditer(line) if match[1] or match[3])
            lines[at] = f"{line.split()[0]}\t{'|'.join(marks) or '-'}"
    return "\n".join(lines)


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


def _tokens(corpus: Corpus) -> pl.DataFrame:
    """The tokens of documents that are read as those of the same name, in order."""
    names = {
        name: begun is not None and part(begun) == name and not {"\n", "\r"} & {*name}
        for name in corpus.documents["name"]
        for begun in [BEGIN.match(_begin(name))]
    }
    documents = corpus.documents.select(named="name", document="row")
    documents = documents.filter(pl.col("named").is_in([name for name in names if names[name]]))
    tokens = corpus.tokens.filter(pl.col("text").str.strip_chars() != "")
    named = tokens.join(documents, on="document", maintain_order="left")
    ordered = named.sort("document", "start", "end", maintain_order=True)
    return ordered.with_columns(token=pl.int_range(pl.len()))


def _marks(corpus: Corpus, tokens: pl.DataFrame) -> pl.DataFrame:
    """The mentions that begin and end where tokens do, with the first and the last of these."""
    first = tokens.unique(("document", "start"), keep="first")
    last = tokens.unique(("document", "end"), keep="last")
    first = first.select("document", "start", first="token")
    last = last.select("document", "end", "named", last="token")
    marks = corpus.mentions.join(first, on=("document", "start"), maintain_order="left")
    marks = marks.join(last, on=("document", "end"), maintain_order="left")
    number = pl.col("entity").str.extract(r"^NIL([0-9]+):", 1).fill_null("")
    own = pl.col("entity") == pl.format("NIL{}:{}", number, "named")
    marks = marks.with_columns(written=pl.when(own).then(number).otherwise("entity"))
    return marks.filter(pl.col("first") <= pl.col("last"), pl.col("written").str.contains(_ENTITY))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that no line can represent."""
    tokens = _tokens(corpus)
    marks = _marks(corpus, tokens)
    silent = corpus.documents.join(tokens, left_on="row", right_on="document", how="anti")
    bare = corpus.segments.join(tokens, left_on="row", right_on="segment_row", how="anti")
    # a token is read with the same offsets if these are its number, or characters of the words
    number = pl.int_range(1, pl.len() + 1).over("document")
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    end = (length + 1).cum_sum().over("document") - 1
    by_number = (pl.col("start") == number) & (pl.col("end") == number + 1)
    elsewhere = ~(by_number | ((pl.col("start") == end - length) & (pl.col("end") == end)))
    spaced = tokens.filter(pl.col("text").str.contains(r"\s")).height
    named = (pl.col("label") != "") | (pl.col("mention") != "")
    linked = pl.col("entity").str.contains("^[0-9]+$")
    unmarked = corpus.mentions.height - marks.height
    return {
        "documents without tokens": silent.height,
        "segments without tokens": bare.height,
        "tokens without text, or with spaces": corpus.tokens.height - tokens.height + spaced,
        "tokens with offsets that change on reading": tokens.filter(elsewhere).height,
        "mentions without an entity, or not aligned with tokens": unmarked,
        "types and identifiers of mentions": marks.filter(named).height,
        "links to a knowledge base, read back as clusters": marks.filter(linked).height,
    }


def _lines(corpus: Corpus) -> Iterator[str]:
    tokens = _tokens(corpus)
    cells = _cells(_marks(corpus, tokens))
    for (name,), rows in tokens.group_by("named", maintain_order=True):
        yield _begin(str(name))
        parted = _PARTED.fullmatch(str(name))
        base = _SPACES.sub("_", parted[1] if parted else str(name)) or "-"
        sentence, number = None, 0
        for segment, token, text in rows.select("segment_row", "token", "text").rows():
            if number and segment != sentence:
                yield ""
                number = 0
            columns = (base, parted[2] if parted else "0", str(number), _SPACES.sub("_", text))
            yield "\t".join([*columns, "|".join(cells.get(token, ())) or "-"])
            sentence, number = segment, number + 1
        yield from ("", "#end document")


def _cells(mentions: pl.DataFrame) -> Mapping[int, list[str]]:
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
Columns = Literal["any", "tabs"]
Rows = dict[str, list[tuple[object, ...]]]
#: Document, origin, record, segment, start, end and text.
Token = tuple[int, int, int, int, int, int, str]

_PLACED = ("document", "origin", "record")
_COLUMNS = {
    "segments": (*_PLACED, "start", "end"),
    "tokens": (*_PLACED, "segment_row", "start", "end", "text"),
    "mentions": (*_PLACED, "mention", "label", "start", "end", "entity"),
}


def sniff(source: Source) -> bool:
    """Whether the first line of a single file begins a document, and no tag ends the next one."""
    first, _, rest = head(source, 400).partition("\n")
    return BEGIN.match(first) is not None and not _TAGGED.match(rest)


def read(
    source: Source,
    offsets: Offsets = "tokens",
    entities: Entities = "document",
    columns: Columns = "any",
) -> Iterator[ReadResult]:
    """The tokens and mentions of all files, as one batch."""
    files = FileBatch(source.path, FORMAT.name)
    documents: dict[str, _Document] = {}
    rows: Rows = {name: [] for name in _COLUMNS}
    for member in source.members:
        text = files.open(member)
        if text is not None:
            lines = with_tabs(text) if columns == "tabs" else text
            files.findings += _file(lines, files, documents, rows, offsets, entities)
    rows["mentions"] = [row for row in rows["mentions"] if row]  # without those that do not end
    in_text = offsets == "characters"
    named = [(d.origin, d.name, "".join(d.words) if in_text else None) for d in documents.values()]
    corpus = Corpus(
        sources=files.sources,
        documents=keyed("documents", named, ("origin", "name", "text")),
        **{name: keyed(name, rows[name], columns) for name, columns in _COLUMNS.items()},
    )
    yield ReadResult(corpus, tuple(files.findings), tuple(files.members))


@dataclass
class _Document:
    """A document that is being read; it may go on after others.

    Attributes:
        name: its name.
        row: its row.
        origin: the row of the file where it begins.
        words: of the text that is made, with the spaces between them, and their `length`.
        number: of the last token.
        open: the mentions that have not ended, by entity: their offset, the number and the text of
            their first line, and their place among all mentions.
    """

    name: str
    row: int
    origin: int
    words: list[str] = field(default_factory=list)
    length: int = 0
    number: int = 0
    open: dict[str, list[tuple[int, int, str, int]]] = field(default_factory=dict)

    def add(self, text: str) -> None:
        """Add a word, or what is between words."""
        self.words.append(text)
        self.length += len(text)

    def count_token(self) -> tuple[int, int]:
        """Add a token, and return its number as offsets."""
        self.number += 1
        return self.number, self.number + 1

    def token(self, word: str, before: str) -> tuple[int, int]:
        """Add a token and what is before it, and return its offsets in the text."""
        self.add(before)
        start = self.length
        self.add(word)
        return start, self.length


def _file(
    text: str,
    files: FileBatch,
    documents: dict[str, _Document],
    rows: Rows,
    offsets: Offsets,
    entities: Entities,
) -> list[Finding]:
    """Add the rows of the last file, and return its findings."""
    origin, member = len(files.members) - 1, files.members[-1]
    bounded, in_text = Bounded(member.max_per_code), offsets == "characters"

    def report(code: str, record: int, line: str, **values: object) -> None:
        def finding(record: int, line: str) -> Finding:
            in_last = code in {"CRF103", "CRF104", "CRF105"}
            start, end = _stretch(line, "entity" if in_last else "")
            return Problem(code, record, start, end, values).in_line(member.display, line)

        bounded.add(code, record, finding, line)

    here: _Document | None = None
    sentence: list[Token] = []
    marks_of = lru_cache(_ALIKE)(brackets)
    for record, raw in enumerate((*text.split("\n"), "#end document"), start=1):
        line = raw.removesuffix("\r")
        is_blank, is_comment = not line or line.isspace(), line.startswith("#")
        begun = BEGIN.match(line) if is_comment else None
        ended = begun or (END.match(line) if is_comment else None)
        if here and sentence and (ended or is_blank):
            rows["segments"].append((*sentence[0][:3], sentence[0][4], sentence[-1][5]))
            rows["tokens"] += sentence
            sentence = []
            here.add("\n")
        if here and ended:
            for entity, marks in here.open.items():
                for _, number, opened, _ in marks:
                    report("CRF105", number, opened, entity=entity)
            here.open.clear()
        if ended:
            name = part(begun) if begun else ""
            new = _Document(name, len(documents), origin)
            here = documents.setdefault(name, new) if begun else None
        elif here is None and not is_blank:
            report("CRF101", record, line)
        elif here and not is_blank:
            cells = columns(line)
            if len(cells) < 2:
                report("CRF102", record, line)
                continue
            word = cells[3] if len(cells) > 4 else cells[0]
            span = here.token(word, " " if sentence else "") if in_text else here.count_token()
            token = (here.row, origin, record, len(rows["segments"]), *span, word)
            sentence.append(token)
            if cells[-1] not in NONE:
                found = marks_of(cells[-1])
                if found is None:
                    report("CRF103", record, line, given=cells[-1])
                for entity in _add_mentions(here, found or (), token, line, rows, entities):
                    report("CRF104", record, line, entity=entity)
    return bounded.findings


def _add_mentions(
    here: _Document,
    marks: Iterable[tuple[bool, str, bool]],
    token: Token,
    line: str,
    rows: Rows,
    entities: Entities,
) -> list[str]:
    """Add the mentions that end at a token, and return the entities of which none has begun."""
    row, origin, record, _, start, end, _ = token
    unknown = []
    for begins, entity, ends in marks:
        if begins:
            here.open.setdefault(entity, []).append((start, record, line, len(rows["mentions"])))
            rows["mentions"].append(())  # in the order in which mentions begin
        if ends and here.open.get(entity):
            first, begun, _, at = here.open[entity].pop()
            scope = f":{here.name}" if entities == "document" else ""
            is_number = entity.isdigit() and entities != "written"
            name = f"NIL{entity}{scope}" if is_number else entity
            rows["mentions"][at] = (row, origin, begun, "", "", first, end, name)
        elif ends:
            unknown.append(entity)
    return unknown


def sections(member: Member, entities: Entities = "document", **_: str) -> Sections | None:
    """The documents of a file, where no entity is in two of them."""

    def name(line: str) -> str | None:
        begun = BEGIN.match(line)
        return part(begun) if begun else None

    return marked_sections(member, (b"#begin document",), name) if entities == "document" else None


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of places of a file, or their last columns."""
    return locate_lines(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    in_last = field in {"extent", "offsets", "entity"}
    return len(line) - len(columns(line)[-1]) if in_last else 0, len(line)


FORMAT = declaration(__name__)
