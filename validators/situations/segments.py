"""Rules of situations about segments (SSF101, SSF102, SSF105)."""

from __future__ import annotations

import re

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.validators.rule import RuleContext, about_file, at, first_of, only_if
from hlteval.validators.situations.tables import evaluated_types, frames

#: What may be the name of a segment in a frame as it is written.
_TOKEN = re.compile(r"""[^\s",:{}\[\]]+""")


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A frame of a segment that the reference does not have, once for each segment."""
    known = context.against.documents.lazy().select(segment="name")
    strange = frames(context).join(known, on="segment", how="anti", maintain_order="left")
    found = first_of(only_if(not context.own, strange), "segment").collect()
    names = context.against.documents["name"].to_list()
    meant = closest_files(found["segment"].to_list(), names)
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    hint = pl.col("segment").replace_strict(
        hints, default="remove its frames; they count as false positives", return_dtype=pl.String
    )
    return at(found.lazy(), "DocumentID").with_columns(hint=hint, document="segment")


def segment_without_frames(context: RuleContext) -> pl.LazyFrame:
    """A segment of the reference for which the submission has no frame."""
    framed = context.table("frames", "document").unique()
    known = context.against.documents.lazy().select("row", document="name")
    silent = known.join(
        framed, left_on="row", right_on="document", how="anti", maintain_order="left"
    )
    certain = _certain(context, only_if(not context.own, silent))
    return about_file(certain).with_columns(origin=pl.lit(0, pl.Int64))


def missing_types(context: RuleContext) -> pl.LazyFrame:
    """A segment with frames, but not of all types."""
    types = evaluated_types(context)
    every = pl.lit(types, dtype=pl.List(pl.String))
    every_frame = frames(context)
    # The others may be of the missing types, or of the segment of another name.
    odd = every_frame.filter(~pl.col("label").is_in(context.schema)).select("segment")
    expected = context.against.documents.lazy().select(segment="name")
    rows = every_frame.join(odd, on="segment", how="anti", maintain_order="left")
    rows = rows.join(expected, on="segment", how="semi", maintain_order="left")
    known = rows.filter(pl.col("label").is_in(types))
    present = known.group_by("segment", maintain_order=True).agg(present=pl.col("label").unique())
    some = present.with_columns(every=every, count=pl.col("present").list.len())
    missing = pl.col("every").list.set_difference("present").list.sort().list.join(", ")
    found = some.filter(pl.col("count") < len(types)).select(
        "count",
        document="segment",
        missing=missing,
        all=pl.lit(len(types)),
        origin=pl.lit(0, pl.Int64),
    )
    return about_file(_certain(context, found))


def _certain(context: RuleContext, segments: pl.LazyFrame) -> pl.LazyFrame:
    """The segments of which no frame was unreadable; none if one does not name its segment.

    Args:
        context: what rules check.
        segments: with the name of each as `document`.
    """
    names = {*context.system.documents["name"], *context.against.documents["name"]}
    doubtful: set[str] = set()
    for text in context.system.rejected_records["text"].unique():
        named = names.intersection(_TOKEN.findall(text))
        if not named:
            return only_if(False, segments)
        doubtful |= named
    return segments.filter(~pl.col("document").is_in(list(doubtful)))
