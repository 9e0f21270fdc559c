"""Fields of a table of mentions that other formats do not have: what is filled, what is listed.

A submission must fill every field. Run, identifier and mention type are made up; a mention string
comes from the text of the document; entities and types are never made up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from hlteval.grammars import pattern
from hlteval.representation import Corpus

#: The run and the mention type of mentions of formats without these fields.
RUN, MENTION_TYPE = "run1", "NAM"
#: What was read from it has all fields: those that are empty stay so, and are validated.
TABLE_FORMAT = "edl-tab"
_NUMBERED = re.compile("m([0-9]{1,15})")
SPACES = "[ \t\r\n\u00a0]+"
_HYPHENATED = "-(\r?\n)+"


def normalised(column: str) -> pl.Expr:
    r"""A text as mention strings are written, following the evaluations of TAC.

    A line break is a space; line breaks after a hyphen are nothing; several spaces are one.

    Examples:
        >>> frame = pl.DataFrame({"text": ["Jean-\nLuc  Martin"]})
        >>> frame.select(normalised("text"))["text"].to_list()
        ['Jean-Luc Martin']
    """
    return pl.col(column).str.replace_all(_HYPHENATED, "-").str.replace_all(SPACES, " ")


def filled(corpus: Corpus, run: str, first: int, *, numbered: bool) -> pl.DataFrame:
    """The mentions with all fields that can be known or made up.

    Args:
        corpus: whose mentions are written.
        run: of mentions without one; empty for `RUN`, which those of a table do not get.
        first: the number of the first mention that has no identifier.
        numbered: whether all mentions are numbered.
    """
    mentions = corpus.cached(_with_texts)
    foreign = _is_foreign(corpus)
    unnamed = pl.lit(numbered) | (foreign & _is_empty("mention"))
    start = first if numbered else max(first, largest_number(mentions) + 1)
    numbers = pl.format("m{}", start - 1 + unnamed.cast(pl.Int64).cum_sum())
    default_run = pl.lit(run) if run else pl.when(foreign).then(pl.lit(RUN)).otherwise(pl.lit(""))
    return mentions.with_columns(
        annotator=pl.coalesce("annotator", default_run),
        mention_type=pl.when(foreign & _is_empty("mention_type"))
        .then(pl.lit(MENTION_TYPE))
        .otherwise("mention_type"),
        mention=pl.when(unnamed).then(numbers).otherwise("mention"),
    )


def largest_number(mentions: pl.DataFrame) -> int:
    """The largest number of an identifier that looks like one of ours; 0 if there is none."""
    found = map(_NUMBERED.fullmatch, mentions["mention"])
    return max((int(match[1]) for match in found if match), default=0)


def _with_texts(corpus: Corpus) -> pl.DataFrame:
    """The mentions; those without a string get it from the text of their document."""
    texts = dict(corpus.documents.select("row", "text").drop_nulls("text").iter_rows())
    missing = pl.col("text").is_null() & pl.col("document").is_in(list(texts))
    places = corpus.mentions.filter(missing).select("row", "document", "start", "end").rows()
    found = {row: texts[document][max(start, 0) : end] for row, document, start, end in places}
    words = pl.DataFrame({"row": list(found), "found": list(found.values())})
    words = words.cast({"row": pl.Int64, "found": pl.String}).with_columns(normalised("found"))
    joined = corpus.mentions.join(words, on="row", how="left", maintain_order="left")
    return joined.with_columns(text=pl.coalesce("text", "found")).drop("found")


def _is_foreign(corpus: Corpus) -> pl.Expr:
    """Whether mentions come from another format than a table of mentions."""
    tables = corpus.sources.filter(pl.col("format") == TABLE_FORMAT)["row"].to_list()
    return ~pl.col("origin").is_in(tables)


def _is_empty(column: str) -> pl.Expr:
    return pl.col(column).fill_null("").str.strip_chars() == ""


def count_missing(corpus: Corpus, writable: pl.DataFrame) -> Mapping[str, int]:
    """What is made up for the mentions that are written, and what no submission may have.

    Args:
        corpus: as it was read.
        writable: its mentions that a line can represent.
    """
    texts = corpus.cached(_with_texts).select("row", found="text")
    rows = writable.filter(_is_foreign(corpus)).join(texts, on="row", maintain_order="left")
    return {
        "missing identifiers of mentions, written as m1, m2, …": _count(rows, "mention"),
        f"missing runs, written as {RUN} or as --set run=NAME": _count(rows, "annotator"),
        f"missing mention types, written as {MENTION_TYPE}": _count(rows, "mention_type"),
        "missing mention strings; add the texts as an input": _count(rows, "found"),
        "missing entities, which a submission must have": _count(rows, "entity"),
        "missing entity types, which a submission must have": _count(rows, "label"),
        "entities that a submission cannot have (it has numbers, or NIL and digits)": _count_unlike(
            rows, "entity", "entity"
        ),
        "entity types that a submission cannot have (it has GPE, LOC, ORG, PER)": _count_unlike(
            rows, "label", "type"
        ),
    }


def _count(rows: pl.DataFrame, column: str) -> int:
    return rows.filter(_is_empty(column)).height


def _count_unlike(rows: pl.DataFrame, column: str, terminal: str) -> int:
    """The number of values that the grammar does not allow in a submission."""
    allowed = pl.col(column).str.contains(f"^(?:{pattern('edl', terminal)})$")
    return rows.filter(~_is_empty(column) & ~allowed).height
