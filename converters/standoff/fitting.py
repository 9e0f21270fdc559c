"""A corpus as a dialect of standoff can represent it, and the counts of what is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple

import polars as pl

from hlteval.converters.standoff.dialects import BIONLP, BRAT, Dialect
from hlteval.converters.standoff.identifiers import identified, modifier_kind
from hlteval.converters.standoff.line_ends import with_line_feeds
from hlteval.converters.standoff.records import SPACES
from hlteval.converters.standoff.references import (
    reference,
    referring,
    with_references,
    with_triggers,
)
from hlteval.converters.toolkit.per_document import UNWRITABLE_TEXT
from hlteval.converters.toolkit.span_texts import filled
from hlteval.representation import Corpus, of_documents
from hlteval.sources import is_file_path

_BLANK = r"[ \t\r\n\f\x0b\x00]"
#: The largest offset: nine digits.
_LARGEST = 999_999_999


class Fitted(NamedTuple):
    """The corpus that is written, and the counts of what is lost, by description."""

    corpus: Corpus
    lost: Mapping[str, int]


def lost(corpus: Corpus, dialect: Dialect) -> Mapping[str, int]:
    """The counts of what a dialect loses of a corpus, in the tables that it supports.

    Examples:
        >>> lost(Corpus(), BRAT)["names of groups"]
        0
    """
    return fitted(corpus, dialect).lost


def fitted(corpus: Corpus, dialect: Dialect) -> Fitted:
    """The corpus in which every row is a record of the dialect, and the losses."""
    return corpus.cached(_brat if dialect.name == BRAT.name else _bionlp)


def _bionlp(corpus: Corpus) -> Fitted:
    counts = Counter[str]()
    named = _named(corpus, BIONLP, counts)
    kept = _with_arguments(_of_kinds(named, BIONLP, counts), counts)
    marked = identified(_worded(kept, BIONLP, counts), BIONLP, counts)
    return Fitted(_with_texts(filled(marked), counts), counts)


def _brat(corpus: Corpus) -> Fitted:
    counts = Counter[str]()
    named = with_line_feeds(_named(corpus, BRAT, counts), counts)
    kept = _with_two_arguments(_of_kinds(named, BRAT, counts), counts)
    marked = identified(_worded(_normalized(kept, counts), BRAT, counts), BRAT, counts)
    triggered = with_triggers(with_references(marked, counts), counts)
    return Fitted(filled(triggered), counts)


def _named(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The documents whose names can be names of files, and whose texts can be written."""
    folders = {
        str(folder) for name in corpus.documents["name"] for folder in PurePath(name).parents
    }
    kept = []
    for name, text in corpus.documents.select("name", "text").iter_rows():
        if re.search(UNWRITABLE_TEXT, text or ""):
            counts["texts with null characters or an initial byte order mark"] += 1
        elif not is_file_path(name):
            counts["documents whose name is not a valid file name"] += 1
        elif any(f"{name}{suffix}" in folders for suffix in dialect.suffixes):
            counts["documents whose file another document has"] += 1
        else:
            kept.append(name)
    if len(kept) == corpus.documents.height:
        return corpus
    return of_documents(corpus, pl.Series(kept, dtype=pl.String))


def _of_kinds(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """Spans, modifiers and groups of the kinds that a dialect has."""
    group = pl.col("kind") == "Equiv" if dialect is BIONLP else pl.lit(value=True)
    modifier = modifier_kind().is_in(list(dialect.identifiers))
    mentions = corpus.mentions.filter(_placed())
    groups = corpus.groups.filter(group)
    counts["names of groups"] += _renumbered(groups)
    modifiers = corpus.modifiers.filter(modifier)
    counts["spans beyond the largest offset"] += corpus.mentions.height - mentions.height
    counts["members of groups other than Equiv"] += corpus.groups.height - groups.height
    counts["notes and attributes with values"] += corpus.modifiers.height - modifiers.height
    return corpus.replace(mentions=mentions, modifiers=modifiers, groups=groups)


def _renumbered(groups: pl.DataFrame) -> int:
    """The number of groups whose names are not their ordinals, which they get when read again."""
    first = groups.sort("origin", "record", "row").unique(
        ["document", "group", "kind"], keep="first", maintain_order=True
    )
    number = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String)
    return first.filter(pl.col("group") != number).height


def _placed() -> pl.Expr:
    """Whether all offsets of a span can be written."""
    ends = [pl.col("start"), pl.col("end")]
    for field in ("start", "end"):
        offsets = pl.col("fragments").list.eval(pl.element().struct.field(field)).list
        ends += [offsets.min().fill_null(0), offsets.max().fill_null(0)]
    return pl.all_horizontal(end.is_between(0, _LARGEST) for end in ends)


def _only(corpus: Corpus, frames: pl.DataFrame) -> Corpus:
    """The corpus with only these frames and their arguments."""
    kept = pl.col("frame_row").is_in(frames["row"].implode())
    return corpus.replace(frames=frames, arguments=corpus.arguments.filter(kept))


def _with_arguments(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """The frames that have arguments."""
    frames = corpus.frames.filter(pl.col("row").is_in(corpus.arguments["frame_row"].implode()))
    lost = corpus.frames.height - frames.height
    counts["frames without arguments"] += lost
    return _only(corpus, frames) if lost else corpus


def _with_two_arguments(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """All frames but relations without exactly two arguments in two roles."""
    roles = corpus.arguments.group_by(row="frame_row").agg(
        size=pl.len(), roles=pl.col("role").n_unique()
    )
    sized = corpus.frames.join(roles, on="row", how="left", maintain_order="left")
    two = (pl.col("size") == 2) & (pl.col("roles") == 2)
    frames = sized.filter((pl.col("kind") != "relation") | two).drop("size", "roles")
    lost = corpus.frames.height - frames.height
    counts["relations without exactly two arguments in two roles"] += lost
    return _only(corpus, frames) if lost else corpus


def _normalized(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """Normalisations with the name of a knowledge base before what they refer to."""
    bare = (modifier_kind() == "normalization") & ~referring("value")
    written = pl.when(bare).then(reference("value"))
    modifiers = corpus.modifiers.with_columns(new=written.otherwise("value"))
    changed = modifiers.filter(pl.col("new") != pl.col("value")).height
    counts["normalisations without a knowledge base"] += changed
    named = modifiers.with_columns(value="new").drop("new")
    return corpus.replace(modifiers=named) if changed else corpus


def _worded(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """Types, roles, values and texts without characters that a line cannot hold."""
    tables = dict(corpus.tables())
    colons = pl.lit(value=True) if dialect is BIONLP else pl.lit(value=False)
    for table, column, no_colon in (
        ("mentions", "label", colons),
        ("frames", "label", colons | (pl.col("kind") == "event")),
        ("arguments", "role", pl.lit(value=True)),
        ("modifiers", "label", colons),
        ("groups", "kind", colons),
    ):
        tables[table] = _words(tables[table], column, no_colon, counts)
    line_end = "[\r\n\0]" if dialect is BRAT else "[\n\0]"
    value = r"[\t\r\n\f\x0b\x00]" if dialect is BRAT else _BLANK
    for table, column, ends, what in (
        ("mentions", "text", line_end, "texts of spans with line ends, or with spaces at an end"),
        ("modifiers", "text", line_end, "notes with line ends, or with spaces at an end"),
        ("modifiers", "value", value, "values with spaces that are not allowed"),
    ):
        tables[table] = _texts(tables[table], column, ends, counts, what)
    return corpus.replace(**tables)


def _words(
    rows: pl.DataFrame, column: str, no_colon: pl.Expr, counts: Counter[str]
) -> pl.DataFrame:
    """A column of single words, with `_` for characters that these cannot hold, and for ''."""
    word = pl.col(column).str.replace_all(_BLANK, "_")
    word = pl.when(no_colon).then(word.str.replace_all(":", "_")).otherwise(word)
    word = pl.when(word == "").then(pl.lit("_")).otherwise(word)
    new = rows.select(word.alias(column)).to_series()
    wrong = int((new != rows[column]).sum())
    counts["types and roles that are not a single word"] += wrong
    return rows.with_columns(new) if wrong else rows


def _texts(
    rows: pl.DataFrame, column: str, ends: str, counts: Counter[str], what: str
) -> pl.DataFrame:
    """A column of texts at the ends of lines, with spaces for line ends and none at either end."""
    text = pl.col(column).str.replace_all(ends, " ").str.strip_chars(SPACES)
    new = rows.select(pl.when(text != "").then(text)).to_series()
    wrong = rows[column].is_not_null() & (
        new.is_null() | (new != rows[column]).fill_null(value=True)
    )
    counts[what] += int(wrong.sum())
    return rows.with_columns(new.alias(column)) if wrong.any() else rows


def _with_texts(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """The spans whose text is known."""
    mentions = corpus.mentions.filter(pl.col("text").is_not_null())
    counts["spans with unknown text"] += corpus.mentions.height - mentions.height
    return corpus.replace(mentions=mentions)
