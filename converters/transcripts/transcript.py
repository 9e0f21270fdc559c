r"""Transcripts: a line of text for each segment, with or without its identifier.

Format:
    A text file: each line is a segment. `IDENTIFIER<TAB>TEXT`, where most lines begin with an
    identifier without spaces before a tab (with `--set identifiers=none` tabs are text, and with
    `space` the identifier ends at the first space); otherwise segments are numbered. Or a folder of
    such files.

Conventions:
    The segments of a single file, or of an archive of one file, are documents of their own, named
    by their identifiers or numbers, and so are those of several files whose lines all have
    identifiers, each of which is in one file only; otherwise each file is a document, named by the
    file. With `--set documents=files` a single file is the document `all`. Only a line feed ends a
    line; an empty line is an empty segment, unless lines have identifiers.

Example lines:
    84-121123-0001	GO DO YOU HEAR

Codes raised: TRN1xx.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import FileBatch, findings_in_lines, locate_lines, stem
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Lines

Identifiers = Literal["auto", "tab", "space", "none"]
Documents = Literal["auto", "lines", "files"]
#: The name of a single file as a document.
_WHOLE = "all"
SUFFIXES = (".txt", ".trn", ".tsv")
#: What begins a line with an identifier, by what ends that.
_BEGIN = {"tab": r"^[^\s]+(?:\t|\r?$)", "space": r"^[^\s]+(?:[ \t]|\r?$)"}
_SEPARATOR = {"tab": r"\t", "space": r"[ \t]+"}


def members(source: Source) -> tuple[Member, ...]:
    """A single file, whatever its name is; of several files, those of text, or all."""
    if source.kind in {"file", "stdin"}:
        return source.members
    texts = tuple(m for m in source.members if m.basename.lower().endswith(SUFFIXES))
    return texts or source.members


def sniff(source: Source) -> bool:
    """Whether a single file has the suffix: any text could be a transcript."""
    return source.kind == "file" and source.path.endswith(".trn")


def read(
    source: Source, identifiers: Identifiers = "auto", documents: Documents = "auto"
) -> Iterator[ReadResult]:
    """The segments of all files as one batch."""
    files = FileBatch(source.path, FORMAT.name)
    texts = members(source)
    single = source.kind in {"file", "stdin"} or (source.kind != "folder" and len(texts) == 1)
    tables = []
    for member in texts:
        text = files.open(member)
        if text is not None:
            lines = _lines(text, identifiers)
            name = _WHOLE if single else stem(member, member.basename[-4:])
            tables.append(_with_file(lines, len(files.members) - 1, name))
            files.findings += _findings(member, text, tables[-1])
    rows = pl.concat([_with_file(_lines("", "none"), 0, ""), *tables])
    kept = rows.filter(pl.col("name").is_not_null(), pl.col("first") == pl.col("record"))
    alone = single or (kept["named"].all() and kept["name"].is_unique().all())
    by_line = alone if documents == "auto" else documents == "lines"
    corpus = _corpus(kept, files.sources, by_line=by_line)
    yield ReadResult(corpus, tuple(files.findings), tuple(files.members))


def _lines(text: str, identifiers: Identifiers) -> pl.DataFrame:
    """The lines of a text.

    Returns:
        `record` (from 1), `name` (null where an identifier is missing), `text`, `first`, the first
        record of that name, and `named`, whether lines have identifiers.
    """
    lines = Lines(text).table()["line"]
    how = identifiers
    if how == "auto":  # most lines that are not empty begin with an identifier of their own
        written = lines.filter(lines.str.strip_chars() != "")
        names = written.str.extract(r"^([^\s]+)\t").drop_nulls()
        how = "tab" if names.n_unique() * 2 > written.len() else "none"
    frame = pl.DataFrame({"text": lines.str.strip_chars_end("\r")})
    record = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    if how == "none":
        frame = frame.select(record.alias("record"), record.cast(pl.String).alias("name"), "text")
    else:
        frame = frame.with_columns(record=record).filter(pl.col("text").str.strip_chars() != "")
        known = pl.col("text").str.contains(_BEGIN[how])
        name = pl.col("text").str.extract(r"^([^\s]+)")
        rest = pl.col("text").str.replace(rf"^[^\s]+(?:{_SEPARATOR[how]})?", "")
        frame = frame.select("record", pl.when(known).then(name).alias("name"), rest.alias("text"))
    first = pl.col("record") if how == "none" else pl.col("record").first().over("name")
    return frame.with_columns(first=first, named=pl.lit(how != "none"))


def _with_file(lines: pl.DataFrame, origin: int, document: str) -> pl.DataFrame:
    """Lines with the row of their file in `sources`, and the name of its document."""
    return lines.with_columns(origin=pl.lit(origin, pl.Int64), document=pl.lit(document))


def _findings(member: Member, text: str, rows: pl.DataFrame) -> list[Finding]:
    """The findings about the identifiers of a file."""
    wrong = rows.filter(pl.col("name").is_null() | (pl.col("first") != pl.col("record")))
    if wrong.is_empty():
        return []
    lines = Lines(text)
    problems = []
    for record, name, first in wrong.select("record", "name", "first").iter_rows():
        line = lines[record - 1]
        if name is None:
            problems.append(Problem("TRN102", record, 0, len(line)))
        else:
            values = {"name": name[:80], "first": first}
            problems.append(Problem("TRN101", record, 0, len(name), values))
    return findings_in_lines(problems, lines, member)


def _corpus(rows: pl.DataFrame, sources: pl.DataFrame, *, by_line: bool) -> Corpus:
    """The segments as a corpus: a document for each, or for each file."""
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    if by_line:
        segments = rows.with_columns(row=row, document=row, start=pl.lit(0, pl.Int64), end=length)
        documents = segments.select("row", "origin", "name", "text")
    else:
        end = (length + 1).cum_sum().over("document") - 1
        segments = rows.with_columns(row=row, start=end - length, end=end)
        joined = segments.group_by(name="document", maintain_order=True)
        documents = joined.agg(pl.col("origin").first(), pl.col("text").str.join("\n"))
        documents = documents.with_columns(row=row)
        numbers = documents.select(document="name", number="row")
        segments = segments.join(numbers, on="document", maintain_order="left")
        segments = segments.drop("document").rename({"number": "document"})
    columns = ("row", "document", "origin", "record", "name", "start", "end", "text")
    return Corpus(sources=sources, documents=documents, segments=segments.select(columns))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of a file, or their identifiers."""

    def span_of(line: str, field: str) -> tuple[int, int]:
        name = re.match(r"[^\s]+", line) if field in {"name", "document"} else None
        return name.span() if name else (0, len(line))

    return locate_lines(member, places, span_of)


FORMAT = declaration(__name__)
