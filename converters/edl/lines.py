"""Writing entity mentions as a table: what a line can say, and the lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.toolkit.confidences import to_text
from hlteval.representation import Corpus

HEADER = (
    *("system_run_id", "mention_id", "mention_text", "extents"),
    *("kb_id", "entity_type", "mention_type", "confidence"),
)
"""The header of LDC's annotations."""

_LARGEST = 10**15 - 1
_BREAKS = r"[\t\n\r\x00]"
_TEXTS = ("mention", "label", "text", "entity", "mention_type", "annotator", "confidence_text")
_AS_OFFSETS = r"^\s*:|:\s?\d+\s?[-\x{2013}]\s?\d+"
"""What in the name of a document would be read as offsets, or as no document at all."""


BLANKS = "[ \t\r\n\u00a0]+"


def normalised(column: str) -> pl.Expr:
    r"""A text as a mention string writes it, as the evaluations of TAC do.

    A line break is a blank, or nothing behind a hyphen, and any run of blanks is one.

    Examples:
        >>> frame = pl.DataFrame({"text": ["Jean-\nLuc  Martin"]})
        >>> frame.select(normalised("text"))["text"].to_list()
        ['Jean-Luc Martin']
    """
    joined = pl.col(column).str.replace_all("-\r?\n", "-")
    return joined.str.replace_all(BLANKS, " ")


def write(
    corpora: Iterable[Corpus],
    path: Path,
    header: Literal["no", "yes"] = "no",
    number: Literal["no", "yes"] = "no",
    run: str = "",
) -> None:
    """The mentions of all documents, in the order in which they came."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        if header == "yes":
            stream.write("\t".join(HEADER) + "\n")
        count = 0
        for corpus in corpora:
            mentions = _worded(corpus).with_columns(pl.col("annotator").fill_null(run))
            if number == "yes":
                numbers = pl.format("m{}", pl.int_range(count + 1, count + 1 + pl.len()))
                mentions = mentions.with_columns(mention=numbers)
            stream.writelines(f"{line}\n" for line in _lines(corpus.replace(mentions=mentions)))
            count += mentions.height


def _worded(corpus: Corpus) -> pl.DataFrame:
    """The mentions; those without a string get it from the text of their document."""
    texts = dict(corpus.documents.select("row", "text").drop_nulls("text").iter_rows())
    silent = pl.col("text").is_null() & pl.col("document").is_in(list(texts))
    some = corpus.mentions.filter(silent).select("row", "document", "start", "end").rows()
    found = {row: texts[document][max(start, 0) : end] for row, document, start, end in some}
    words = pl.DataFrame({"row": list(found), "found": list(found.values())})
    words = words.cast({"row": pl.Int64, "found": pl.String}).with_columns(normalised("found"))
    joined = corpus.mentions.join(words, on="row", how="left", maintain_order="left")
    return joined.with_columns(text=pl.coalesce("text", "found")).drop("found")


def _holds(column: str, pattern: str) -> pl.Expr:
    return pl.col(column).str.contains(pattern).fill_null(value=False)


def _writable() -> pl.Expr:
    """Which mentions, joined with the names of their documents, a line can say."""
    broken = pl.any_horizontal(_holds(column, _BREAKS) for column in (*_TEXTS, "name"))
    return (
        ~broken
        & ~_holds("name", _AS_OFFSETS)
        & (pl.col("name").str.strip_chars() != "")
        & ~_holds("entity", r"\|")
        & ~_holds("annotator", r"^\x{FEFF}")  # it would be taken for a byte order mark
        & (pl.col("confidence_text") != "").fill_null(value=True)
        & pl.col("fragments").is_null()
        & pl.col("start").is_between(0, _LARGEST)
        & pl.col("end").is_between(1, _LARGEST)
    )


def _sayable() -> pl.Expr:
    """Which other candidates a line can say."""
    return pl.col("entity").is_not_null() & ~_holds("entity", rf"{_BREAKS}|\|")


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no line can say."""
    names = corpus.documents.select("name", document="row")
    mentions = corpus.mentions.join(names, on="document", maintain_order="left")
    silent = corpus.documents.join(corpus.mentions, left_on="row", right_on="document", how="anti")
    return {
        "mentions that do not fit a line": mentions.filter(~_writable()).height,
        "candidates that do not fit a line": corpus.links.filter(~_sayable()).height,
        "documents without mentions": silent.height,
        "unknown confidences, written as 1.0": mentions.filter(
            pl.col("confidence").is_null(), pl.col("confidence_text").is_null()
        ).height,
    }


def _lines(corpus: Corpus) -> Iterator[str]:
    names = corpus.documents.select("name", document="row")
    links = corpus.links.filter(_sayable()).sort("mention_row", "rank")
    others = links.group_by("mention_row", maintain_order=True).agg(others="entity")
    rows = corpus.mentions.join(names, on="document", maintain_order="left").filter(_writable())
    rows = rows.join(
        others, left_on="row", right_on="mention_row", how="left", maintain_order="left"
    )
    entities = pl.col("entity").fill_null("")
    several = pl.concat_list(entities, pl.col("others")).list.join("|")
    lines = rows.select(
        pl.concat_str(
            pl.col("annotator").fill_null(""),
            "mention",
            pl.col("text").fill_null(""),
            pl.format("{}:{}-{}", "name", "start", pl.col("end") - 1),
            pl.when(pl.col("others").is_null()).then(entities).otherwise(several),
            "label",
            pl.col("mention_type").fill_null(""),
            to_text(rows),
            separator="\t",
        ).alias("line")
    )
    yield from lines["line"]
