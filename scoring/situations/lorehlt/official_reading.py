"""Frames as the public scorer reads them: which it drops, what is a number, and what is unknown.

Conventions:
    A flag or a status is null where the scorer has not-a-number, which a value that it does not
    know becomes, `none` as well. It is equal to nothing, but counts as true in the gravity of a
    frame. A column of a file in which nothing but numbers is written has numbers, which are equal
    to no identifier: `#1` is the number 1. Both are decided for whole files: not for the
    documents that are listed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from hlteval.scoring.situations.lorehlt.frame_rows import ISSUES, NUMBER

_SPEECH_NIL = "NIL"
_STATUS = {"current": True, "past": False, "future": False, "not_current": False}
_SPEECH_STATUS = {"Current": True, "Past Only": False, "Future": False, "not_current": False}
_RESOLUTION = {"insufficient": True, "sufficient": False}
#: The values that the scorer knows; the first one is spelt like this in the data.
_SPEECH_RESOLUTION = {"Insufficent": True, "Insufficient/Unknown": True, "Sufficient": False}
_SCOPES = ("1_smallgroup", "2_largegroup", "3_municipality", "4_region")
_SEVERITIES = ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath")
#: The least scope and severity of an urgent frame, of 0 to 4.
_LEAST = 2
_LEVELS = (0.0, 1.0, 2.0, 3.0, 4.0)
_NUMBER = "^[0-9]+$"


def is_listed(scored: Collection[str] | None) -> pl.Expr:
    """Return whether a list of the scorer has the document of a row; without one, all are scored.

    A list of nothing but numbers has no other documents, and any other list no numbers.
    """
    if scored is None:
        return pl.lit(value=True)
    names = pl.Series([*scored], dtype=pl.String)
    numbers = pl.lit(bool(names.str.contains(_NUMBER).all()))
    return pl.col("docid").is_in(names.implode()) & (_numeric("name") == numbers)


def read_reference(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames of the reference, but for those without a place."""
    frames = _with_flags(_in_order(frames))
    speech = pl.col("modality").fill_null("text") == "speech"
    # text has a place if it names an entity, whatever entry there is; speech has entries only
    nameless = (pl.col("entity").fill_null("none") == "none") & pl.col("urgency").is_null()
    no_entry = pl.col("place").is_null() | (pl.col("place") == _SPEECH_NIL)
    nowhere = pl.when(speech).then(no_entry).otherwise(nameless)
    return frames.filter(~nowhere.fill_null(value=False))


def read_system(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames of a system."""
    return _with_flags(frames)


def _in_order(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames in the order of the scorer's table: needs, issues, speech; with numbers."""
    speech = pl.col("modality").fill_null("text") == "speech"
    issues = pl.col("file").str.extract("(needs|issues)/[^/]*$") == "issues"
    order = (speech, issues.fill_null(pl.col("type").is_in(ISSUES)), "file", "docid", "frame")
    document = (
        pl.when(_numeric("name")).then(pl.format(f"{NUMBER}{{}}", "docid")).otherwise("docid")
    )
    entry = pl.col("place").str.strip_chars_start("0")
    place = pl.when(_numeric("place_kb")).then(pl.format(f"{NUMBER}{{}}", entry)).otherwise("place")
    none = pl.when(_none("place_kb")).then(pl.lit("none"))
    return frames.sort(order, maintain_order=True).with_columns(
        docid=document, place=pl.coalesce(place, none)
    )


def _with_flags(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames with the flags on which gravity depends, and null places where none is written."""
    annotated = pl.col("urgency").is_null()
    speech = annotated & (pl.col("modality") == "speech").fill_null(value=False)
    urgent = (_level("scope", _SCOPES) >= _LEAST) & (_level("severity", _SEVERITIES) >= _LEAST)
    return frames.with_columns(
        place=pl.when(pl.col("place") != "").then("place"),
        issue=pl.col("type").is_in(ISSUES),
        urgent=pl.coalesce(pl.col("urgency") == "true", urgent).fill_null(value=False),
        unresolved=pl.when(speech)
        .then(_flag("resolution", _SPEECH_RESOLUTION))
        .otherwise(_flag("resolution", _RESOLUTION)),
        current=pl.when(speech)
        .then(_flag("status", _SPEECH_STATUS))
        .otherwise(_flag("status", _STATUS)),
        status=pl.when(~speech).then("status"),
    )


def _flag(column: str, known: Mapping[str, bool]) -> pl.Expr:
    """Whether a value is one that holds: null if it is unknown, False if there is none."""
    flag = pl.col(column).replace_strict(known, default=None, return_dtype=pl.Boolean)
    return (
        pl.when(pl.col(column).is_null() & ~_none(column)).then(pl.lit(value=False)).otherwise(flag)
    )


def _level(column: str, names: tuple[str, ...]) -> pl.Expr:
    """The scope or severity of a frame, 0 if unknown: names, or numbers in a column of them."""
    named = {name: level for level, name in enumerate(names, start=1)}
    number = pl.col(column).cast(pl.Float64, strict=False)
    level = pl.when(_numeric(column) & number.is_in(_LEVELS)).then(number.cast(pl.Int64))
    word = pl.col(column).replace_strict(named, default=0, return_dtype=pl.Int64)
    return pl.coalesce(level, word)


def _numeric(column: str) -> pl.Expr:
    """Whether a column of the file of a frame has nothing but numbers."""
    return pl.col("numbers").str.split(",").list.contains(column).fill_null(value=False)


def _none(column: str) -> pl.Expr:
    """Whether `none` is written in a column."""
    return pl.col("nones").str.split(",").list.contains(column).fill_null(value=False)
