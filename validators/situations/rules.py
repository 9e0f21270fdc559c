"""The rules of Speech Situation Frames, by code.

The reader reports what breaks the schema of a frame; these rules check what a schema cannot.
"""

import re
from collections.abc import Sequence
from unicodedata import name as unicode_name

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.grammars import schema
from hlteval.representation import row_hash
from hlteval.validators.rule import Rule, RuleContext, about_file, at, first_of, only_if

#: Words that are written where there is no place, in any case.
_NO_PLACE = ("n/a", "na", "none", "null", "nil", "unknown", "unspecified", "-")
#: A string that may be the name of a segment in a frame as it is written.
_TOKEN = re.compile(r"""[^\s",:{}\[\]]+""")
#: The hint about frames of unknown documents.
REMOVE = "remove its frames; they count as false positives"


def types() -> tuple[str, ...]:
    """The types of situations, in the order of the specification.

    Examples:
        >>> len(types()), types()[6]
        (11, 'Shelter')
    """
    return tuple(schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"])


# Tables of situations that several rules use.


def frames(context: RuleContext) -> pl.LazyFrame:
    """The frames with the names of their segments, as `segment`."""
    rows = context.records("frames", "label", "place")
    names = context.names.rename({"name": "segment"})
    return rows.join(names, on="document", how="left", maintain_order="left")


def evaluated_types(context: RuleContext) -> list[str]:
    """The types that are evaluated: all of the specification, or those of the file of --types."""
    if "types" in context.lists:
        return context.lists["types"].documents["name"].to_list()
    return [*context.schema]


def repeats(rows: pl.LazyFrame, key: Sequence[str], first: str = "record") -> pl.LazyFrame:
    """The rows that are equal to an earlier one in some columns, with the `first` of that.

    Few are alike: hashes find them quickly, their content decides.
    """
    alike = rows.filter(row_hash(*key).is_duplicated())
    numbered = alike.with_columns(first=pl.col(first).first().over(key))
    return numbered.filter(~pl.struct(key).is_first_distinct())


# Rules about frames and their places (SSF103, SSF104, SSF106 to SSF109).


def duplicate_frame(context: RuleContext) -> pl.LazyFrame:
    """A frame with the segment, type and place of an earlier one."""
    rows = context.records("frames", "label", "place")
    return at(repeats(rows, ["document", "label", "place"]), "")


def blank_place(context: RuleContext) -> pl.LazyFrame:
    """A place without a name."""
    return at(frames(context).filter(pl.col("place").str.strip_chars() == ""), "PlaceMention")


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
    known = frozenset[str]().union(*map(scripts, () if context.own else reference))
    places = context.system.frames["place"].drop_nulls().unique(maintain_order=True)
    of_places = {place: scripts(place) for place in places} if known else {}
    strange = {place: min(of) for place, of in of_places.items() if of and not of & known}
    script = pl.col("place").replace_strict(strange, default=None, return_dtype=pl.String)
    rows = frames(context).with_columns(script=script).drop_nulls("script")
    first = at(first_of(rows, "script"), "PlaceMention")
    return first.with_columns(known=pl.lit(", ".join(sorted(known))))


def other_type(context: RuleContext) -> pl.LazyFrame:
    """A type of the specification that is not evaluated, once for each type."""
    label, evaluated = pl.col("label"), evaluated_types(context)
    strange = frames(context).filter(label.is_in(context.schema) & ~label.is_in(evaluated))
    return at(first_of(strange, "label"), "Type").with_columns(known=pl.lit("; ".join(evaluated)))


def placeholder_place(context: RuleContext) -> pl.LazyFrame:
    """A word for no place that is taken as the name of a place, once for each."""
    word = pl.col("place").str.strip_chars().str.to_lowercase().is_in(_NO_PLACE)
    first = first_of(frames(context).filter(word), "place")
    return at(first.with_columns(given="place"), "PlaceMention")


# Rules about segments (SSF101, SSF102, SSF105).


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A frame of a segment that the reference does not have, once for each segment."""
    known = context.against.documents.lazy().select(segment="name")
    strange = frames(context).join(known, on="segment", how="anti", maintain_order="left")
    first = first_of(only_if(not context.own, strange), "segment").collect()
    names = context.against.documents["name"].to_list()
    meant = closest_files(first["segment"].to_list(), names)
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    hint = pl.col("segment").replace_strict(hints, default=REMOVE, return_dtype=pl.String)
    return at(first.lazy(), "DocumentID").with_columns(hint=hint, document="segment")


def segment_without_frames(context: RuleContext) -> pl.LazyFrame:
    """A segment of the reference for which the submission has no frame."""
    framed = context.table("frames", "document").unique().rename({"document": "row"})
    known = context.against.documents.lazy().select("row", document="name")
    silent = known.join(framed, on="row", how="anti", maintain_order="left")
    certain = _certain(context, only_if(not context.own, silent))
    return about_file(certain).with_columns(origin=pl.lit(0, pl.Int64))


def missing_types(context: RuleContext) -> pl.LazyFrame:
    """A segment with frames, but not of all types."""
    evaluated, every = evaluated_types(context), frames(context)
    # The others may be of the missing types, or of the segment of another name.
    odd = every.filter(~pl.col("label").is_in(context.schema)).select("segment")
    expected = context.against.documents.lazy().select(segment="name")
    rows = every.join(odd, on="segment", how="anti", maintain_order="left")
    rows = rows.join(expected, on="segment", how="semi", maintain_order="left")
    known = rows.filter(pl.col("label").is_in(evaluated))
    present = known.group_by("segment", maintain_order=True).agg(present=pl.col("label").unique())
    absent = pl.col("every").list.set_difference("present")
    summary = present.with_columns(every=pl.lit(evaluated, dtype=pl.List(pl.String))).select(
        count=pl.col("present").list.len(),
        document="segment",
        missing=absent.list.sort().list.join(", "),
        all=pl.lit(len(evaluated)),
        origin=pl.lit(0, pl.Int64),
    )
    return about_file(_certain(context, summary.filter(pl.col("count") < len(evaluated))))


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


RULES = (
    Rule("SSF101", "frames", unknown_segment),
    Rule("SSF102", "sources", segment_without_frames, submission_only=True),
    Rule("SSF103", "frames", duplicate_frame),
    Rule("SSF104", "frames", blank_place),
    Rule("SSF105", "frames", missing_types, submission_only=True),
    Rule("SSF106", "frames", equal_confidences, submission_only=True),
    Rule("SSF107", "frames", other_script, submission_only=True),
    Rule("SSF108", "frames", other_type),
    Rule("SSF109", "frames", placeholder_place),
)
