"""Levels as Parquet: the ratings of all documents as one table.

Format:
    One Parquet file with the columns `file_id` and `kind` (text), and those of `level`, `start` and
    `end` (numbers) and `bin`, `region` and `annotator` (text) that there are, in any order.

Conventions:
    A row is a rating of valence or arousal; a null level is not annotated. Places are as in the
    tables: seconds, or characters of text. Other columns are ignored. A record is a row, from 1.

Codes raised: TLN7xx.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines.notation import RATINGS
from hlteval.converters.toolkit.parquet_sizes import is_parquet, read_table, write_table
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import read_members
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

SUFFIX = ".parquet"
#: The columns with the types of their values.
COLUMNS: Mapping[str, pl.DataType] = {
    "file_id": pl.String(),
    "kind": pl.String(),
    "level": pl.Float64(),
    "bin": pl.String(),
    "start": pl.Float64(),
    "end": pl.Float64(),
    "region": pl.String(),
    "annotator": pl.String(),
}
_NEEDED = ("file_id", "kind", "level", "start", "end")


def sniff(source: Source) -> bool:
    """Whether it is a single Parquet file; a saved corpus is a folder of them."""
    return source.kind in {"file", "stdin"} and any(map(is_parquet, source.members))


def read(source: Source) -> Iterator[ReadResult]:
    """The ratings, a batch for each file."""

    def read_ratings(
        member: Member, data: bytes, origin: dict[str, object]
    ) -> Iterator[tuple[Corpus, Sequence[Finding]]]:
        rows, problem = _rows(data, member.display)
        documents, ratings = with_documents(rows.rename({"file_id": "name"}))
        corpus = Corpus(sources=[origin], documents=documents, ratings=ratings)
        yield corpus, (problem,) if problem else ()

    return read_members(source, FORMAT.name, read_ratings)


def _rows(data: bytes, file: str) -> tuple[pl.DataFrame, Finding | None]:
    """The rows of a file that are ratings, and what is wrong with it."""
    empty = pl.DataFrame(schema={"record": pl.Int64, **COLUMNS})
    table, _, reason = read_table(data)
    if reason:
        return empty, finding("TLN701", file=file, reason=reason)
    wrong, cells = [], [pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("record")]
    for name, wanted in COLUMNS.items():
        given = table.schema.get(name, None if name in _NEEDED else pl.Null())
        is_number = given is not None and given.is_numeric() and wanted == pl.Float64
        if given not in {pl.Null(), wanted} and not is_number:
            wrong.append(f"{name} ({wanted})")
        column = pl.col(name) if name in table.columns else pl.lit(None).alias(name)
        cells.append(column.cast(wanted))
    if wrong:
        return empty, finding("TLN702", file=file, columns=", ".join(wrong))
    rows = table.select(cells)
    known = pl.col("kind").is_in(RATINGS) & pl.col("file_id").is_not_null()
    others = rows.filter(~known.fill_null(value=False))
    problem = None
    if others.height:
        problem = finding("TLN703", file=file, count=others.height, row=others["record"][0])
    return rows.filter(known), problem


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the ratings of all documents."""
    tables = [pl.DataFrame(schema=COLUMNS)]
    for corpus in corpora:
        names = corpus.documents.select(document="row", file_id="name")
        rows = corpus.ratings.filter(pl.col("kind").is_in(RATINGS))
        rows = rows.join(names, on="document", maintain_order="left")
        tables.append(rows.select(*COLUMNS))
    write_table(pl.concat(tables), path)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what the table cannot represent."""
    others = corpus.ratings.filter(~pl.col("kind").is_in(RATINGS))
    return {"ratings of other kinds": others.height}


FORMAT = declaration(__name__)
