"""The alignment: for each event what it was paired with, and what kept it from being right."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.metric import MARKS
from hlteval.scoring.seedev.events import Side

#: A row per pair, or per annotation that has no partner: identifiers and types (null on the side
#: that has none), the similarity (0 without a partner), `missing` or `extra` where only one side is
#: negated, and the optional arguments that only the reference has, that only the system has, and
#: that both fill differently, as role:filler.
ALIGNMENT = {
    "document": pl.String,
    "reference": pl.String,
    "predicted": pl.String,
    "reference_type": pl.String,
    "predicted_type": pl.String,
    "similarity": pl.Float64,
    "negation": pl.String,
    "missing": pl.List(pl.String),
    "extra": pl.List(pl.String),
    "wrong": pl.List(pl.String),
}


def aligned(
    pairs: pl.DataFrame,
    sides: tuple[Side, Side],
    conditions: tuple[str, ...],
    names: pl.DataFrame,
    unit: int,
) -> pl.DataFrame:
    """The alignment of the pairs of one evaluation.

    Args:
        pairs: `document`, `row`, `row_system`, `label`, `label_system`, `weight`; and `other` and
            `other_system`, the identifiers of annotations that are not events, if these count.
        sides: reference and system.
        conditions: the optional roles.
        names: the name of each document.
        unit: the weight of a similarity of 1.
    """
    left, right = (side.events.select("row", "frame", "negated") for side in sides)
    rows = pairs.sort("document", "row", "row_system", nulls_last=True).with_row_index("at")
    rows = rows.join(left, on="row", how="left", suffix="_reference")
    rows = rows.join(right, left_on="row_system", right_on="row", how="left", suffix="_system")
    rows = rows.join(names, on="document", how="left")
    for name, listed in _differences(rows, sides, conditions).items():
        rows = rows.join(listed, on="at", how="left").with_columns(pl.col(name).fill_null([]))
    paired = pl.col("weight").is_not_null()
    others = "other" in pairs.columns
    only_left = paired & pl.col("negated") & ~pl.col("negated_system")
    only_right = paired & ~pl.col("negated") & pl.col("negated_system")
    return rows.sort("at").select(
        document="name",
        reference=pl.coalesce("frame", "other") if others else pl.col("frame"),
        predicted=pl.coalesce("frame_system", "other_system") if others else pl.col("frame_system"),
        reference_type="label",
        predicted_type="label_system",
        similarity=pl.col("weight").fill_null(0) / unit,
        negation=pl.when(only_left)
        .then(pl.lit("missing"))
        .when(only_right)
        .then(pl.lit("extra"))
        .otherwise(pl.lit("")),
        missing="missing",
        extra="extra",
        wrong="wrong",
    )


def _differences(
    rows: pl.DataFrame, sides: tuple[Side, Side], conditions: tuple[str, ...]
) -> dict[str, pl.DataFrame]:
    """The optional arguments of pairs that are not the same, listed by row."""
    paired = rows.drop_nulls("weight")
    left, right = (side.arguments.filter(pl.col("role").is_in(conditions)) for side in sides)
    ours = paired.select("at", frame_row="row").join(left, on="frame_row")
    theirs = paired.select("at", frame_row="row_system").join(right, on="frame_row")
    both = ours.join(theirs, on=["at", "role"], how="full", coalesce=True, suffix="_system")
    both = both.sort("at", "role")
    kinds = {
        "missing": (pl.col("key_system").is_null(), pl.format("{}:{}", "role", "target")),
        "extra": (pl.col("key").is_null(), pl.format("{}:{}", "role", "target_system")),
        "wrong": (
            pl.col("key") != pl.col("key_system"),
            pl.format("{}:{}", "role", "target_system"),
        ),
    }
    return {
        name: both.filter(chosen).group_by("at").agg(shown.alias(name))
        for name, (chosen, shown) in kinds.items()
    }


def readable(rows: pl.DataFrame) -> pl.DataFrame:
    """The alignment with the outcome of each row.

    Examples:
        >>> rows = {"reference": ["E1", None], "predicted": ["E2", "E3"], "similarity": [0.5, 0.0]}
        >>> readable(pl.DataFrame(rows))["outcome"].to_list()
        ['partly correct', 'extra']
    """
    outcome = (
        pl.when(pl.col("reference").is_null())
        .then(pl.lit("extra"))
        .when(pl.col("predicted").is_null())
        .then(pl.lit("missing"))
        .when(pl.col("similarity") < 1)
        .then(pl.lit("partly correct"))
        .otherwise(pl.lit("correct"))
    )
    return rows.with_columns(outcome=outcome)


def marks(reference: Corpus, system: Corpus) -> pl.DataFrame:
    """The triggers and arguments of the events of both sides, as `evidence.MARKS`.

    Mentions of the system may be given ones, which the reference has. An argument that is an event
    is known by its type.
    """
    sides = (("reference", reference), ("system", system))
    rows = [_consists(name, corpus, reference) for name, corpus in sides]
    return pl.concat(rows).cast(dict(MARKS))  # type: ignore[arg-type]


def _consists(side: str, corpus: Corpus, given: Corpus) -> pl.DataFrame:
    """The arguments of the events of one side."""
    frames = corpus.frames.select("row", "document", "frame", "trigger", "label")
    frames = frames.unique(["document", "frame"], keep="first", maintain_order=True)
    triggers = frames.drop_nulls("trigger").select(
        frame_row="row", position=pl.lit(0, pl.Int64), role=pl.lit("trigger"), target="trigger"
    )
    columns = ("frame_row", "position", "role", "target")
    every = pl.concat([triggers, corpus.arguments.select(columns)])
    every = every.join(frames.select("document", "frame", frame_row="row"), on="frame_row")
    key = ["document", "target"]
    known = pl.concat(
        [
            *(_mentions(one) for one in (corpus, given)),
            frames.select(
                "document",
                target="frame",
                text="label",
                start=pl.lit(None, pl.Int64),
                end=pl.lit(None, pl.Int64),
            ),
        ]
    ).unique(key, keep="first", maintain_order=True)
    found = every.join(known, on=key, how="left").sort("frame_row", "position")
    names = pl.concat([one.documents.select("row", "name") for one in (corpus, given)]).unique(
        "row"
    )
    found = found.join(names, left_on="document", right_on="row", maintain_order="left")
    return found.select(
        document="name",
        side=pl.lit(side),
        item="frame",
        role="role",
        text=pl.coalesce("text", "target"),
        start="start",
        end="end",
    )


def _mentions(corpus: Corpus) -> pl.DataFrame:
    """The mentions of a corpus by their identifiers."""
    return corpus.mentions.select("document", "text", "start", "end", target="mention").select(
        "document", "target", "text", "start", "end"
    )
