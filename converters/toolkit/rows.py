"""Rows that a reader collects, as tables of the representation."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from heapq import merge
from itertools import islice
from math import isfinite
from operator import itemgetter
from typing import Any

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import (
    File,
    FileBatch,
    FindDocuments,
    SpanOf,
    batches,
    findings_in_lines,
    folders_of,
    original_files,
    whole_line,
)
from hlteval.findings import Finding, Problem
from hlteval.representation import TABLES, Corpus, are_distinct
from hlteval.representation.corpus import document_slices
from hlteval.sources import Source
from hlteval.syntax.tsv import Lines

#: Rows that are kept as dictionaries.
_KEPT = 20_000


def table_of(name: str, rows: Sequence[Sequence[Any]], columns: Sequence[str] = ()) -> pl.DataFrame:
    """Rows as a table whose key `row` counts from 0.

    Args:
        name: the name of the table.
        rows: the rows.
        columns: the names of their columns in order, without the key; by default those of the
            table, as many as the rows have.

    Examples:
        >>> table_of("documents", [(0, "d1"), (0, "d2")]).rows()
        [(0, 0, 'd1'), (1, 0, 'd2')]
        >>> table_of("documents", [("d1",), ("d2",)], ["name"]).rows()
        [(0, 'd1'), (1, 'd2')]
    """
    own = list(TABLES[name].schema)[1:]
    columns = columns or (own[: len(rows[0])] if rows else own)
    schema = {column: TABLES[name].schema[column] for column in columns}
    frame = pl.DataFrame(  # one column after the other: lists of all would take as much again
        pl.Series(column, [row[at] for row in rows], dtype=dtype)
        for at, (column, dtype) in enumerate(schema.items())
    )
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *schema)


def from_dictionaries(name: str, rows: Iterable[Mapping[str, object]]) -> pl.DataFrame:
    """Rows as a table, some thousand dictionaries at a time: they take ten times its memory.

    Args:
        name: the name of the table.
        rows: the rows.

    Examples:
        >>> from_dictionaries("documents", iter([{"row": 0, "name": "d1"}]))["name"].to_list()
        ['d1']
    """
    schema, waiting = dict(TABLES[name].schema), iter(rows)
    table = pl.DataFrame([], schema)
    while some := list(islice(waiting, _KEPT)):
        table.extend(pl.DataFrame(some, schema))  # a list of frames would be copied at the end
    return table


def count_matching(pattern: str, *tables: pl.DataFrame) -> int:
    r"""The count of rows with a text that matches a pattern, in some tables.

    Examples:
        >>> count_matching("\t", pl.DataFrame({"name": ["a\tb", "c"], "row": [0, 1]}))
        1
    """
    matches = pl.any_horizontal(pl.col(pl.String).str.contains(pattern))
    return sum(table.filter(matches).height for table in tables)


def row_problems(code: str, rows: pl.DataFrame, field: str, *values: str) -> Iterator[Problem]:
    """The problems of a field of records, one after the other: most are only counted.

    Args:
        code: of the problems.
        rows: their `record`, and the values of the message.
        field: the field, whose place is found later.
        values: the names of the columns of values.

    Examples:
        >>> rows = pl.DataFrame({"record": [3], "given": ["xx"]})
        >>> next(row_problems("SNT101", rows, "start", "given"))
        Problem(code='SNT101', record=3, start=0, end=0, values={'given': 'xx'}, field='start')
    """
    for record, *own in rows.select("record", *values).iter_rows():
        yield Problem(code, record, 0, 0, dict(zip(values, own, strict=True)), field)


def rejected_lines(kind: str, problems: Iterable[Problem], lines: Lines) -> pl.DataFrame:
    r"""The rows of `rejected_records` of lines that problems make unreadable.

    Args:
        kind: what a line should be.
        problems: the problems, each with the number of its line as `record`.
        lines: the lines of the file.

    Examples:
        >>> problem = Problem("SNT101", 2, 0, 1)
        >>> rejected_lines("segment", [problem], Lines("a\nb"))["text", "end_column"].rows()
        [('b', 2)]
    """
    places = [(each.record, each.code, each.start + 1, each.end + 1) for each in problems]
    rows = table_of("rejected_records", places, ("record", "code", "column", "end_column"))
    text = lines.gather(rows["record"] - 1)
    return rows.with_columns(
        pl.min_horizontal("end_column", text.str.len_chars().cast(pl.Int64) + 1),
        origin=pl.lit(0, pl.Int64),
        kind=pl.lit(kind),
        text=text,
        expected=pl.lit(""),
    )


class LineFile:
    r"""A file whose records are lines: their rows, and what is wrong with them.

    Attributes:
        file: the file.
        lines: its lines.
        span_of: gives the place of a field in its line.
        tables: the rows of lines by table, without keys.
        problems: those of what is read.
        counted: those of many lines, which are only made for messages, in the order of lines.
        rejected: those of lines that are not read, or not as a whole.

    Examples:
        >>> from hlteval.sources import Member
        >>> file = LineFile(File(Member("", "s.txt", None, bytes), "a\nb", {}, {}))
        >>> file.reject("SNT101", 2, given="b")
        >>> file.rejected
        [Problem(code='SNT101', record=2, start=0, end=1, values={'given': 'b'}, field='')]
    """

    def __init__(self, file: File, span_of: SpanOf = whole_line) -> None:
        self.file, self.span_of = file, span_of
        self.lines = Lines(file.text or "")
        self.tables: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.problems, self.rejected = list[Problem](), list[Problem]()
        self.counted = list[Iterator[Problem]]()

    def report(self, code: str, record: int, field: str = "", **values: object) -> None:
        """Report a problem of a field of a line, or of the line, which is read."""
        self.problems.append(Problem(code, record, 0, 0, values, field or "line"))

    def reject(self, code: str, record: int, field: str = "", **values: object) -> None:
        """Report a problem of a field of a line, or of the line, which is not read."""
        place = self.span_of(self.lines[record - 1], field)
        self.rejected.append(Problem(code, record, *place, values))

    def corpus(self, kind: str, **tables: pl.DataFrame) -> tuple[Corpus, list[Finding]]:
        """The corpus of the file, and the findings in it.

        Args:
            kind: what a line should be.
            tables: further tables, whose rows get their numbers here.
        """
        number = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
        rejected = sorted(self.rejected, key=itemgetter(1, 2))
        noted = sorted(self.problems, key=itemgetter(1))
        every = merge(noted, rejected, *self.counted, key=itemgetter(1))
        findings = findings_in_lines(every, self.lines, self.file.member, self.span_of)
        first = {problem.record: problem for problem in reversed(rejected)}
        records = rejected_lines(kind, reversed(first.values()), self.lines)
        own = {name: table_of(name, rows) for name, rows in self.tables.items()}
        own |= {name: rows.with_columns(number) for name, rows in tables.items()}
        return Corpus(sources=[self.file.origin], rejected_records=records, **own), findings


# The documents that the rows of a table name.


def with_documents(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The documents in the order of their first rows, and the rows with their keys.

    Args:
        rows: with the column `name`, the name of a document, and `origin`, if the rows are from
            several sources.

    Returns:
        The columns `row`, `name` and `origin` of `documents`; and the rows with `row`, `document`
        and `origin` instead of `name`.

    Examples:
        >>> documents, rows = with_documents(pl.DataFrame({"name": ["d2", "d1", "d2"]}))
        >>> documents["name"].to_list(), rows["document"].to_list()
        (['d2', 'd1'], [0, 1, 0])
    """
    key = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
    if "origin" not in rows.columns:
        rows = rows.with_columns(origin=pl.lit(0, pl.Int64))
    documents = rows.select("name", "origin")
    if are_distinct(rows["name"]):  # a row each: names need not be looked up
        documents = documents.with_columns(key)
        return documents, rows.drop("name").with_columns(key.alias("document"), key)
    documents = documents.unique("name", keep="first", maintain_order=True).with_columns(key)
    names = documents.select("name", document="row")
    # Only the names are joined: that of all columns would copy them.
    numbers = rows.select("name").join(names, on="name", how="left", maintain_order="left")
    return documents, rows.drop("name").with_columns(numbers["document"], key)


# The rows of files that say one thing after the other, such as XML.


class DocumentRows:
    """The rows of the files of a batch, document by document.

    Attributes:
        files: the files.
        findings: what is wrong in them.
        tables: the rows by table, of others than documents those that are not in `frames`.
        frames: the rows before them, as a table.
    """

    def __init__(self, files: FileBatch) -> None:
        self.files = files
        self.findings: list[Finding] = []
        self.tables: dict[str, list[dict[str, object]]] = {"documents": []}
        self.frames: dict[str, pl.DataFrame] = {}
        self.documents: dict[str, int] = {}
        self.place: dict[str, object] = {}

    def begin(self, origin: int, name: str, **columns: object) -> bool:
        """Begin a document of a file, or go on with it; whether it is new."""
        row = self.documents.setdefault(name, len(self.documents))
        is_new = row == len(self.tables["documents"])
        if is_new:
            document = {"row": row, "origin": origin, "name": name, **columns}
            self.tables["documents"].append(document)
        self.place = {"document": row, "origin": origin}
        return is_new

    def add(self, table: str, row: dict[str, object]) -> None:
        """Add a row of the document that was begun last; its place is added to it."""
        rows = self.tables.setdefault(table, [])
        before = self.frames.get(table)
        row["row"] = (0 if before is None else before.height) + len(rows)
        row.update(self.place)
        rows.append(row)
        if len(rows) == _KEPT:
            self._pack(table)

    def _pack(self, table: str) -> pl.DataFrame:
        """Pack the rows of a table: dictionaries take ten times its memory."""
        packed = pl.DataFrame(self.tables[table], dict(TABLES[table].schema))
        self.frames[table] = self.frames[table].extend(packed) if table in self.frames else packed
        self.tables[table].clear()
        return self.frames[table]

    def as_tables(self) -> dict[str, pl.DataFrame]:
        """All rows as tables."""
        return {name: self._pack(name) for name in self.tables}


def read_rows(
    source: Source,
    form: str,
    suffix: str,
    take: Callable[[DocumentRows, int, str, str], None],
    find: FindDocuments | None = None,
) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names.

    Args:
        source: the files.
        form: the name of the format.
        suffix: of its files.
        take: adds a file: its row of `sources`, the name of its document, and its text.
        find: gives the files of each document, where these are not simply those with the suffix.
    """
    for files in batches(source, form, suffix, find):
        rows = DocumentRows(files)
        for file in files.texts:
            take(rows, *file)
        corpus = Corpus(sources=files.sources, **rows.as_tables())
        yield ReadResult(corpus, (*files.findings, *rows.findings), tuple(files.members))


# Escapes in the cells of tables that have no quoting: `\t`, `\n`, `\r`, `\\`, and `\e` alone.


_ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def escape(column: str) -> pl.Expr:
    r"""The cells of a column of texts; an empty text is `\e`, and a null stays null.

    Examples:
        >>> frame = pl.DataFrame({"text": ["a\tb", "", None]})
        >>> frame.select(escape("text"))["text"].to_list()
        ['a\\tb', '\\e', None]
    """
    cell = pl.col(column).str.replace_many(_ESCAPES)
    return pl.when(pl.col(column) == "").then(pl.lit(r"\e")).otherwise(cell).alias(column)


def unescape(column: str) -> pl.Expr:
    r"""The texts of a column of cells.

    Examples:
        >>> frame = pl.DataFrame({"text": ["a\\tb", r"\e", None]})
        >>> frame.select(unescape("text"))["text"].to_list()
        ['a\tb', '', None]
    """
    cell = pl.col(column).str.replace_many({escape: own for own, escape in _ESCAPES.items()})
    return pl.when(pl.col(column) == r"\e").then(pl.lit("")).otherwise(cell).alias(column)


# Confidences that a format writes as decimal numbers: read in bulk, and written unchanged.


_NUMBER = r"[ ]*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?[ ]*"


def decimal(value: float) -> str:
    """A number as it is written by default: with a decimal point, without an exponent.

    Examples:
        >>> decimal(1), decimal(0.00001), decimal(0.1)
        ('1.0', '0.00001', '0.1')
    """
    text = format(Decimal(repr(float(value))), "f")
    return text if "." in text else f"{text}.0"


def number(text: str) -> float | None:
    """The number that a text is, apart from spaces around it; None for other texts.

    Examples:
        >>> number(" 1e-3"), number("high"), number("1e999"), number("nan")
        (0.001, None, None, None)
    """
    if not re.fullmatch(_NUMBER, text):
        return None
    value = float(text)
    return value if isfinite(value) else None


def from_text(written: pl.Series) -> pl.DataFrame:
    """The columns `confidence` and `confidence_text` of numbers as written.

    Args:
        written: the texts, without nulls.

    Examples:
        >>> from_text(pl.Series(["0.5", "1", "high"])).rows()
        [(0.5, None), (1.0, '1'), (None, 'high')]
    """
    text = pl.col("text")
    usual = pl.when(text.str.contains(r"^[0-9]{1,9}\.[0-9]{1,30}$")).then(text)
    plain = written.to_frame("text").select("text", value=usual.cast(pl.Float64, strict=False))
    kept = (pl.col("value").cast(pl.String) == text).fill_null(value=False)
    values = {odd: number(odd) for odd in plain.filter(~kept)["text"].unique()}
    canonical = {decimal(value) for value in values.values() if value is not None}
    texts = {odd: None if odd in canonical else odd for odd in values}
    other = text.replace_strict(values, default=None, return_dtype=pl.Float64)
    return plain.select(
        confidence=pl.coalesce("value", other),
        confidence_text=text.replace_strict(texts, default=None, return_dtype=pl.String),
    )


def to_text(rows: pl.DataFrame) -> pl.Series:
    """The confidences of mentions as text; 1.0 where there is none.

    Args:
        rows: with the columns `confidence` and `confidence_text`.

    Examples:
        >>> columns = {"confidence": [0.5, 1.0, None], "confidence_text": [None, "1", None]}
        >>> to_text(pl.DataFrame(columns)).to_list()
        ['0.5', '1', '1.0']
    """
    value, text = pl.col("confidence"), pl.col("confidence").cast(pl.String)
    long = ~text.str.contains(r"^[0-9]+\.[0-9]+$") & pl.col("confidence_text").is_null()
    texts = {odd: decimal(odd) for odd in rows.filter(long)["confidence"].drop_nulls().unique()}
    spelled = value.replace_strict(texts, default=None, return_dtype=pl.String)
    written = pl.coalesce("confidence_text", spelled, text, pl.lit("1.0"))
    return rows.select(confidence=written)["confidence"]


# Slices of a corpus: whole documents that are written one slice at a time.
#
# Writers make texts of rows, which take many times their memory.


#: Rows of a slice; a document is never divided.
ROWS = 100_000


def slices(corpus: Corpus, form: str, rows: int = ROWS) -> Iterator[Corpus]:
    """A corpus in slices whose files are those of the whole.

    Every slice has all `sources`. A corpus is one slice if the file of a document may depend on
    other documents.

    Args:
        corpus: any corpus.
        form: the name of the format that is written, with files of its own for each document.
        rows: of a slice, more or less.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> [part.documents["name"].to_list() for part in slices(corpus, "rsd", 1)]
        [['a'], ['b']]
    """
    total = sum(frame.height for _, frame in corpus.tables())
    divided = total > rows and _are_independent(corpus, form)
    return document_slices(corpus, rows) if divided else iter([corpus])


def _are_independent(corpus: Corpus, form: str) -> bool:
    """Whether each document certainly has a file of its own that no other document concerns."""
    documents = corpus.documents
    if corpus.entities.height or documents["name"].is_duplicated().any():
        return False
    members = original_files(corpus, form)
    originals = documents.filter(pl.col("origin").is_in(list(members)))["origin"]
    if originals.is_empty():
        # A suffix begins with a dot, so no file has the name of a folder without one.
        return not any("." in folder for folder in folders_of(documents["name"]))
    if originals.len() < documents.height or originals.is_duplicated().any():
        return False
    paths = [members[origin] for origin in originals]
    return folders_of(paths).isdisjoint(paths)
