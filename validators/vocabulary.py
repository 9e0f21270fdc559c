"""Rules about labels, their number, and the arguments of relations and events, from a schema.

Such a schema has `roles`: of each label the roles, with the labels of entities that may fill them.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, at, only_if

Roles = Mapping[str, Mapping[str, Sequence[str]]]


def with_hints(rows: pl.LazyFrame, hints: Mapping[str, str]) -> pl.LazyFrame:
    """The rows of some labels, at these, with the `hint` about each."""
    names = dict.fromkeys(("label", "hint"), pl.String)
    wrong = pl.LazyFrame([*hints.items()], names, orient="row")
    return at(rows.join(wrong, on="label", maintain_order="left"), "label")


def has_roles(context: RuleContext) -> bool:
    """Whether roles are declared; else nobody has to look up what fills arguments."""
    return bool(context.schema.roles)


def _arguments(context: RuleContext) -> pl.LazyFrame:
    """The arguments of relations and events whose roles are declared, with their frames."""
    roles: Roles = context.schema.roles
    own = context.all_arguments.filter(pl.col("label").is_in(list(roles)))
    return only_if(bool(roles), own.rename({"frame": "id"}))


def unknown_role(context: RuleContext) -> pl.LazyFrame:
    """An argument of a role that its label does not have."""
    roles: Roles = context.schema.roles
    rows = _arguments(context)
    pairs = rows.select("label", "role").unique().collect() if roles else pl.DataFrame()
    meant = [
        (label, role, did_you_mean(role, known, f"{label} has {', '.join(known)}"))
        for label, role in pairs.iter_rows()
        if role not in (known := roles[label])
    ]
    names = dict.fromkeys(("label", "role", "hint"), pl.String)
    wrong = rows.join(pl.LazyFrame(meant, names, orient="row"), on=["label", "role"])
    return at(wrong, pl.format("role {}", "position"))


def wrong_filler(context: RuleContext) -> pl.LazyFrame:
    """An argument that is filled by an entity of another label."""
    roles: Roles = context.schema.roles
    allowed = [(label, *each) for label, own in roles.items() for each in own.items()]
    wrong = of_other_labels(_arguments(context), allowed, ["label", "role"])
    return at(wrong, pl.format("target {}", "position"))


def of_other_labels(
    rows: pl.LazyFrame, allowed: Iterable[tuple[object, ...]], key: Sequence[str]
) -> pl.LazyFrame:
    """The rows whose `filler_label` is none of those `allowed`, as a text; not of unknown keys.

    Args:
        rows: with the key and the `filler_label`.
        allowed: the values of the key, and the labels that it allows.
        key: the columns that say what is allowed.
    """
    names = dict.fromkeys(key, pl.String)
    known = pl.LazyFrame([*allowed], {**names, "allowed": pl.List(pl.String)}, orient="row")
    filled = rows.drop_nulls("filler_label").join(known, on=key, maintain_order="left")
    wrong = filled.filter(~pl.col("filler_label").is_in("allowed"))
    return wrong.with_columns(pl.col("allowed").list.join(" or "))


def one_too_many(rows: pl.LazyFrame, key: Sequence[str], most: Mapping[str, int]) -> pl.LazyFrame:
    """The first row of a key that is one too many, with the `count` of its key and the `most`.

    Args:
        rows: with the key, and a `label`.
        key: the columns that rows have in common.
        most: how many there may be, by label; any number of others.
    """
    columns = {"label": [*most], "most": [*most.values()]}
    limits = pl.LazyFrame(columns, {"label": pl.String, "most": pl.Int64})
    counted = only_if(bool(most), rows).join(limits, on="label", maintain_order="left")
    ordinal, count = pl.int_range(pl.len()).over(key), pl.len().over(key)
    return counted.with_columns(count=count).filter(ordinal == pl.col("most"))


def frames_alike(context: RuleContext) -> pl.LazyFrame:
    """The relations and events that may be equal, with `trigger`, and `arguments` as a text.

    All that are equal to another one are among them; a text is made of the arguments of these only.
    """
    own, known = context.system.frames, context.system.arguments
    rows, content = own["row"].to_numpy(), np.zeros(own.height + 1, dtype=np.uint64)
    order = np.argsort(rows, kind="stable")
    place = np.searchsorted(rows, known["frame_row"].to_numpy(), sorter=order)
    # sums of hashes do not depend on the order of arguments
    np.add.at(content, place, known.select(row_hash("role", "target")).to_series().to_numpy())
    own = own[pl.Series(order)]
    hashes = own.with_columns(content=content[:-1]).select(row_hash("document", "label", "content"))
    chosen = own.filter(hashes.to_series().is_duplicated()).lazy().select("row")
    arguments = context.table("arguments", "frame_row", "role", "target")
    some = arguments.join(chosen, left_on="frame_row", right_on="row", how="semi")
    pairs = pl.format("{}:{}", "role", "target").str.join(" ")
    ordered = some.sort("frame_row", "role", "target").group_by(row="frame_row")
    frames = context.records("frames", "label", "trigger")
    frames = frames.join(chosen, on="row", how="semi", maintain_order="left")
    return frames.join(ordered.agg(arguments=pairs), on="row", how="left", maintain_order="left")


def duplicate_frame(context: RuleContext, name: str = "id") -> pl.LazyFrame:
    """A relation or event with the label, trigger and arguments of an earlier one.

    Args:
        context: the submission.
        name: the column that names the earlier one.
    """
    return repeats(frames_alike(context), ("document", "label", "trigger", "arguments"), name)


def repeats(rows: pl.LazyFrame, key: Sequence[str], name: str) -> pl.LazyFrame:
    """The rows with the key of an earlier one.

    Args:
        rows: units.
        key: columns that are equal.
        name: the column that names the `first` one.
    """
    again = rows.with_columns(
        first=pl.col(name).first().over(key), again=~pl.struct(key).is_first_distinct()
    )
    return at(again.filter("again"), "")
