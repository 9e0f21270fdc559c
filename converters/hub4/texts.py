"""The texts of HUB-4 fills: their content, the minimal strings in it, and their extents."""

from __future__ import annotations

import polars as pl

from hlteval.representation import FRAGMENTS

SPACES = " \t\r\f\x0b"

#: Start and end of a minimal string, as in the representation.
Bracket = dict[str, int]

#: A text with a single minimal string, the usual number.
_SINGLE = r"^([^\[\]]*)\[([^\[\]]+)\]([^\[\]]*)$"


def texts(fills: pl.DataFrame, *, reference: bool) -> list[pl.Series]:
    """The columns `text`, `quoted`, `extents` and `brackets` of fills.

    Args:
        fills: with `quoted`, `unquoted` and `extents` as written.
        reference: whether brackets mark minimal strings. Unbalanced brackets are text.
    """
    quoted = pl.col("quoted").str.strip_prefix('"').str.strip_suffix('"')
    content = fills.select(
        text=quoted.fill_null(pl.col("unquoted").str.strip_chars_end(SPACES)),
        quoted=pl.when(pl.col("pointer").is_null()).then(pl.col("quoted").is_not_null()),
    )
    text, brackets = content["text"], pl.Series("brackets", [None] * fills.height, FRAGMENTS)
    if reference and text.str.contains("[", literal=True).any():
        text, brackets = _unbracketed(text)
    return [text, content["quoted"], _extents(fills["extents"]), brackets]


def _extents(written: pl.Series) -> pl.Series:
    """The pairs of numbers of extents such as `##332#337#`."""
    numbers = written.str.strip_chars("#").str.split("#").alias("numbers")
    rows = pl.LazyFrame([numbers]).with_row_index("at")
    number = pl.col("numbers").list
    pair = pl.struct(
        start=number.get(0, null_on_oob=True).cast(pl.Int64),
        end=number.get(1, null_on_oob=True).cast(pl.Int64),
    )
    single = pl.when(pl.col("numbers").is_not_null()).then(pl.concat_list(pair))
    whole = rows.select("at", extents=single)
    if (numbers.list.len().max() or 0) > 2:  # type: ignore[operator]
        whole = whole.update(_several(rows.filter(number.len() > 2)), on="at", how="left")
    return whole.select("extents").collect().to_series()


def _several(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The extents of fills with more than one."""
    each = rows.explode("numbers").select("at", number=pl.col("numbers").cast(pl.Int64))
    place = pl.int_range(pl.len())
    starts = each.filter(place % 2 == 0)
    ends = each.filter(place % 2 == 1).select(end="number")
    pairs = pl.concat([starts.rename({"number": "start"}), ends], how="horizontal")
    return pairs.group_by("at", maintain_order=True).agg(extents=pl.struct("start", "end"))


def _unbracketed(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Texts without brackets, and the minimal strings in them."""
    rows = pl.LazyFrame([text.alias("text")]).with_row_index("at")
    some = rows.filter(pl.col("text").str.contains(r"[\[\]]"))
    groups = (
        pl.col("text").str.extract_groups(_SINGLE).struct.rename_fields(["head", "inner", "tail"])
    )
    some = some.with_columns(groups=groups).unnest("groups")
    start = pl.col("head").str.len_chars().cast(pl.Int64)
    end = start + pl.col("inner").str.len_chars().cast(pl.Int64)
    simple = some.filter(pl.col("inner").is_not_null()).select(
        "at",
        text=pl.concat_str("head", "inner", "tail"),
        brackets=pl.concat_list(pl.struct(start=start, end=end)),
    )
    hard = some.filter(pl.col("inner").is_null()).select("at", "text").collect()
    each = [(at, *bracketed(written)) for at, written in hard.iter_rows()]
    columns = ["at", "text", "brackets"]
    kinds = (pl.UInt32, pl.String, FRAGMENTS)
    others = pl.LazyFrame(each, schema=list(zip(columns, kinds, strict=True)), orient="row")
    found = pl.concat([simple, others])
    bare = rows.with_columns(brackets=pl.lit(None, FRAGMENTS))
    joined = bare.update(found, on="at", how="left").select("text", "brackets").collect()
    return joined["text"], joined["brackets"]


def bracketed(text: str) -> tuple[str, list[Bracket] | None]:
    """A text without its brackets, and the minimal strings in it, ordered by their starts.

    A text with unbalanced or empty brackets does not change.

    Examples:
        >>> bracketed("the [[bread] contest]")
        ('the bread contest', [{'start': 4, 'end': 17}, {'start': 4, 'end': 9}])
        >>> bracketed("a ] b")
        ('a ] b', None)
    """
    if text.count("[") != text.count("]"):
        return text, None
    kept: list[str] = []
    found: list[Bracket] = []
    opened: list[Bracket] = []
    for character in text:
        if character == "[":
            found.append({"start": len(kept), "end": len(kept)})
            opened.append(found[-1])
        elif character != "]":
            kept.append(character)
        elif not opened or opened[-1]["start"] == len(kept):
            return text, None
        else:
            opened.pop()["end"] = len(kept)
    return (text, None) if opened or not found else ("".join(kept), found)


def with_brackets(text: str, brackets: list[Bracket]) -> str:
    """A text with brackets around its minimal strings: the inverse of `bracketed`.

    Examples:
        >>> with_brackets("the bread contest", [{"start": 4, "end": 17}, {"start": 4, "end": 9}])
        'the [[bread] contest]'
    """
    marks: list[tuple[int, str]] = []
    opened: list[int] = []
    for bracket in brackets:
        while opened and opened[-1] <= bracket["start"]:
            marks.append((opened.pop(), "]"))
        marks.append((bracket["start"], "["))
        opened.append(bracket["end"])
    marks += [(end, "]") for end in reversed(opened)]
    written, last = [], 0
    for at, mark in marks:
        written += [text[last:at], mark]
        last = at
    return "".join([*written, text[last:]])
