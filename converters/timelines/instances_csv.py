r"""Instances, ratings and changes of all documents as comma-separated values.

Format:
    RFC 4180: a header, then a row per instance, rating or change. The columns `document` and `kind`
    must be there, and any of `label`, `start`, `end`, `status`, `llr`, `region`, `several`,
    `annotator`, `level`, `bin`, `direction`, `strength` and `evidence`, in any order.

Conventions:
    The kind is `norm` or `emotion` for an instance, `valence` or `arousal` for a rating, `change`
    for a change, which is at its start. Places are as in the tables: seconds, or characters of
    text. An empty cell has no value. A record is a row, at the line where it begins. `file_id` is
    another name of the column `document`; other columns are not read.

Example lines:
    document,kind,label,start,end,status,llr
    M01,norm,101,45.2,60.2,"adhere,violate",1.5

Codes raised: TLN101, TLN6xx.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit.cells import MOST, CellFile, Heading
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File, cell_spans, head
from hlteval.findings import Finding, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table, shorten

COLUMNS = (
    *("document", "kind", "label", "start", "end", "status", "llr", "region", "several"),
    *("annotator", "level", "bin", "direction", "strength", "evidence"),
)
_NEEDED = ("document", "kind")
_ALSO = {"file_id": "document"}
_NUMBERS = ("start", "end", "llr", "level")
#: The columns of each table that cells hold; a change is at its start.
_OF = {
    "instances": COLUMNS[1:10],
    "ratings": ("kind", "level", "bin", "start", "end", "region", "annotator"),
    "changes": ("at", "llr", "direction", "strength", "evidence", "annotator"),
}
_CELLS = {"record": pl.Int64(), **dict.fromkeys(COLUMNS, pl.String())}
#: The pattern of the cells of a column, and what a message calls that.
_PATTERNS = {
    **dict.fromkeys(_NUMBERS, (f" *{notation.NUMBER} *", "a number")),
    "kind": ("|".join(notation.TABLE_OF), ""),
    "document": ("(?s).+", "the name of a document"),
    "several": ("true|false", "true or false"),
}
#: The columns as a table, for mistakes in all rows.
_TABLE = Table(
    tuple(
        Column(
            name,
            "number" if name in _NUMBERS else "text",
            pattern=_PATTERNS.get(name, ("", ""))[0],
            nullable=name not in _NEEDED,
            optional=name not in _NEEDED,
        )
        for name in COLUMNS
    ),
    header="required",
    any_order=True,
    ragged=True,
    separator=",",
    ascending=("start", "end"),
)


def sniff(source: Source) -> bool:
    """Whether it is a single file whose header names a document, a kind and a start."""
    titles = {title.strip(' "\r') for title in head(source).partition("\n")[0].split(",")}
    named = bool(titles & {"document", "file_id"}) + ("kind" in titles)
    return named > 0 and named + bool(titles & {"start", "label", "level"}) > 1


def tabular(_: Member, first: str) -> Sequence[Table]:
    """The table, whose first column may be called `file_id`."""
    named, *others = _TABLE.columns
    own = replace(named, heading=next((title for title in _ALSO if title in first), ""))
    return (replace(_TABLE, columns=(own, *others)),)


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The rows of a file, by table, and what is wrong with others."""
    table, rows = CellFile(file), pl.DataFrame(schema=_CELLS)
    own = heading(table.first)
    if own.missing and file.text is not None:
        table.report("TLN601", 1, missing=", ".join(own.missing))
    elif file.text is not None:
        cells = _every({name: str(at) for name, at in own.at.items()})
        rows = table.rows(own, ("TLN602", "TLN606")).select("record", *cells)
        rows = rows.with_columns(pl.col("kind").str.strip_chars())
        for name, span in zip(own.names, cell_spans(table.first, ",", quoted=True), strict=False):
            if name not in COLUMNS:
                values = {"column": shorten(name, 40) or "(empty)"}
                table.problems.append(Problem("TLN603", 1, *span, values))
        table.span_of = own.stretch
        _check_cells(table, rows)
    wrong = {problem.record for problem in table.rejected}
    rows = rows.filter(~pl.col("record").is_in(wrong)).rename({"document": "name"})
    numbers = {name: notation.numbers(rows[name].str.strip_chars(" ")) for name in _NUMBERS}
    rows = rows.with_columns(several=pl.col("several") == "true", **numbers)
    documents, rows = with_documents(rows)
    of = pl.col("kind").replace_strict(notation.TABLE_OF, default=None, return_dtype=pl.String)
    rows = rows.with_columns(at="start", of=of)
    place = ("document", "origin", "record")
    tables = {name: rows.filter(of=name).select(*place, *own) for name, own in _OF.items()}
    return table.corpus("instance", documents=documents, **tables)


def heading(first: str) -> Heading:
    """The columns by the first line; those that are there twice are missing, too."""
    spans = cell_spans(first, ",", quoted=True)[:MOST]
    titles = (first[start:end].strip(' "\r') for start, end in spans)
    names = [_ALSO.get(title, title) for title in titles]
    at = {name: names.index(name) for name in COLUMNS if name in names}
    repeated = [name for name in COLUMNS if names.count(name) > 1]
    missing = [name for name in _NEEDED if name not in names] or repeated
    return Heading(names, {**at, "at": at.get("start")}, missing=missing)


def _every(at: Mapping[str, str]) -> Iterator[pl.Expr]:
    """Every column: the one that is given for it, or else nulls."""
    for name in COLUMNS:
        given = pl.col(at[name]).cast(pl.String) if name in at else pl.lit(None, pl.String)
        yield given.alias(name)


def _check_cells(table: CellFile, rows: pl.DataFrame) -> None:
    """Report the problems of the cells of rows."""
    for name, (pattern, expected) in _PATTERNS.items():
        code = "TLN605" if name == "kind" else "TLN604"
        fits = pl.col(name).str.contains(f"^(?:{pattern})$").fill_null(name not in _NEEDED)
        for record, given in rows.filter(~fits).select("record", name).iter_rows():
            shown = shorten(given or "", 40) or "nothing"
            table.reject(code, record, name, given=shown, expected=expected)
    silent = rows.filter(pl.col("label").is_null(), pl.col("kind").is_in(notation.INSTANCES))
    for record in silent["record"]:
        table.reject("TLN101", record, "label")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the rows of all documents: instances, ratings, then changes of a batch."""
    with path.open("wb") as stream:
        pl.DataFrame(schema=COLUMNS).write_csv(stream)
        for corpus in corpora:
            rows = pl.concat(_cells(corpus, table) for table in _OF)
            rows.write_csv(stream, include_header=False)


def _cells(corpus: Corpus, table: str) -> pl.DataFrame:
    """The rows of a table that cells can represent, as cells."""
    names, columns = corpus.documents.select("name", document="row"), ("document", *_OF[table])
    rows: pl.DataFrame = getattr(corpus, table).join(names, on="document", maintain_order="left")
    rows = rows.with_columns(document="name")
    if table == "changes":
        rows = rows.with_columns(kind=pl.lit(notation.CHANGE), start="at")
        columns += ("kind", "start")
    numbers = [name for name in columns if name in {*_NUMBERS, "at"}]
    texts = pl.col([name for name in columns if name not in {*numbers, "kind", "several"}])
    odd = (texts == "") | texts.str.contains("[\0\r]")  # not all readers keep a carriage return
    is_text = ~pl.any_horizontal(odd.fill_null(value=False))
    kinds = [kind for kind, of in notation.TABLE_OF.items() if of == table]
    rows = rows.filter(pl.col("kind").is_in(kinds), is_text, *map(notation.is_number, numbers))
    return rows.select(_every({name: name for name in columns}))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what rows cannot represent."""
    lost = {table: getattr(corpus, table).height - _cells(corpus, table).height for table in _OF}
    return {f"{table} that do not fit a row": count for table, count in lost.items()}


FORMAT = declaration(__name__)
