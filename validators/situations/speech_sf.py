"""Rules of Speech Situation Frames: a submission beside the segments it is for.

What breaks the schema of a frame is told by the reader; here stands what a schema cannot say.
"""

from __future__ import annotations

from unicodedata import name as unicode_name

import polars as pl

from hlteval.grammars import schema
from hlteval.validators.rule import Rule, RuleContext
from hlteval.validators.suggest import near


def types() -> tuple[str, ...]:
    """The situation types, in the order of the specification.

    Examples:
        >>> len(types()), types()[6]
        (11, 'Shelter')
    """
    listed = schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"]
    return tuple(listed)


def _frames(case: RuleContext) -> pl.LazyFrame:
    """The frames with the names of their segments."""
    frames = case.table("frames").with_columns(id=pl.col("frame"))
    named = frames.join(case.names, on="document", how="left", maintain_order="left")
    return named.rename({"name": "segment"})


def _about_the_whole(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Findings about a file and not about a record of it."""
    number, text = pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    return rows.with_columns(origin=pl.lit(0, pl.Int64), record=number, field=pl.lit(""), id=text)


def unknown_segment(case: RuleContext) -> pl.LazyFrame:
    """A frame of a segment that is not asked for; each segment is told once."""
    known = case.against.documents.lazy().select(segment="name")
    found = _frames(case).join(known, on="segment", how="anti", maintain_order="left")
    found = found.head(0) if case.own else found
    found = found.with_columns(count=pl.len().over("segment")).unique(
        "segment", keep="first", maintain_order=True
    )
    strange = found.select("segment").collect().to_series().to_list()
    hints = _hints(strange, case.against.documents["name"].to_list()) if strange else {}
    hint = pl.col("segment").replace_strict(hints, default="", return_dtype=pl.String)
    return found.with_columns(field=pl.lit("DocumentID"), hint=hint, document=pl.col("segment"))


def _hints(strange: list[str], known: list[str]) -> dict[str, str]:
    """What segment may have been meant."""
    meant = near(strange, known)
    return {
        name: f"did you mean {meant[name]}?"
        if name in meant
        else "remove its frames; they count as false positives"
        for name in strange
    }


def segment_without_frames(case: RuleContext) -> pl.LazyFrame:
    """A segment that the submission says nothing of."""
    framed = case.table("frames").select(row="document").unique()
    silent = case.against.documents.lazy().join(framed, on="row", how="anti", maintain_order="left")
    silent = silent.head(0) if case.own else silent
    return _about_the_whole(silent.select(document="name"))


def duplicate_frame(case: RuleContext) -> pl.LazyFrame:
    """A frame that has segment, type and place of an earlier one."""
    key = ["document", "label", "place"]
    # Few are alike: numbers that differ wherever the frames do find them quickly.
    number = (pl.col("document").hash(1) + pl.col("label").hash(2) + pl.col("place").hash(3)).hash()
    frames = case.table("frames").with_columns(id=pl.col("frame"), number=number)
    alike = frames.filter(pl.col("number").is_duplicated()).drop("number")
    frames = alike.with_columns(place=pl.col("place").fill_null("\x1f"))
    found = frames.with_columns(
        first=pl.col("record").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    return found.filter(pl.col("ordinal") > 0).with_columns(field=pl.lit(""))


def blank_place(case: RuleContext) -> pl.LazyFrame:
    """A place without a name."""
    blank = pl.col("place").str.strip_chars() == ""
    return _frames(case).filter(blank).with_columns(field=pl.lit("PlaceMention"))


def missing_types(case: RuleContext) -> pl.LazyFrame:
    """A segment with frames, but not of all types."""
    every = pl.lit(list(case.schema), dtype=pl.List(pl.String))
    frames = _frames(case).filter(pl.col("label").is_in(case.schema))
    given = frames.group_by("segment", maintain_order=True).agg(given=pl.col("label").unique())
    some = given.with_columns(count=pl.col("given").list.len()).filter(
        pl.col("count") < len(case.schema)
    )
    missing = pl.col("every").list.set_difference("given").list.sort().list.join(", ")
    told = some.with_columns(document="segment", every=every, all=pl.lit(len(case.schema)))
    return _about_the_whole(told.with_columns(missing=missing).drop("given", "every"))


def equal_confidences(case: RuleContext) -> pl.LazyFrame:
    """A submission whose frames are all as sure as each other."""
    frames = case.table("frames").drop_nulls("confidence")
    summed = frames.select(
        count=pl.len(),
        confidence=pl.col("confidence").first(),
        kinds=pl.col("confidence").n_unique(),
    )
    return _about_the_whole(summed.filter((pl.col("count") > 1) & (pl.col("kinds") == 1)))


def scripts(place: str) -> frozenset[str]:
    """The scripts of the letters of a place, as Unicode names them.

    Examples:
        >>> sorted(scripts("Osh, 江苏 7"))
        ['Cjk', 'Latin']
    """
    letters = (unicode_name(one, "") for one in place if one.isalpha())
    named = (letter.partition(" ")[0].title() for letter in letters)
    return frozenset(script for script in named if script not in {"", "Modifier", "Fullwidth"})


def other_script(case: RuleContext) -> pl.LazyFrame:
    """A place in a script that no place of the reference has; each such script is told once."""
    reference = case.against.frames["place"].drop_nulls().unique()
    known = frozenset[str]().union(*map(scripts, reference)) if not case.own else frozenset()
    places = case.system.frames["place"].drop_nulls().unique(maintain_order=True)
    written = {place: scripts(place) for place in places} if known else {}
    strange = {place: min(of) for place, of in written.items() if of and not of & known}
    script = pl.col("place").replace_strict(strange, default=None, return_dtype=pl.String)
    found = _frames(case).with_columns(script=script).drop_nulls("script")
    found = found.with_columns(count=pl.len().over("script"))
    first = found.unique("script", keep="first", maintain_order=True)
    return first.with_columns(field=pl.lit("PlaceMention"), known=pl.lit(", ".join(sorted(known))))


RULES = (
    Rule("SSF101", "frames", unknown_segment),
    Rule("SSF102", "sources", segment_without_frames),
    Rule("SSF103", "frames", duplicate_frame),
    Rule("SSF104", "frames", blank_place),
    Rule("SSF105", "frames", missing_types),
    Rule("SSF106", "frames", equal_confidences),
    Rule("SSF107", "frames", other_script),
)
