"""Rules over what instances say: norms, emotions, status, segments (CCU501 to 504, 508 to 514)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from hlteval.findings.suggest import did_you_mean, hints
from hlteval.representation import Corpus
from hlteval.validators.ccu.context import shown, stretches, with_hints
from hlteval.validators.ccu.package import malformed, parse, strange
from hlteval.validators.rule import RuleContext, about_submission, at, first_of, only_if

EMOTIONS = ("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation")
STATUS = ("adhere", "violate", "adhere,violate", "EMPTY_NA")
NOT_ANNOTATED, NOTHING = "noann", "none"
_NO_CLASS = (NOTHING, NOT_ANNOTATED)
#: The option that names the list of known norms.
CLASSES = "classes"
#: The option that names the mapping of norms to hidden ones.
MAPPING = "mapping"
_MOST_SHOWN = 8
#: Characters of the norms that the official validator accepts.
_CHARACTERS = 3
#: What the norms of a system begin with, in the official validator.
_OWN = "5"


def _of_kind(context: RuleContext, kind: str) -> pl.LazyFrame:
    """The instances of a kind; those of a reference that nobody annotated have no status."""
    rows = context.cached(stretches).filter(pl.col("kind") == kind)
    return rows.filter(pl.col("label") != NOT_ANNOTATED) if context.schema.reference else rows


def _field(context: RuleContext, kind: str) -> str:
    """The column of the classes of a kind."""
    return kind if context.schema.reference else "label"


def unknown_status(context: RuleContext) -> pl.LazyFrame:
    """A status that is neither `adhere` nor `violate`, nor both, once for each value and file."""
    bare = (NOT_ANNOTATED,) if context.schema.reference else ()
    rows = _of_kind(context, "norm").filter(~pl.col("status").is_in([*STATUS, *bare]))
    return at(first_of(rows, "origin", "status").with_columns(given=shown("status")), "status")


def no_status(context: RuleContext) -> pl.LazyFrame:
    """A row without a status, once for each file; `whole` if none of its rows has one."""
    rows = _of_kind(context, "norm").with_columns(
        bare=pl.col("status").is_null(), whole=pl.col("status").is_null().all().over("origin")
    )
    return at(first_of(rows.filter("bare"), "origin"), "")


def some_without_status(context: RuleContext) -> pl.LazyFrame:
    """A row without a status in a file that has some, once for each file."""
    return context.cached(no_status).filter(~pl.col("whole"))


def none_with_status(context: RuleContext) -> pl.LazyFrame:
    """A file none of whose rows has a status."""
    return context.cached(no_status).filter(pl.col("whole"))


def unknown_emotion(context: RuleContext) -> pl.LazyFrame:
    """An emotion that is not one of the eight, once for each emotion and file."""
    bare = _NO_CLASS if context.schema.reference else ()
    rows = _of_kind(context, "emotion").filter(~pl.col("label").is_in([*EMOTIONS, *bare]))
    otherwise = f"use {', '.join(EMOTIONS)}"
    hinted = with_hints(
        first_of(rows, "origin", "label"),
        "label",
        lambda names: {name: did_you_mean(name, EMOTIONS, otherwise) for name in names.unique()},
    )
    return at(hinted.with_columns(given=shown("label")), _field(context, "emotion"))


def _norms(context: RuleContext) -> pl.LazyFrame:
    """The first row of each norm in the submission, with their `count`, but for `none`."""
    rows = _of_kind(context, "norm").filter(~pl.col("label").is_in(_NO_CLASS))
    return first_of(rows, "label").with_columns(given=shown("label"))


def odd_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm that has not three characters, once for each norm."""
    rows = context.cached(_norms).filter(pl.col("label").str.len_chars() != _CHARACTERS)
    return at(rows, _field(context, "norm"))


def unlisted_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm that is not in the list of norms and does not begin with 5, once for each norm."""
    listed = context.lists.get(CLASSES, context.system).documents.lazy().select(label="name")
    strange = context.cached(_norms).join(listed, on="label", how="anti", maintain_order="left")
    rows = strange.filter(
        ~pl.col("label").str.starts_with(_OWN), pl.col("label").str.len_chars() == _CHARACTERS
    )
    return at(only_if(CLASSES in context.lists, rows), "label")


def _annotated(context: RuleContext) -> list[str]:
    """The classes of the annotation, listed or annotated, in order; none if it is not known."""
    if context.own:
        return []
    annotated = context.against.instances.filter(
        pl.col("kind") == context.schema.kind, ~pl.col("label").is_in(_NO_CLASS)
    )["label"]
    listed = context.against.entities.filter(pl.lit(context.schema.kind == "norm"))["entity"]
    return sorted({*annotated, *listed})


def _mapped(context: RuleContext) -> list[str]:
    """The norms of the system that a mapping lists."""
    return context.lists.get(MAPPING, Corpus()).mappings["label"].to_list()


def not_annotated(context: RuleContext) -> pl.LazyFrame:
    """A norm that the annotation does not have, and that is not mapped, once for each norm."""
    known = context.once(_annotated)
    listed = context.lists.get(CLASSES, Corpus()).documents["name"]
    names = {*known, *listed, *context.once(_mapped)}
    strange = context.cached(_norms).filter(~pl.col("label").is_in(list(names)))
    other = "map it to a hidden norm, or correct it"
    hinted = with_hints(strange, "label", lambda unknown: hints(unknown, known, other), other)
    return at(only_if(bool(known), hinted), "label")


def none_in_common(context: RuleContext) -> pl.LazyFrame:
    """Whether a submission with classes has none of the annotation; one row then."""
    known, kind = context.once(_annotated), context.schema.kind
    rows = _of_kind(context, kind).filter(~pl.col("label").is_in(_NO_CLASS))
    found = rows.select(pl.col("label").unique().sort()).collect()["label"].to_list()
    alone = bool(known and found) and not {*found} & {*known, *context.once(_mapped)}
    help_ = {
        "norm": "map its norms to hidden ones, or correct them",
        "emotion": "check that these are the emotions of these documents",
    }
    first_names = (", ".join(names[:_MOST_SHOWN]) for names in (known, found))
    row = dict(zip(("reference", "given"), first_names, strict=True))
    named = pl.LazyFrame({**row, "what": kind, "hint": help_.get(kind, "")})
    return about_submission(only_if(alone, named))


def no_class(context: RuleContext) -> pl.LazyFrame:
    """A row of a submission for nothing: `none` and `noann` are words of annotation."""
    rows = context.cached(stretches).filter(pl.col("label").is_in(_NO_CLASS))
    return at(first_of(rows, "origin", "label").with_columns(given="label"), "label")


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that its document does not have."""
    segments = context.against.regions.lazy().select("document", "region").unique()
    rows = context.cached(stretches).filter(pl.col("region").is_not_null())
    strange = rows.join(segments, on=["document", "region"], how="anti", maintain_order="left")
    known = only_if(context.against.regions.height > 0 and not context.own, strange)
    return at(known.with_columns(given=shown("region"), document=shown("name")), "region")


# Rules over the mapping of hidden norms (CCU711 to CCU718).


#: The options that name the submission of ND and the list of hidden norms.
NORMS, HIDDEN = "norms", "hidden"
_MAPPED = "ND"


def mappings(context: RuleContext) -> pl.LazyFrame:
    """The rows of the mapping; `id` is the norm of the system."""
    rows = context.table("mappings", "row", "origin", "record", "label", "target", "submission")
    return rows.with_columns(id=pl.col("label"))


def _hinted(rows: pl.LazyFrame, column: str, hint: Callable[[str], str]) -> pl.LazyFrame:
    """Rows with a hint for each value of a column; those without one are left out."""
    hinted = with_hints(rows, column, lambda values: {each: hint(each) for each in values.unique()})
    return hinted.filter(pl.col("hint") != "")


def _suggested(
    rows: pl.LazyFrame, column: str, known: Sequence[str], otherwise: str
) -> pl.LazyFrame:
    """Rows with the known name that each unknown one of a column may mean."""
    found = with_hints(rows, column, lambda names: hints(names, known, otherwise), otherwise)
    return at(found.with_columns(given=shown(column)), column)


def absent_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm of the system that its submission does not have, once for each norm."""
    instances = context.lists.get(NORMS, context.system).instances
    labels = instances["label"].unique().sort()
    rows = context.cached(mappings).filter(~pl.col("label").is_in(labels.to_list()))
    strangers = only_if(NORMS in context.lists, first_of(rows, "label"))
    return _suggested(strangers, "label", labels.to_list(), "remove the row, or correct it")


def _hidden(context: RuleContext) -> list[str] | None:
    """The hidden norms, if they are known."""
    if HIDDEN in context.lists:
        return context.lists[HIDDEN].documents["name"].to_list()
    entities = context.against.entities
    if context.own or entities.is_empty():
        return None
    return entities.filter(pl.col("label") == HIDDEN)["entity"].to_list()


def unknown_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm that is not a hidden one, once for each norm."""
    hidden = _hidden(context)
    rows = context.cached(mappings).filter(~pl.col("target").is_in(hidden or []))
    some = ", ".join((hidden or [])[:8])
    strangers = only_if(hidden is not None, first_of(rows, "target"))
    return _suggested(strangers, "target", hidden or [], f"use a hidden norm: {some}")


def duplicate(context: RuleContext) -> pl.LazyFrame:
    """A pair of norms that an earlier row has."""
    key = ["label", "target", "submission"]
    rows = context.cached(mappings).with_columns(first=pl.col("record").first().over(key))
    again = rows.filter(~pl.struct(key).is_first_distinct())
    return at(again.with_columns(given=shown("label"), target=shown("target")), "")


def _submissions(context: RuleContext) -> pl.LazyFrame:
    """The first row of each identifier of a submission."""
    rows = context.cached(mappings).with_columns(pl.col("submission").fill_null(""))
    return first_of(rows, "submission").with_columns(given=shown("submission"))


def several_submissions(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission that is not the first; malformed ones are reported alone."""
    rows = context.cached(_submissions).collect()
    formed = [not malformed(written) for written in rows["submission"]]
    named = rows.filter(pl.Series(formed, dtype=pl.Boolean)).lazy()
    others = named.with_columns(one=pl.col("given").first()).slice(1)
    return at(others, "submission")


def malformed_submission(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission that does not have the form of the plan."""
    return at(_hinted(context.cached(_submissions), "submission", malformed), "submission")


def strange_submission(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission with a team or dataset that the plan does not list."""

    def parts(written: str) -> str:
        parsed = parse(written)
        return strange(parsed) if parsed and not malformed(written) else ""

    rows = _hinted(context.cached(_submissions), "submission", parts)
    return at(rows.rename({"hint": "parts"}), "submission")


def other_task(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission to another task than norm discovery."""

    def task(written: str) -> str:
        parsed = parse(written)
        named = parsed.task if parsed and not malformed(written) else _MAPPED
        return "" if named == _MAPPED else named

    rows = _hinted(context.cached(_submissions), "submission", task)
    return at(rows.rename({"hint": "task"}), "submission")
