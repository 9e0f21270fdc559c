"""The tables of a corpus as Parquet: a folder with one file per table.

Format:
    `<table>.parquet` for every table of docs/representation.md, with the schema version as
    metadata.

Conventions:
    Those of the representation: nothing is lost. Columns that a file lacks are null where that is
    allowed; unknown columns are ignored.

Codes raised: CORxxx.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path

import polars as pl

from hlteval.converters.corpus.checks import Defect, check
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.parquet_sizes import size_problem, table_problem
from hlteval.findings import Bounded, Finding, Span, entry, finding
from hlteval.representation import SCHEMA_VERSION, TABLES, Corpus, Table
from hlteval.sources import Member, Source, Unreadable

_FILES = frozenset(f"{table}.parquet" for table in TABLES)
#: The key of the schema version in the metadata of a Parquet file.
VERSION_KEY = "hlteval.schema"

# Polars panics on some damaged files; a panic is not an Exception.
_DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError)


class StoreError(ValueError):
    """A saved corpus cannot be read, or not all of it.

    Attributes:
        message: the problem and its fix.
        file: the file with the problem, if its name is known.
        line: 1-based; None for a Parquet file.
        column: 1-based, in code points; None for a Parquet file.
    """

    def __init__(
        self, message: str, file: str | None, line: int | None = None, column: int | None = None
    ) -> None:
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.file, self.line, self.column = message, file, line, column


def version_problem(version: object) -> str | None:
    """The message about a schema version; None for the version that is read here.

    Examples:
        >>> version_problem(SCHEMA_VERSION) is None
        True
    """
    if str(version) == str(SCHEMA_VERSION):
        return None
    return (
        f"the corpus has schema version {version}, but this version of hlteval reads "
        f"{SCHEMA_VERSION}; convert it again from its sources"
    )


def unknown_column(table: str, column: str) -> str:
    """The message about a column that is ignored.

    Examples:
        >>> unknown_column("frames", "colour")
        'the table frames has an unknown column colour'
    """
    return f"the table {table} has an unknown column {column}"


def read_table(
    table: Table, content: bytes, file: str, report: Callable[[StoreError], None]
) -> pl.DataFrame:
    """A table of a corpus, which may have nulls and keys that are not allowed.

    Args:
        table: its declaration.
        content: its Parquet file.
        file: the name of that in errors.
        report: called for each column that is ignored because this version does not know it.

    Raises:
        StoreError: if it is not a Parquet file, has another schema version or more rows than its
            size allows, lacks a column that may not be null, or holds another type.

    Examples:
        >>> try:
        ...     read_table(TABLES["documents"], b"", "d.parquet", print)
        ... except StoreError as error:
        ...     print(error)
        d.parquet: invalid or truncated Parquet file
    """
    try:
        version = pl.read_parquet_metadata(BytesIO(content)).get(VERSION_KEY)
        problem = version_problem(version) or size_problem(content)
        frame = pl.DataFrame() if problem else pl.read_parquet(content)
        problem = problem or table_problem(frame, content)
    except _DAMAGED as error:
        raise StoreError("invalid or truncated Parquet file", file) from error
    if version is None:
        raise StoreError("Parquet file is not a table of a corpus", file)
    if problem := problem or _shape_problem(table, frame):
        raise StoreError(problem, file)
    for name in frame.columns:
        if name not in table.schema:
            report(StoreError(unknown_column(table.name, name), file))
    return frame.select(name for name in table.schema if name in frame.columns)


def _shape_problem(table: Table, frame: pl.DataFrame) -> str:
    """The first difference of a frame from its declaration that cannot be made up for."""
    for column in table.columns:
        if column.name not in frame.columns:
            if not column.nullable:
                return f"table {table.name} is missing the column {column.name}"
        elif frame.schema[column.name] != column.dtype:
            dtype = frame.schema[column.name]
            return f"column {table.name}.{column.name} is {dtype}, expected {column.dtype}"
    return ""


def members(source: Source) -> tuple[Member, ...]:
    """The tables that are read."""
    return tuple(member for member in source.members if member.name in _FILES)


def sniff(source: Source) -> bool:
    """Whether the source is a folder with the table of documents."""
    return source.kind == "folder" and any(m.name == "documents.parquet" for m in source.members)


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch; nothing of it if a table cannot be read."""
    files = {member.name: member for member in source.members}
    tables: dict[str, pl.DataFrame] = {}
    findings: list[Finding] = []
    for name, table in TABLES.items():
        file = f"{name}.parquet"
        display = files[file].display if file in files else f"{source.path}/{file}"
        ignored: list[StoreError] = []
        try:
            if file not in files:
                raise StoreError(f"missing table {name}", display)
            tables[name] = read_table(table, files[file].fetch(), display, ignored.append)
        except Unreadable as reason:
            findings.append(reason.finding)
        except StoreError as error:
            findings.append(store_finding("COR101", error, display))
        findings += [store_finding("COR102", error, display) for error in ignored]
    if len(tables) < len(TABLES):
        yield ReadResult(Corpus(), tuple(findings))
        return
    found = check(tables, source.path)
    findings += row_findings(found.defects, tables, source.path, source.max_per_code)
    yield ReadResult(found.corpus, tuple(findings))


def row_findings(
    defects: Iterable[Defect], tables: Mapping[str, pl.DataFrame], path: str, most: int
) -> list[Finding]:
    """The findings of rows, each with its table and the key of its row.

    Args:
        defects: what is wrong with rows.
        tables: the tables as they were read.
        path: the file or folder of the corpus.
        most: maximum number of findings of a code that are explained; 0 for all.
    """

    def finding(_: None, defect: Defect) -> Finding:
        table = defect.group.table
        key = tables[table]["row"][defect.ordinal]
        row = defect.ordinal if key is None else int(key)
        return entry(defect.group.code).finding(defect.values, file=path, table=table, row=row)

    bounded = Bounded(most)
    for defect in defects:
        bounded.add(defect.group.code, None, finding, defect)
    return bounded.findings


def store_finding(code: str, error: StoreError, path: str, line: bytes = b"") -> Finding:
    """The finding of a corpus, or of a line of it, that cannot be read.

    Args:
        code: of the finding.
        error: what is wrong.
        path: of the corpus.
        line: the line of the error, if it has one.
    """
    span = None
    if error.line:
        column, length = error.column or 1, len(line.decode("utf-8", "replace"))
        span = Span(error.line, column, min(column, length) + 1)
    return finding(code, file=error.file or path, span=span, reason=error.message)


def save(corpus: Corpus, folder: Path) -> None:
    """Write a corpus as Parquet into a folder, which is created if necessary.

    Every table is written, also an empty one. The key-value metadata of each file hold the schema
    version under `hlteval.schema`. The same corpus gives the same bytes.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}])
        >>> with TemporaryDirectory() as folder:
        ...     save(corpus, Path(folder))
        ...     pl.read_parquet(Path(folder, "documents.parquet"))["name"].to_list()
        ['d1']
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in corpus.tables():
        buffer = BytesIO()
        frame.rechunk().write_parquet(buffer, metadata={VERSION_KEY: str(SCHEMA_VERSION)})
        (folder / f"{name}.parquet").write_bytes(buffer.getvalue())


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All batches as one corpus."""
    save(Corpus.concat(corpora), path)


FORMAT = declaration(__name__)
