"""Rules of situations about frames and their places (SSF103, SSF104, SSF106 to SSF109)."""

from __future__ import annotations

from unicodedata import name as unicode_name

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, about_file, at, first_of
from hlteval.validators.situations.tables import evaluated_types, frames

#: Words that are written where there is no place, in any case.
_NO_PLACE = ("n/a", "na", "none", "null", "nil", "unknown", "unspecified", "-")


def duplicate_frame(context: RuleContext) -> pl.LazyFrame:
    """A frame with the segment, type and place of an earlier one."""
    key = ["document", "label", "place"]
    rows = context.records("frames", "label", "place")
    # Few are alike: hashes find them quickly, their content decides.
    alike = rows.filter(row_hash(*key).is_duplicated()).with_columns(
        pl.col("place").fill_null("\x1f")
    )
    ordered = alike.with_columns(
        first=pl.col("record").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    return at(ordered.filter(pl.col("ordinal") > 0), "")


def other_type(context: RuleContext) -> pl.LazyFrame:
    """A type of the specification that is not evaluated, once for each type."""
    strange = frames(context).filter(
        pl.col("label").is_in(context.schema) & ~pl.col("label").is_in(evaluated_types(context))
    )
    known = pl.lit("; ".join(evaluated_types(context)))
    return at(first_of(strange, "label"), "Type").with_columns(known=known)


def blank_place(context: RuleContext) -> pl.LazyFrame:
    """A place without a name."""
    return at(frames(context).filter(pl.col("place").str.strip_chars() == ""), "PlaceMention")


def placeholder_place(context: RuleContext) -> pl.LazyFrame:
    """A word for no place that is taken as the name of a place, once for each."""
    word = pl.col("place").str.strip_chars().str.to_lowercase().is_in(_NO_PLACE)
    found = first_of(frames(context).filter(word), "place")
    return at(found.with_columns(given="place"), "PlaceMention")


def equal_confidences(context: RuleContext) -> pl.LazyFrame:
    """A submission whose frames all have the same confidence."""
    confidences = context.table("frames", "confidence").drop_nulls()
    summary = confidences.select(
        count=pl.len(),
        confidence=pl.col("confidence").first(),
        kinds=pl.col("confidence").n_unique(),
        origin=pl.lit(0, pl.Int64),
    )
    return about_file(summary.filter(pl.col("count") > 1, pl.col("kinds") == 1))


def scripts(place: str) -> frozenset[str]:
    """The scripts of the letters of a place, as Unicode names them.

    Examples:
        >>> sorted(scripts("Osh, 江苏 7"))
        ['Cjk', 'Latin']
    """
    letters = (unicode_name(letter, "") for letter in place if letter.isalpha())
    named = (letter.partition(" ")[0].title() for letter in letters)
    return frozenset(script for script in named if script not in {"", "Modifier", "Fullwidth"})


def other_script(context: RuleContext) -> pl.LazyFrame:
    """A place in a script that no place of the reference has, once for each script."""
    reference = context.against.frames["place"].drop_nulls().unique()
    known = frozenset[str]().union(*map(scripts, reference)) if not context.own else frozenset()
    places = context.system.frames["place"].drop_nulls().unique(maintain_order=True)
    written = {place: scripts(place) for place in places} if known else {}
    strange = {place: min(of) for place, of in written.items() if of and not of & known}
    script = pl.col("place").replace_strict(strange, default=None, return_dtype=pl.String)
    found = frames(context).with_columns(script=script).drop_nulls("script")
    first = at(first_of(found, "script"), "PlaceMention")
    return first.with_columns(known=pl.lit(", ".join(sorted(known))))
