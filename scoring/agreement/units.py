"""What annotators judge: units of a corpus and their categories, as tasks declare them.

Conventions:
    A unit has a key inside its document. What an annotator says of a unit in several rows is one
    judgment: their categories joined, or their numbers averaged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.agreement.coefficients import Ratings, Scale

#: Separates the parts of a key; no identifier of a format contains it.
SEPARATOR = "\x1f"
#: Joins several categories of one unit.
_TOGETHER = " + "
PRESENT, ABSENT = "yes", "no"


@dataclass(frozen=True)
class Marked:
    """Units that annotators find: what one of them did not mark, it did not judge.

    Attributes:
        name: what is judged of them.
        meaning: what a unit is, and what is judged, in one line.
        table: the table with a row for each judgment.
        key: the columns that identify a unit in its document: columns of the table, `frame.X` for
            column X of its frame, or `targets` for the targets of the arguments of a frame.
        category: the column with the category, or with the number.
        scale: of the categories.
        order: of ordinal categories, the least first; others are left out.
        only: values of columns of the rows that count.
        unjudged: categories that mean that the annotator could not judge.
        merged: a pattern of categories of which only the first group counts, such as `(NIL).*`.
        otherwise: the category where the column is null; null is not a judgment if this is empty.
    """

    name: str
    meaning: str
    table: str
    key: tuple[str, ...]
    category: str
    scale: Scale = "nominal"
    order: tuple[str, ...] = ()
    only: Mapping[str, str] = field(default_factory=dict)
    unjudged: tuple[str, ...] = ()
    merged: str = ""
    otherwise: str = ""


@dataclass(frozen=True)
class Present:
    """Labels of places, several at a time: each label of each place is a unit, present or not.

    Attributes:
        name: what is judged.
        meaning: what a unit is, and what is judged, in one line.
        table: the table with a row for each label that an annotator gives to a place.
        places: the columns that identify a place in its document; none where it is the document.
        label: the column with the label.
        only: values of columns of the rows that count.
        nothing: labels that mean that the place has none.
        unjudged: labels that mean that the annotator could not judge the place.
    """

    name: str
    meaning: str
    table: str
    places: tuple[str, ...] = ()
    label: str = "label"
    only: Mapping[str, str] = field(default_factory=dict)
    nothing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    scale: Scale = "nominal"


Unit = Marked | Present


def first_of_marks(units: Sequence[Unit]) -> list[bool]:
    """Whether each is the first that is judged of units that annotators mark.

    What they mark is then the same for those after it.
    """
    marks = [
        (unit.table, unit.key, *unit.only.items()) if isinstance(unit, Marked) else None
        for unit in units
    ]
    return [mark is not None and mark not in marks[:at] for at, mark in enumerate(marks)]


class Judged(NamedTuple):
    """The judgments of all annotators of one kind.

    Attributes:
        ratings: units and annotators as a matrix.
        units: a row per unit, in its order: `document`, its name; `unit`, its key; `label`, the
            label that is judged, null where categories are.
        places: a row per unit and annotator who marked it: `index` of the unit, `annotator`,
            `origin` and `record`.
    """

    ratings: Ratings
    units: pl.DataFrame
    places: pl.DataFrame


def judge(
    unit: Unit, sides: Sequence[tuple[Corpus, Sequence[str]]], documents: Sequence[str]
) -> Judged:
    """The judgments of annotators.

    Args:
        unit: what they judge.
        sides: the annotation of each annotator, and the names of the documents that it is of.
        documents: the names of the documents that count.
    """
    rows = [_rows(unit, corpus) for corpus, _ in sides]
    every = pl.concat([own.with_columns(annotator=pl.lit(at)) for at, own in enumerate(rows)])
    names = pl.Series(documents, dtype=pl.String).implode()
    long = every.filter(pl.col("document").is_in(names))
    if isinstance(unit, Present):
        counted = set(documents)
        long = _present(unit, long, [[name for name in own if name in counted] for _, own in sides])
    return _matrix(unit, long, len(sides), documents)


def _rows(unit: Unit, corpus: Corpus) -> pl.DataFrame:
    """The judgments of an annotator: document, key, value, origin and record."""
    key = unit.key if isinstance(unit, Marked) else unit.places
    value = unit.category if isinstance(unit, Marked) else unit.label
    table = getattr(corpus, unit.table)
    only = [pl.col(column) == wanted for column, wanted in unit.only.items()]
    rows = table.filter(*only) if only else table
    rows = _with_columns(rows, corpus, key)
    names = corpus.documents.select(document="row", _name="name")
    rows = rows.join(names, on="document", maintain_order="left")
    parts = [_text(column, rows.schema[column]) for column in key]
    return rows.select(
        document="_name",
        unit=pl.concat_str(parts, separator=SEPARATOR) if parts else pl.lit(""),
        value=pl.col(value).cast(pl.Float64 if unit.scale == "interval" else pl.String),
        origin="origin",
        record="record",
    )


def _with_columns(rows: pl.DataFrame, corpus: Corpus, key: Sequence[str]) -> pl.DataFrame:
    """Rows with the columns of a key that the table itself does not have."""
    named = [column for column in key if column.startswith("frame.")]
    if named:
        columns = {column: pl.col(column.removeprefix("frame.")) for column in named}
        frames = corpus.frames.select(frame_row="row", **columns)
        rows = rows.join(frames, on="frame_row", how="left", maintain_order="left")
    if "targets" in key:
        # The targets of the arguments of each frame: the places of mentions, or identifiers.
        span = pl.concat_str(_text("start", pl.Int64), _text("end", pl.Int64), separator="-")
        mentions = corpus.mentions.select("document", target="mention", _span=span)
        mentions = mentions.unique(["document", "target"], keep="first")
        arguments = corpus.arguments.join(mentions, on=["document", "target"], how="left")
        target = pl.coalesce("_span", "target").sort().str.join(" ")
        targets = arguments.group_by(row="frame_row").agg(targets=target)
        rows = rows.join(targets, on="row", how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("targets").fill_null(""))
    return rows


def _text(column: str, dtype: pl.DataType | type[pl.DataType]) -> pl.Expr:
    """A column as text: numbers without decimals where they are whole."""
    text = pl.col(column).cast(pl.String)
    if isinstance(dtype, pl.List):
        text = pl.col(column).list.eval(pl.element().struct.json_encode()).list.join(" ")
    if dtype == pl.Float64:
        text = text.str.strip_suffix(".0")
    return text.fill_null("")


def _present(unit: Present, long: pl.DataFrame, documents: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Each label of each place that an annotator judged, present or absent.

    Args:
        unit: what is judged.
        long: the labels that annotators give to places.
        documents: the documents of each annotator, which are the places if there are no others.
    """
    place = ["document", "unit"]
    given = long.filter(~pl.col("value").is_in([*unit.nothing, *unit.unjudged]).fill_null(True))
    known = long.filter(~pl.col("value").is_in(list(unit.unjudged)).fill_null(False))
    if not unit.places:
        each = [(name, "", at) for at, names in enumerate(documents) for name in names]
        known = pl.DataFrame(each, schema=_PLACES, orient="row")
    places = known.select(*place, "annotator").unique(maintain_order=True)
    labels = given.select("value").unique().sort("value")
    every = places.join(labels, how="cross").rename({"value": "label"})
    key = [*place, "annotator", "label"]
    marked = given.rename({"value": "label"}).group_by(key).agg(pl.col("origin", "record").first())
    found = every.join(marked, on=key, how="left")
    yes = pl.col("record").is_not_null()
    return found.with_columns(
        unit=pl.concat_str("unit", "label", separator=SEPARATOR).str.strip_chars_start(SEPARATOR),
        value=pl.when(yes).then(pl.lit(PRESENT)).otherwise(pl.lit(ABSENT)),
    )


def _matrix(unit: Unit, long: pl.DataFrame, raters: int, documents: Sequence[str]) -> Judged:
    """Judgments as a matrix of units and annotators."""
    if "label" not in long.columns:
        long = long.with_columns(label=pl.lit(None, pl.String))
    value = _value(unit)
    by = ["document", "unit", "label", "annotator"]
    categories: list[str] = []
    is_number, judged = unit.scale == "interval", pl.col("value")
    joined = judged.mean() if is_number else judged.unique().sort().str.join(_TOGETHER)
    rows = long.with_columns(value=value).drop_nulls("value").group_by(by)
    single = rows.agg(joined, pl.col("origin", "record").first())
    if not is_number:
        declared = [ABSENT, PRESENT] if isinstance(unit, Present) else list(unit.order)
        categories = declared or single["value"].unique().sort().to_list()
        code = judged.replace_strict(
            categories, range(len(categories)), default=None, return_dtype=pl.Float64
        )
        single = single.with_columns(code).drop_nulls("value")
    units = single.select("document", "unit", "label").unique()
    parts = pl.col("unit").str.split(SEPARATOR)
    ends = [parts.list.get(at, null_on_oob=True).cast(pl.Float64, strict=False) for at in range(2)]
    units = units.sort("document", *ends, "unit", "label")
    units = units.with_row_index("index")
    placed = single.join(units, on=["document", "unit", "label"], nulls_equal=True)
    values = np.full((units.height, raters), np.nan)
    values[placed["index"].to_numpy(), placed["annotator"].to_numpy()] = placed["value"].to_numpy()
    numbers = {name: at for at, name in enumerate(documents)}
    at = units["document"].replace_strict(numbers, return_dtype=pl.Int64)
    ratings = Ratings(values, at.cast(pl.Int64).to_numpy(), len(documents), tuple(categories))
    places = placed.select("index", "annotator", "origin", "record").sort("index", "annotator")
    return Judged(ratings, units.drop("index"), places)


_PLACES = {"document": pl.String, "unit": pl.String, "annotator": pl.Int32}


def _value(unit: Unit) -> pl.Expr:
    """The category of a row: null where the annotator did not judge."""
    value = pl.col("value")
    if isinstance(unit, Present) or unit.scale == "interval":
        return value
    if unit.otherwise:
        value = value.fill_null(unit.otherwise)
    if unit.merged:
        value = pl.coalesce(value.str.extract(unit.merged), value)
    outside = value.is_in(list(unit.unjudged))
    if unit.order:
        outside = outside | ~value.is_in(list(unit.order))
    return pl.when(~outside).then(value)
