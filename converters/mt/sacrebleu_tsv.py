r"""Translations as the tables that sacrebleu reads, a column per reference or system.

Format:
    A folder of tab-separated tables without a header, a line per segment: `references.tsv`,
    `systems.tsv`, `sources.tsv`. `segments.tsv` has the document and the segment of each line,
    `columns.tsv` the table, role and name of each column.

Conventions:
    Lines are the same segments in all tables, so that they can be scored as they are:
    `sacrebleu references.tsv --num-refs 2 < systems.tsv`. Space in texts is normalised, which
    changes no score; where a set lacks a segment, its cell is empty. A record is a line.

Example lines:
    Water is lacking in the town.	The town lacks water.

Codes raised: MTF501, MTF502.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt import texts as mt_texts
from hlteval.converters.toolkit.rows import escape, unescape
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table

TABLES: Mapping[str, str] = {role: f"{role}s.tsv" for role in mt_texts.ROLES}
SEGMENTS, COLUMNS = "segments.tsv", "columns.tsv"
_COLUMNS = Table(
    (
        Column("file", pattern="|".join(TABLES.values()), code="MTF501"),
        Column("role", pattern="|".join(TABLES), code="MTF501"),
        Column("name", nullable=True),
    ),
    code="MTF501",
)
_NORMAL = pl.col("text").str.replace_all(r"[\s\x1c-\x1f]+", " ").str.strip_chars(" ")


def members(source: Source) -> tuple[Member, ...]:
    """The lists of segments and of columns, then the tables; without both lists all tables."""
    files = {member.basename: member for member in source.members}
    named = (SEGMENTS, COLUMNS, *TABLES.values())
    return tuple(files[name] for name in named if name in files)


def tabular(member: Member, first: str) -> Sequence[Table]:  # noqa: ARG001
    """The list of columns; the other tables may hold anything."""
    return (_COLUMNS,) if member.basename == COLUMNS else ()


def sniff(source: Source) -> bool:
    """Whether it is a folder with both lists."""
    return {SEGMENTS, COLUMNS} <= {member.basename for member in source.members}


def read(source: Source) -> Iterator[ReadResult]:
    """All tables as one batch."""
    collected = mt_texts.Collected(source, FORMAT.name)
    findings: list[Finding] = []
    contents: dict[str, str] = {}
    complete = sniff(source)
    if not complete and source.members:
        findings.append(finding("MTF403", file=source.path))
    for member in members(source) if complete else ():
        content = collected.files.open(member)
        if content is None and member.basename in {SEGMENTS, COLUMNS}:
            break  # without it, the tables cannot be understood
        contents[member.basename] = content or ""
        if member.basename == COLUMNS:
            columns = _COLUMNS.read(contents[COLUMNS])
            findings += columns.findings(member)
        elif member.basename != SEGMENTS and content is not None:
            own = columns.rows.filter(file=member.basename).select("role", unescape("name"))
            segments = mt_texts.read_ids(contents[SEGMENTS])
            findings += mt_texts.add_lines(collected, content, segments, SEGMENTS, own.rows(), "\t")
    yield collected.result(findings)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """A folder with a table for each role that there is, and both lists."""
    path.mkdir(parents=True, exist_ok=True)
    corpus = mt_texts.with_sources(Corpus.concat(corpora))
    corpus = corpus.replace(translations=corpus.translations.with_columns(text=_NORMAL))
    listed, every = mt_texts.keys(corpus), mt_texts.sets(corpus)
    (path / SEGMENTS).write_text(mt_texts.ids(corpus, listed), "utf-8", newline="")
    rows = [(TABLES[each.role], each.role, each.name) for each in every]
    schema = dict.fromkeys(("file", "role", "name"), pl.String)
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(escape("name"))
    _COLUMNS.write([frame], path / COLUMNS)
    for role, name in TABLES.items():
        columns = [each.texts for each in every if each.role == role]
        lines = ("\t".join(texts.get(key, "") for texts in columns) + "\n" for key in listed)
        if columns:
            (path / name).write_text("".join(lines), "utf-8", newline="")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the tables cannot represent."""
    whole = mt_texts.with_sources(corpus)
    every, listed = mt_texts.sets(whole), mt_texts.keys(whole)
    lacking = sum(len(listed) - len(each.texts) for each in every)
    return {
        **mt_texts.lost(corpus, pl.col("text") != _NORMAL),
        "missing segments, which become empty cells": lacking,
    }


FORMAT = declaration(__name__)
