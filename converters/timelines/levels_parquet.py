"""Levels as Parquet: the ratings of all documents as one table.

Format:
    One Parquet file with the columns `file_id` and `kind` (text), and those of `level`, `start` and
    `end` (numbers) and `bin`, `region` and `annotator` (text) that there are, in any order.

Conventions:
    A row is a rating of valence or arousal; a null level is not annotated. Places are as in the
    tables: seconds, or characters of text. Other columns are ignored. A record is a row, from 1.

Codes raised: TLN7xx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines.notation import RATINGS, count_silent
from hlteval.converters.toolkit.parquet_sizes import size_problem
from hlteval.converters.toolkit.rows import with_documents
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.sources import Source, Unreadable, sha256

SUFFIX = ".parquet"
_MAGIC = b"PAR1"
_TEXTS = ("file_id", "kind", "bin", "region", "annotator")
_NUMBERS = ("level", "start", "end")
_NEEDED = ("file_id", "kind", "level", "start", "end")
COLUMNS = ("file_id", "kind", "level", "bin", "start", "end", "region", "annotator")


def sniff(source: Source) -> bool:
    """Whether it is a single Parquet file; a saved corpus is a folder of them."""
    if source.kind not in {"file", "stdin"} or not source.members:
        return False
    try:
        return source.members[0].fetch()[:4] == _MAGIC
    except Unreadable:
        return False


def read(source: Source) -> Iterator[ReadResult]:
    """The ratings, a batch for each file."""
    for member in source.members:
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,), (member,))
            continue
        rows, findings = _rows(data, member.display)
        documents, ratings = with_documents(rows.rename({"file_id": "name"}))
        names = {"path": source.path, "member": member.name or member.basename}
        origin = {"row": 0, **names, "format": FORMAT.name, "sha256": sha256(data)}
        yield ReadResult(
            Corpus(sources=[origin], documents=documents, ratings=ratings), findings, (member,)
        )


def _rows(data: bytes, file: str) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """The rows of a file that are ratings, and what is wrong with it."""
    types = {**dict.fromkeys(_TEXTS, pl.String()), **dict.fromkeys(_NUMBERS, pl.Float64())}
    empty = pl.DataFrame(schema={"record": pl.Int64, **{name: types[name] for name in COLUMNS}})
    try:
        table, reason = _unpacked(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        table, reason = empty, str(error).split("\n")[0][:100]
    if reason:
        return empty, (finding("TLN701", file=file, reason=reason),)
    wrong = [name for name in COLUMNS if not _fits(table, name, types[name])]
    if wrong:
        listed = ", ".join(f"{name} ({types[name]})" for name in wrong)
        return empty, (finding("TLN702", file=file, columns=listed),)
    cells = table.select(
        pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("record"),
        *(_column(table, name, types[name]) for name in COLUMNS),
    )
    known = pl.col("kind").is_in(RATINGS) & pl.col("file_id").is_not_null()
    others = cells.filter(~known.fill_null(value=False))
    findings = (
        [finding("TLN703", file=file, count=others.height, row=others["record"][0])]
        if (others.height)
        else []
    )
    return cells.filter(known), tuple(findings)


def _unpacked(data: bytes) -> tuple[pl.DataFrame, str]:
    """The table of a file, and why it is not unpacked: a few bytes may hold any number of rows."""
    if problem := size_problem(data):
        return pl.DataFrame(), problem
    return pl.read_parquet(BytesIO(data)), ""


def _fits(table: pl.DataFrame, name: str, wanted: pl.DataType) -> bool:
    """Whether a column is there if it is needed, with a type that its values can have."""
    if name not in table.columns:
        return name not in _NEEDED
    given = table.schema[name]
    return given == pl.Null or (given.is_numeric() if wanted == pl.Float64 else given == wanted)


def _column(table: pl.DataFrame, name: str, wanted: pl.DataType) -> pl.Expr:
    column = pl.col(name) if name in table.columns else pl.lit(None).alias(name)
    return column.cast(wanted)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the ratings of all documents."""
    tables = []
    for corpus in corpora:
        names = corpus.documents.select(document="row", file_id="name")
        rows = corpus.ratings.filter(pl.col("kind").is_in(RATINGS))
        rows = rows.join(names, on="document", maintain_order="left")
        tables.append(rows.select(COLUMNS))
    empty = Corpus().ratings.with_columns(file_id=pl.lit(None, pl.String)).select(COLUMNS)
    content = BytesIO()  # Polars takes no path that is not UTF-8
    pl.concat([empty, *tables]).write_parquet(content)
    path.write_bytes(content.getvalue())


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what the table cannot represent."""
    others = corpus.ratings.filter(~pl.col("kind").is_in(RATINGS))
    return {"ratings of other kinds": others.height, **count_silent(corpus, "ratings")}


FORMAT = declaration(__name__)
