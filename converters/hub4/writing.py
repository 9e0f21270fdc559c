"""Writes HUB-4 template sets, in the layout of the specification's samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.converters.hub4.texts import SPACES, Bracket, bracketed, with_brackets
from hlteval.converters.toolkit.frame_kinds import TEMPLETTE
from hlteval.grammars import pattern
from hlteval.representation import Corpus

#: One more than the largest number that an extent may hold.
_MOST = 10**9
_ORDER = ("frame_row", "slot_number", "alternative", "position", "row")


def instances(corpus: Corpus) -> Iterator[str]:
    """The text of each instance, in the order of the records."""
    bodies = _lines(corpus.cached(_fills)).group_by(row="frame_row").agg(pl.col("line").str.join())
    frames = corpus.frames.lazy().filter((pl.col("kind") == TEMPLETTE) & _is_pointer("frame"))
    header = pl.concat_str(pl.lit("<"), "frame", pl.lit("> :=\n"), pl.col("line").fill_null(""))
    whole = frames.join(bodies, on="row", how="left").sort("origin", "record", "row")
    yield from whole.select(header).collect().to_series()


def _lines(fills: pl.DataFrame) -> pl.LazyFrame:
    """The fills as lines; slashes and texts of a slot are aligned."""
    slot = pl.col("frame_row").cast(pl.String) + "/" + pl.col("slot_number").cast(pl.String)
    marks = pl.when("optional").then(pl.lit(" /")).otherwise(pl.lit(""))
    rows = fills.lazy().filter(pl.col("content").is_not_null()).sort(_ORDER)
    rows = rows.with_columns(
        begins=(slot != slot.shift()).fill_null(value=True),
        same=pl.col("alternative") == pl.col("alternative").shift(),
        head=pl.concat_str(pl.lit("    "), "slot", pl.lit(":"), marks),
    )
    spaces = pl.col("head").str.replace_all(r"[^\n]", " ")
    lead = (
        pl.when("begins")
        .then(
            pl.col("head")
            + pl.when(pl.col("content") == "").then(pl.lit("")).otherwise(pl.lit(" "))
        )
        .when("same")
        .then(spaces + " ")
        .otherwise(spaces.str.slice(1) + "/ ")
    )
    return rows.select("frame_row", line=pl.concat_str(lead, "content", pl.lit("\n")))


def _fills(corpus: Corpus) -> pl.DataFrame:
    """The fills with their `content` as written, null where no line can represent it."""
    rows = corpus.fills.lazy().with_columns(_with_brackets(corpus.fills))
    kind, text = pl.col("kind"), pl.col("written")
    start, end = pl.element().struct.field("start"), pl.element().struct.field("end")
    each = pl.concat_str(start, pl.lit("#"), end, pl.lit("#"))
    numbers = pl.col("extents").list
    low = numbers.eval(pl.min_horizontal(start, end)).list.min() >= 0
    high = numbers.eval(pl.max_horizontal(start, end)).list.max() < _MOST
    content = (
        pl.when((kind == "pointer") & _is_pointer("target"))
        .then(pl.concat_str(pl.lit("<"), "target", pl.lit(">")))
        .when(kind == "empty")
        .then(pl.lit(""))
        .when((kind == "text") & ~text.str.contains("[\n\0]") & (low & high).fill_null(value=True))
        .then(
            pl.concat_str(
                pl.when(_bare())
                .then(text)
                .otherwise(pl.concat_str(pl.lit('"'), text, pl.lit('"'))),
                pl.concat_str(pl.lit(" ##"), numbers.eval(each).list.join("")).fill_null(""),
            )
        )
    )
    named = (pl.col("slot") + ":").str.contains(f"^(?:{pattern('hub4', 'slot')})$")
    written = rows.with_columns(content=pl.when(named).then(content))
    wanted = (*_ORDER, "slot", "optional", "content")
    return written.select(wanted).collect()


def _bare() -> pl.Expr:
    """Whether a text was read without quotes, and can be written so."""
    text = pl.col("written")
    again = text.str.contains(f"^(?:{pattern('hub4', 'fill')})$")
    other = text.str.contains('^["<]|##') | (text != text.str.strip_chars(SPACES))
    slot = (pl.col("position") > 1) & text.str.contains("^[A-Za-z0-9_-]+:")
    return ~pl.col("quoted").fill_null(value=True) & again & ~other & ~slot


def _with_brackets(fills: pl.DataFrame) -> pl.Series:
    """The texts with brackets around their minimal strings; null where that is ambiguous."""
    some = fills.with_row_index("at").filter(pl.col("brackets").list.len() > 0)
    at, each = some["at"], some.select("text", "brackets").iter_rows()
    marked = pl.Series([_marked(text, brackets) for text, brackets in each], dtype=pl.String)
    text = fills["text"].alias("written")
    return text.scatter(at, marked) if len(at) else text


def _marked(text: str | None, brackets: list[Bracket]) -> str | None:
    """A text with its brackets, if it can be read back."""
    if text is None:
        return None
    marked = with_brackets(text, brackets)
    return marked if bracketed(marked) == (text, brackets) else None


def _is_pointer(column: str) -> pl.Expr:
    header = pl.concat_str(pl.lit("<"), column, pl.lit(">:="))
    return header.str.contains(f"^(?:{pattern('hub4', 'header')})$")


def unwritten(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no template set can say, counted."""
    templettes = corpus.frames.filter(pl.col("kind") == TEMPLETTE)
    silent = corpus.documents.join(templettes, left_on="row", right_on="document", how="anti")
    return {
        "instances with invalid pointers": templettes.filter(
            ~_is_pointer("frame").fill_null(value=False)
        ).height,
        "fills with unsupported content": corpus.cached(_fills)["content"].null_count(),
        "documents without instances": silent.height,
    }
