"""Tables of CCU that several rules use: documents, stretches and points of streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from hlteval.validators.rule import RECORD, RuleContext

SHOWN = 60
TEXT = "text"
#: The table of the rows of a submission, by task; of a reference, that of its classes.
TABLES = {
    **dict.fromkeys(("nd", "ed", "reference"), "instances"),
    **dict.fromkeys(("vd", "ad"), "ratings"),
    "cd": "changes",
}


def documents(context: RuleContext) -> pl.LazyFrame:
    """The documents: `document`, `name`, `modality`, `length` and `processed`.

    Modality and length are those of what is checked against; null where nothing says them.
    """
    own = context.system.documents.lazy().select("name", "processed", document="row")
    known = context.against.documents.lazy().select("modality", "length", document="row")
    return own.join(known, on="document", how="left", maintain_order="left")


def stretches(context: RuleContext) -> pl.LazyFrame:
    """The stretches of the submission with `start` and `end`, beside what is known of documents.

    They are instances with `label`, `status` and `llr`, or ratings with `level`, of the kind that
    the task is about; `id` is null.
    """
    table = TABLES[context.schema.task]
    classes = ("label", "status", "llr", "region", "annotator")
    more = ("level",) if table == "ratings" else classes
    rows = context.table(table, *RECORD, "kind", "start", "end", *more)
    kind = context.schema.kind
    return with_documents(rows.filter(pl.col("kind") == kind) if kind else rows, context)


def points(context: RuleContext) -> pl.LazyFrame:
    """The change points of the submission with `at`, beside what is known of their documents."""
    rows = context.table("changes", *RECORD, "at", "llr", "direction", "strength")
    return with_documents(rows, context)


def with_documents(rows: pl.LazyFrame, context: RuleContext) -> pl.LazyFrame:
    """Rows beside what is known of their documents; `id` is null."""
    known = context.cached(documents)
    joined = rows.join(known, on="document", how="left", maintain_order="left")
    return joined.with_columns(id=pl.lit(None, pl.String))


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


def is_text() -> pl.Expr:
    """Whether a row is of a text; not if nothing says what its document is."""
    return (pl.col("modality") == TEXT).fill_null(value=False)


def is_stream() -> pl.Expr:
    """Whether a row is of audio or video; not if nothing says what its document is."""
    return (pl.col("modality") != TEXT).fill_null(value=False)


def shown(column: str) -> pl.Expr:
    """A value as quoted in a message: a long one is cut."""
    text = pl.col(column)
    short = pl.concat_str(text.str.slice(0, SHOWN), pl.lit("…"))
    return pl.when(text.str.len_chars() > SHOWN).then(short).otherwise(text)


def number(column: str | pl.Expr) -> pl.Expr:
    """A number as in a message: a whole one has no decimals."""
    value = pl.col(column) if isinstance(column, str) else column
    return value.round(6).cast(pl.String).str.strip_suffix(".0")


def unit(count: pl.Expr) -> pl.Expr:
    """The unit of the places of a row, after a number of them."""
    one = pl.when(is_text()).then(pl.lit("character")).otherwise(pl.lit("second"))
    return pl.concat_str(one, pl.when(count == 1).then(pl.lit("")).otherwise(pl.lit("s")))


# What a submission or a reference of CCU may have, by task and options.


#: What the rows of the tables `instances` and `ratings` are, by task.
KINDS: Mapping[str, str] = {"nd": "norm", "ed": "emotion", "vd": "valence", "ad": "arousal"}


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the task and its options say of what is checked.

    Attributes:
        task: the task without its prefix, such as `nd`.
        kind: the kind of the rows that the task is about; empty for all.
        reference: whether a reference is checked.
        gaps: whether levels may have gaps.
    """

    task: str
    kind: str
    reference: bool
    gaps: bool


def allowed(options: Mapping[str, str], reference: bool = False, *, task: str) -> Allowed:
    """What a submission, or a reference, may have.

    Examples:
        >>> allowed({"gaps": "yes"}, task="vd")
        Allowed(task='vd', kind='valence', reference=False, gaps=True)
    """
    gold = reference or task == "reference"
    return Allowed(task, KINDS.get(task, ""), gold, options.get("gaps") == "yes")
