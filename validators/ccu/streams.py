"""Rules of CCU over streams, and what all rules share: tables, plain checks, values in messages.

The rules are about submissions: places (CCU401 to CCU406), repeated rows (CCU505 to CCU507), levels
(CCU601 to CCU607), and change points (CCU701 to CCU704).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.validators.ccu.schema import TABLES
from hlteval.validators.rule import RECORD, Rule, RuleContext, first_of, only_if

SHOWN = 60
TEXT = "text"
#: What annotators write where nobody annotated, and where they found nothing.
NOT_ANNOTATED, NOTHING = "noann", "none"
NO_CLASS = (NOTHING, NOT_ANNOTATED)
#: Places that differ by less are the same: they are written in decimals.
NEAR = 1e-6
START, END, LABEL = pl.col("start"), pl.col("end"), pl.col("label")
IS_SILENT = LABEL.is_in(NO_CLASS)
#: Whether a row is of a text, or of audio or video; neither if nothing says what its document is.
IS_TEXT = (pl.col("modality") == TEXT).fill_null(value=False)
IS_STREAM = (pl.col("modality") != TEXT).fill_null(value=False)


# Tables: `id` is null in all of them, and what is known of documents is beside the rows.


def documents(context: RuleContext) -> pl.LazyFrame:
    """The documents: `document`, `name`, `modality`, `length` and `processed`.

    Modality and length are those of what is checked against; null where nothing says them.
    """
    own = context.system.documents.lazy().select("name", "processed", document="row")
    known = context.against.documents.lazy().select("modality", "length", document="row")
    return own.join(known, on="document", how="left", maintain_order="left")


def with_documents(rows: pl.LazyFrame, context: RuleContext) -> pl.LazyFrame:
    """Rows beside what is known of their documents; `id` is null."""
    known = context.cached(documents)
    joined = rows.join(known, on="document", how="left", maintain_order="left")
    return joined.with_columns(id=pl.lit(None, pl.String))


def records(context: RuleContext, table: str, *columns: str) -> pl.LazyFrame:
    """The records of a table with `RECORD`, some columns, and what is known of documents."""
    return with_documents(context.table(table, *RECORD, *columns), context)


def stretches(context: RuleContext) -> pl.LazyFrame:
    """The stretches with `start` and `end`, of the kind that the task is about.

    They are instances with `label`, `status` and `llr`, or ratings with `level`; in all rows,
    `reference` is whether a reference is checked, and `gapless` whether levels may have no gaps.
    """
    table, schema = TABLES[context.schema.task], context.schema
    classes = ("label", "status", "llr", "region", "annotator", "several")
    more = ("level",) if table == "ratings" else classes
    rows = records(context, table, "kind", "start", "end", *more).with_columns(
        reference=pl.lit(schema.reference), gapless=pl.lit(not schema.gaps)
    )
    return rows.filter(pl.col("kind") == schema.kind) if schema.kind else rows


def points(context: RuleContext) -> pl.LazyFrame:
    """The change points with `at`, which is `given`, a missing direction and strength empty.

    `bare` is whether no change point of the file has any of these.
    """
    rows = records(context, "changes", "at", "llr", "direction", "strength")
    impact = pl.col("direction", "strength")
    bare = ~pl.any_horizontal(impact.is_not_null()).any().over("origin")
    return rows.with_columns(bare=bare).with_columns(impact.fill_null(""), given="at")


# Rules: most of them keep the rows of a table that have a property.


Check = Callable[[RuleContext], pl.LazyFrame]


def report(rows: pl.LazyFrame, field: str | pl.Expr = "", **values: str | pl.Expr) -> pl.LazyFrame:
    """Rows at a field of their records, with what fills the templates of messages.

    Numbers become text, of which a whole one has no decimals; `given` is the value of the field
    where rows have no other; and of each document there are its name and length.
    """
    rows = rows.with_columns(**values) if values else rows
    schema = rows.collect_schema()
    columns = {name: number(name) for name, dtype in schema.items() if dtype.is_float()}
    if "given" not in schema and isinstance(field, str):
        is_word = schema.get(field) == pl.String
        columns["given"] = quote(field) if is_word else columns.get(field, pl.lit(""))
    if "begin" not in schema and "start" in schema:
        columns["begin"] = number("start")
    if "name" in schema and "length" in schema:
        columns |= {"document": quote("name"), "most": number("length").fill_null("?")}
    if "field" not in schema:
        columns["field"] = pl.lit(field) if isinstance(field, str) else field
    return rows.with_columns(**columns)


def check(
    table: Check,
    where: pl.Expr,
    field: str | pl.Expr = "",
    *,
    first: Sequence[str] = (),
    **values: str | pl.Expr,
) -> Check:
    """A check that reports the rows of a table that have a property.

    Args:
        table: the rows.
        where: the property.
        field: of their records, unless the rows have it.
        first: the columns of which each value is reported once, with its `count`.
        **values: what else fills the templates of the message.
    """

    def rows(context: RuleContext) -> pl.LazyFrame:
        strange = context.cached(table).filter(where)
        return report(first_of(strange, *first) if first else strange, field, **values)

    return rows


def rules(table: str, **checks: Check) -> tuple[Rule, ...]:
    """Rules about submissions and references, by code.

    Args:
        table: the table that they run on.
        **checks: the check of each code.
    """
    return tuple(Rule(code, table, rows) for code, rows in checks.items())


def submission_rules(
    table: str, *, once: Collection[str] = (), **checks: Check
) -> tuple[Rule, ...]:
    """Rules that are about submissions only; those of `once` about a submission as a whole."""
    return tuple(
        replace(rule, once=rule.code in once, submission_only=True)
        for rule in rules(table, **checks)
    )


def reference_rules(table: str, **checks: Check) -> tuple[Rule, ...]:
    """Rules that are about references only."""
    return tuple(replace(rule, suspects=is_reference) for rule in rules(table, **checks))


def is_reference(context: RuleContext) -> bool:
    """Whether a reference is checked."""
    return bool(context.schema.reference)


def with_hints(
    rows: pl.LazyFrame,
    column: str,
    hints: Callable[[pl.Series], Mapping[str, str]],
    otherwise: str = "",
) -> pl.LazyFrame:
    """Rows with a `hint` for the value of a column.

    Args:
        rows: of a rule.
        column: of texts.
        hints: gives the hints of values that have one.
        otherwise: the hint of others.
    """
    found = rows.collect()
    by_value = hints(found[column].drop_nulls())
    hint = pl.col(column).replace_strict(by_value, default=otherwise, return_dtype=pl.String)
    return found.lazy().with_columns(hint=hint)


def with_meant(
    rows: pl.LazyFrame, column: str, known: Sequence[str], otherwise: str
) -> pl.LazyFrame:
    """Rows with a `hint`: the known name that each of a column may mean."""

    def hints(names: pl.Series) -> dict[str, str]:
        return {name: did_you_mean(name, known, otherwise) for name in names.unique()}

    return with_hints(rows, column, hints, otherwise)


# Values in messages.


def number(column: str) -> pl.Expr:
    """A number as in a message: a whole one has no decimals."""
    return pl.col(column).round(6).cast(pl.String).str.strip_suffix(".0")


def quote(column: str) -> pl.Expr:
    """A value as quoted in a message: a long one is cut."""
    text = pl.col(column)
    short = pl.concat_str(text.str.slice(0, SHOWN), pl.lit("…"))
    return pl.when(text.str.len_chars() > SHOWN).then(short).otherwise(text)


def unit(count: pl.Expr) -> pl.Expr:
    """The unit of the places of a row, after a number of them."""
    one = pl.when(IS_TEXT).then(pl.lit("character")).otherwise(pl.lit("second"))
    return pl.concat_str(one, pl.when(count == 1).then(pl.lit("")).otherwise(pl.lit("s")))


# The rules over streams.


#: How far beyond the end of a document the official validator goes along.
CHARACTERS, SECONDS = 10.0, 1.0
#: Seconds by which bounds may differ; bounds that are closer are one bound.
_SNAP = 0.02
LEAST, MOST = 1, 1000
DIRECTIONS = ("positive", "negative")
STRENGTHS = ("1", "2", "3", "4")
#: What two rows of a document may not share, by table.
_CLASS = {
    "instances": ["document", "label", "start", "end", "status", "region"],
    "ratings": ["document", "start", "end"],
    "changes": ["document", "at", "direction", "strength"],
}
#: The column in which repeated rows may differ, by table.
_VALUE = {"instances": "llr", "ratings": "level", "changes": "llr"}


def places(context: RuleContext) -> pl.LazyFrame:
    """The places that may be wrong, as `given`, with their `field`, which files call `what`."""
    if context.schema.task == "cd":
        return context.cached(points).with_columns(field=pl.lit("at"), what=pl.lit("timestamp"))
    rows, given = context.cached(stretches), pl.col("given")
    is_odd = (given < 0) | (given > pl.col("length")) | (IS_TEXT & (given % 1 != 0))
    ends = [
        rows.with_columns(given=name, field=pl.lit(name), what=pl.lit(name)).filter(is_odd)
        for name in ("start", "end")
    ]
    return pl.concat(ends).sort("row", maintain_order=True)


def beyond_end(context: RuleContext) -> pl.LazyFrame:
    """The last place of each row that is beyond the end of its document.

    `far` is whether the official validator refuses it.
    """
    limit = pl.when(IS_TEXT).then(pl.lit(CHARACTERS)).otherwise(pl.lit(SECONDS))
    place, length = pl.col("given"), pl.col("length")
    rows = context.cached(places).filter(place > length + NEAR)
    last = rows.unique("row", keep="last", maintain_order=True)
    return last.with_columns(far=place > length + limit, unit=unit(length))


def repeated_rows(context: RuleContext) -> pl.LazyFrame:
    """The rows with the place and class of an earlier one, with the line of that as `first`.

    `same` is whether they are equal, else they differ in their score or level, which is `what`.
    """
    table = TABLES[context.schema.task]
    key, value = _CLASS[table], _VALUE[table]
    rows = context.cached(points if table == "changes" else stretches)
    rows = rows.filter(~pl.struct(key).is_unique()).with_columns(
        first=pl.col("record").first().over(key),
        before=pl.col(value).first().over(key),
        given=value,
        what=pl.lit(value),
    )
    again = rows.filter(~pl.struct(key).is_first_distinct())
    return again.with_columns(same=pl.col("given").eq_missing(pl.col("before")))


def overlap(context: RuleContext) -> pl.LazyFrame:
    """The first instance of a class in a document that overlaps an earlier one of it."""
    key, group = _CLASS["instances"], ["document", "label"]
    rows = context.cached(stretches).drop_nulls(["start", "end"])
    ordered = rows.unique(key, keep="first", maintain_order=True).sort(
        *group, "start", "end", "row"
    )
    reach = END.cum_max().shift(1).over(group)
    furthest = pl.when((reach < END) | reach.is_null()).then(pl.col("record"))
    marked = ordered.with_columns(reach=reach, holder=furthest).with_columns(
        first=pl.col("holder").forward_fill().shift(1).over(group)
    )
    meets = pl.when(IS_TEXT).then(pl.col("reach") >= START).otherwise(pl.col("reach") > START)
    return report(first_of(marked.filter(meets), *group), "start", given=quote("label"))


def neighbours(context: RuleContext) -> pl.LazyFrame:
    """The levels in order, each with the end of the previous one as `before`.

    `between` is what lies between both, `off` how much that is too much, and `apart` whether this
    is a gap or an overlap, of some `size`. In a text, `step` is what lies between two levels whose
    bounds are next to each other: 1 if ends are inclusive, as most of its bounds show, and 0 if
    bounds are shared.
    """
    rows = context.cached(stretches).filter(START <= END)
    unique = rows.unique(["document", "start", "end"], keep="first", maintain_order=True)
    ordered = unique.sort("document", "start", "end", "row")
    before = END.cum_max().shift(1).over("document")
    between = START - pl.col("before")
    placed = ordered.with_columns(before=before).with_columns(between=between)
    next_to, shared = ((pl.col("between") == step).sum().over("document") for step in (1, 0))
    inclusive = (next_to > shared) | (shared == 0)
    marked = placed.with_columns(
        step=pl.when(IS_TEXT & inclusive).then(1.0).otherwise(0.0), reach=END.max().over("document")
    )
    off = pl.col("between") - pl.col("step")
    apart = pl.when(IS_TEXT).then(off.abs() > NEAR).otherwise(off.abs() >= _SNAP)
    return marked.with_columns(
        off=off,
        apart=apart,
        size=off.abs(),
        put=pl.col("before") + pl.col("step"),
        unit=unit(off.abs().round(6)),
        units=unit(pl.col("length")),
    )


def outside_annotation(context: RuleContext) -> pl.LazyFrame:
    """The change points before the first or after the last segment of their document."""
    annotated = context.against.regions.lazy().group_by("document").agg(
        begin=START.min(), reach=END.max()
    )  # fmt: skip
    rows = context.cached(points).join(annotated, on="document", how="inner", maintain_order="left")
    inside = pl.col("at").is_between("begin", "reach", closed="none")
    within = (pl.col("at") <= pl.col("length")).fill_null(value=True) & (pl.col("at") >= 0)
    return report(only_if(not context.own, rows.filter(~inside, within)), "at")


def _place_rules(table: str) -> tuple[Rule, ...]:
    """The rules over the places of all rows of a table, and over repeated rows."""
    place, far, same = (pl.col(name) for name in ("given", "far", "same"))
    return submission_rules(
        table,
        CCU401=check(places, place < 0),
        CCU404=check(beyond_end, ~far),
        CCU405=check(beyond_end, far),
        CCU406=check(places, IS_TEXT & (place % 1 != 0)),
        CCU505=check(repeated_rows, same),
        CCU506=check(repeated_rows, ~same, pl.col("what")),
    )


def stretch_rules(table: str) -> tuple[Rule, ...]:
    """The rules over the stretches of a table: also those that end before or where they start."""
    return _place_rules(table) + submission_rules(
        table,
        CCU402=check(stretches, START > END, "start"),
        CCU403=check(stretches, IS_STREAM & (START == END), "start"),
    )


_OFF, _APART, _GAPLESS = (pl.col(name) for name in ("off", "apart", "gapless"))
_LEAST_END = pl.col("length") - pl.when(IS_TEXT).then(1.0).otherwise(_SNAP) - NEAR
_STARTS_LATE = _GAPLESS & pl.col("before").is_null() & (START > NEAR)
_ENDS_EARLY = _GAPLESS & (pl.col("reach") < _LEAST_END) & (pl.col("reach") == END)
_SHARES_BOUNDS = IS_TEXT & (pl.col("step") == 0) & (pl.col("between").abs() < NEAR)
#: Levels out of range, gaps, overlaps, a late start, an early end, and texts whose levels share
#: their bounds, as in the example of the plan.
LEVEL_RULES = submission_rules(
    "ratings",
    CCU601=check(stretches, ~pl.col("level").is_between(LEAST, MOST), "level"),
    CCU603=check(neighbours, _GAPLESS & _APART & (_OFF > 0), "start"),
    CCU604=check(neighbours, _APART & (_OFF < 0), "start"),
    CCU605=check(neighbours, _STARTS_LATE, "start"),
    CCU606=check(neighbours, _ENDS_EARLY, "end", first=["document"]),
    CCU607=check(neighbours, _SHARES_BOUNDS, "start", first=["document"]),
)


def _unknown_impact(column: str, known: tuple[str, ...]) -> Check:
    """A check of the impact of a change, in files that have it: each value of a file once."""
    value = pl.col(column)
    given = pl.when(value == "").then(pl.lit("nothing")).otherwise(quote(column))
    strange = ~pl.col("bare") & ~value.is_in(known)
    return check(points, strange, column, first=["origin", column], given=given)


#: Files without the columns of the impact, unknown values of these, and change points outside of
#: the annotation; and all rules over places.
CHANGE_RULES = _place_rules("changes") + submission_rules(
    "changes",
    once={"CCU701"},
    CCU701=check(points, pl.col("bare"), first=["origin"]),
    CCU702=_unknown_impact("direction", DIRECTIONS),
    CCU703=_unknown_impact("strength", STRENGTHS),
    CCU704=outside_annotation,
)
