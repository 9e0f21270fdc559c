"""Texts of segments: which rows of `translations` a file holds, and what it cannot represent."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.rows import escape, table_of, unescape
from hlteval.converters.toolkit.source_files import FileBatch
from hlteval.findings import Finding, Problem, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.syntax.xml_places import ABSENT

SOURCE, REFERENCE, SYSTEM = "source", "reference", "system"
ROLES = (SOURCE, REFERENCE, SYSTEM)
#: The language that is written where none is known.
UNKNOWN = "und"
#: What the texts of each role are called where they are lost.
_PLURALS = ("source texts", "reference translations", "translations of systems")
PLURALS: Mapping[str, str] = dict(zip(ROLES, _PLURALS, strict=True))


def of_role(corpus: Corpus, role: str) -> pl.DataFrame:
    """The texts of a role, of its first set in each document.

    Args:
        corpus: the corpus.
        role: `source`, `reference` or `system`.

    Examples:
        >>> row = {"document": 0, "origin": 0, "record": 1, "segment": "s", "role": "system"}
        >>> texts = [{**row, "row": n, "set": f"S{n}", "text": "a"} for n in range(2)]
        >>> of_role(Corpus(translations=texts), "system")["set"].to_list()
        ['S0']
    """
    rows = corpus.translations.filter(pl.col("role") == role)
    first = pl.col("set").first().over("document")
    return rows.filter(pl.col("set").eq_missing(first))


def other_texts(corpus: Corpus, kept: pl.DataFrame) -> Mapping[str, int]:
    """The counts of the texts that are not written, by their role, as losses."""
    lost = corpus.translations.join(kept, on="row", how="anti")
    counts = dict(lost.group_by("role").len().iter_rows())
    return {PLURALS[role]: counts[role] for role in ROLES if role in counts}


def unwritable_documents(corpus: Corpus, texts: pl.DataFrame, *columns: str) -> set[int]:
    """The documents with characters that XML cannot hold, in their names or their texts."""
    absent = pl.any_horizontal(pl.col(columns).str.contains(ABSENT))
    names = corpus.documents.filter(pl.col("name").str.contains(ABSENT))["row"]
    return {*names, *texts.filter(absent)["document"]}


def document_losses(
    corpus: Corpus, texts: pl.DataFrame, unwritable: Collection[int]
) -> dict[str, int]:
    """The counts of documents that an XML file cannot represent, as losses."""
    silent = ~pl.col("row").is_in(texts["document"].unique().implode())
    return {
        "documents without translations": corpus.documents.filter(silent).height,
        "documents with characters not allowed in XML": len(unwritable),
    }


def with_sources(corpus: Corpus) -> Corpus:
    """The corpus with the segments of its documents as sources of their translations.

    Texts and translations are often in different files. Documents without translations, and those
    whose sources are there, stay as they are.

    Examples:
        >>> row = {"row": 0, "document": 0, "origin": 0, "record": 1}
        >>> given = Corpus(
        ...     documents=[{"row": 0, "name": "d1", "language": "epo"}],
        ...     segments=[{**row, "name": "s", "start": 0, "end": 5, "text": "Akvo."}],
        ...     translations=[{**row, "segment": "s", "role": "system", "text": "Water."}],
        ... )
        >>> with_sources(given).translations.select("role", "language", "text").rows()
        [('system', None, 'Water.'), ('source', 'epo', 'Akvo.')]
    """
    rows, segments = corpus.translations, corpus.segments.drop_nulls(["name", "text"])
    if rows.is_empty() or segments.is_empty():
        return corpus
    wanted = rows.filter((pl.col("role") != SOURCE).all().over("document")).select("document")
    segments = segments.join(wanted.unique(), on="document", how="semi", maintain_order="left")
    languages = corpus.documents.select("language", document="row")
    segments = segments.join(languages, on="document", how="left", maintain_order="left")
    first = rows.select(pl.col("row").max() + 1).item()
    sources = segments.select(
        *("document", "origin", "record", "language", "text"),
        row=pl.int_range(first, first + pl.len(), dtype=pl.Int64),
        segment="name",
        role=pl.lit(SOURCE),
    )
    return corpus.replace(translations=pl.concat([rows, sources], how="diagonal"))


# Collects the texts of segments from files that speak of the same documents.


_PLACE = ("document", "origin", "record")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "documents": ("origin", "name"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "translations": (*_PLACE, "segment", "role", "set", "language", "part", "text"),
}


def with_suffix(source: Source, suffixes: str | tuple[str, ...]) -> tuple[Member, ...]:
    """A single file, whatever its name is; of several files, those with a suffix in any case."""
    if source.kind in {"file", "stdin"}:
        return source.members
    return tuple(m for m in source.members if m.basename.lower().endswith(suffixes))


class SegmentText(NamedTuple):
    """The text of a segment.

    Attributes:
        segment: identifier of the segment.
        role: `source`, `reference` or `system`.
        name: identifier of the reference or of the system.
        language: of the text.
        part: of the document.
        text: as written.
    """

    segment: str
    role: str
    name: str | None
    language: str | None
    part: str | None
    text: str


class Collected:
    """The rows of each table, and the findings, of the files of a source.

    Args:
        source: the files.
        form: the name of their format.
    """

    def __init__(self, source: Source, form: str) -> None:
        self.files = FileBatch(source.path, form)
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _COLUMNS}
        self.documents: dict[str, int] = {}
        self.attributes: set[tuple[int, str, str]] = set()

    @property
    def origin(self) -> int:
        """The row of the last file in `sources`."""
        return len(self.files.members) - 1

    def document(self, name: str) -> int:
        """The row of a document, which is added if it is new."""
        if name not in self.documents:
            self.documents[name] = len(self.documents)
            self.rows["documents"].append((self.origin, name))
        return self.documents[name]

    def add(self, document: int, record: int, text: SegmentText) -> None:
        """Add the text of a segment of a document, at a record of the last file."""
        self.rows["translations"].append((document, self.origin, record, *text))

    def attribute(self, document: int, record: int, element: str, name: str, value: str) -> None:
        """Add an attribute of a document; of several values the first counts."""
        if (document, element, name) not in self.attributes:
            self.attributes.add((document, element, name))
            own = (document, self.origin, record, element, name, value)
            self.rows["attributes"].append(own)

    def result(self, findings: Iterable[Finding] = ()) -> ReadResult:
        """All files as one batch."""
        tables = {name: table_of(name, rows, _COLUMNS[name]) for name, rows in self.rows.items()}
        corpus = Corpus(sources=self.files.sources, **tables)
        return ReadResult(corpus, (*self.files.findings, *findings), tuple(self.files.members))


# Lists of segments and the texts of sets beside them, line by line.


#: A list of segments, a line for each.
IDS = Table(
    tuple(Column(name, pattern=r"[^\t]+", code="MTF401") for name in ("document", "segment")),
    code="MTF401",
)


class Set(NamedTuple):
    """The texts of a set in the order of a corpus: their keys, and the text of each."""

    role: str
    name: str | None
    texts: Mapping[tuple[int, str], str]


def sets(corpus: Corpus) -> list[Set]:
    """The sets of a corpus, by role and in order; of a repeated segment the first text."""
    texts: dict[tuple[str, str | None], dict[tuple[int, str], str]] = {}
    columns = ("role", "set", "document", "segment", "text")
    for role, name, document, segment, text in corpus.translations.select(columns).iter_rows():
        texts.setdefault((role, name), {}).setdefault((document, segment), text)
    ordered = sorted(texts, key=lambda key: ROLES.index(key[0]))
    return [Set(role, name, texts[role, name]) for role, name in ordered]


def keys(corpus: Corpus) -> list[tuple[int, str]]:
    """The segments of all sets, by document, in the order of a corpus."""
    rows = corpus.translations.select("document", "segment").unique(maintain_order=True)
    return list(rows.sort("document", maintain_order=True).iter_rows())


def ids(corpus: Corpus, segments: Sequence[tuple[int, str]]) -> str:
    """A list of segments as text."""
    names = dict(corpus.documents.select("row", "name").iter_rows())
    rows = [(names[document], segment) for document, segment in segments]
    schema = {"document": pl.String, "segment": pl.String}
    cells = pl.DataFrame(rows, schema, orient="row").select(map(escape, schema))
    return "".join(f"{document}\t{segment}\n" for document, segment in cells.iter_rows())


class SegmentList(NamedTuple):
    """A list of segments.

    Attributes:
        length: the number of its lines.
        table: its lines, with their problems.
        rows: `record`, `document` and `segment` of each line that could be read.
    """

    length: int
    table: ParsedTable
    rows: pl.DataFrame


def read_ids(text: str) -> SegmentList:
    """The segments of a list."""
    table = IDS.read(text)
    cells = table.rows.select("record", unescape("document"), unescape("segment"))
    return SegmentList(len(lines_of(text)), table, cells)


def lines_of(text: str) -> list[str]:
    r"""The lines of a text: only line feeds end them, with a carriage return before or not.

    Examples:
        >>> lines_of("a\r\nb\u2028c\n"), lines_of("a\nb"), lines_of("")
        (['a', 'b\u2028c'], ['a', 'b'], [])
    """
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def add_lines(
    collected: Collected,
    text: str,
    segments: SegmentList,
    beside: str,
    columns: Sequence[tuple[str, str | None]],
    separator: str = "",
) -> Iterator[Finding]:
    """Add the lines of the last file; yield the findings about their number and their cells.

    A line whose segment cannot be read is passed over.

    Args:
        collected: the rows.
        text: the file.
        segments: the segments of its lines.
        beside: the name of the list of these.
        columns: the role and the name of the set of each cell.
        separator: what is between the cells of a line; a line is one cell if empty.
    """
    lines, display = lines_of(text), collected.files.members[-1].display
    if len(lines) != segments.length:
        size = segments.length
        yield finding("MTF402", file=display, lines=len(lines), segments=size, ids=beside)
    for record, document, segment in segments.rows.iter_rows():
        if record > len(lines):
            break
        line = lines[record - 1]
        cells = line.split(separator) if separator else [line]
        if len(cells) != len(columns):
            counts = {"count": len(cells), "columns": len(columns)}
            yield Problem("MTF502", record, 0, len(line), counts).in_line(display, line)
            continue
        row = collected.document(document)
        for (role, name), cell in zip(columns, cells, strict=True):
            collected.add(row, record, SegmentText(segment, role, name, None, None, cell))


def lost(corpus: Corpus, changed: pl.Expr) -> dict[str, int]:
    """The counts of rows that lines beside a list cannot represent.

    Args:
        corpus: the documents.
        changed: whether a text is written otherwise.
    """
    rows = corpus.translations
    silent = corpus.documents.filter(~pl.col("row").is_in(rows["document"].implode())).height
    repeated = rows.height - rows.select("document", "segment", "role", "set").n_unique()
    return {
        "documents without translations": silent,
        "repeated segments": repeated if rows.height else 0,
        "texts with line breaks or other space": rows.filter(changed).height,
    }
