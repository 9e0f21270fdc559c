"""What the rules of HUB-4 templettes look at: what the task allows, instances and fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from hlteval.grammars import vocabulary
from hlteval.validators.rule import RuleContext


@dataclass(frozen=True, slots=True)
class Setup:
    """What the task allows.

    Attributes:
        side: whether a `system`'s output is checked or a `reference`.
        unsegmented: whether offsets count through the whole corpus.
        top: the type of the instance that ties a set together.
        pointers: the slots that hold pointers, as TYPE.SLOT.
        unscored: the slots whose texts need no extents, as SLOT or TYPE.SLOT.
        document: the slot that repeats the document's identifier.
        status: the slot that marks an instance as optional.
        optional: the texts that do so.
    """

    side: str
    unsegmented: bool
    top: str
    pointers: tuple[str, ...]
    unscored: tuple[str, ...]
    document: str
    status: str
    optional: tuple[str, ...]

    @property
    def system(self) -> bool:
        """Whether a system's output is checked."""
        return self.side == "system"


def setup(options: Mapping[str, str]) -> Setup:
    """What the task allows with some options.

    Examples:
        >>> setup({"unscored": "COMMENT"}).unscored
        ('COMMENT',)
    """
    said = vocabulary("hub4")

    def listed(name: str) -> tuple[str, ...]:
        given = options.get(name)
        return tuple(given.split(",")) if given else tuple(said[name])

    return Setup(
        side=options.get("side", "system"),
        unsegmented=options.get("unsegmented") == "yes",
        top=said["top"],
        pointers=listed("pointers"),
        unscored=listed("unscored"),
        document=said["document"],
        status=said["status"],
        optional=tuple(said["optional"]),
    )


def frames(case: RuleContext) -> pl.LazyFrame:
    """The instances with the names of their documents, at their pointers."""
    named = case.table("frames").join(case.names, on="document", maintain_order="left")
    return named.with_columns(id=pl.col("frame"), field=pl.lit("pointer")).sort("record")


def _all_fills(case: RuleContext) -> pl.LazyFrame:
    instances = case.table("frames").select("frame", "label", frame_row="row")
    rows = case.table("fills").join(instances, on="frame_row", maintain_order="left")
    named = rows.join(case.names, on="document", maintain_order="left")
    full = pl.concat_str("label", pl.lit("."), "slot")
    frame, number = pl.col("frame_row"), pl.col("slot_number")
    begins = (frame != frame.shift()) | (number != number.shift())
    marked = named.with_columns(
        id=pl.col("frame"), full=full, field=pl.lit("fill"), begins=begins.fill_null(value=True)
    )
    first = pl.when("begins").then("kind").forward_fill()
    return marked.with_columns(first_kind=first)


def fills(case: RuleContext) -> pl.LazyFrame:
    """The fills in order, with `label`, `frame` and document `name` of their instances.

    `full` is TYPE.SLOT; `begins` is whether a fill is the first of its slot, `first_kind` the kind
    of that one.
    """
    return case.cached(_all_fills)


def among(slots: tuple[str, ...]) -> pl.Expr:
    """Whether a slot is one of those given as SLOT or TYPE.SLOT."""
    return pl.col("slot").is_in(slots) | pl.col("full").is_in(slots)


def texts(case: RuleContext) -> pl.LazyFrame:
    """The fills that are texts."""
    return fills(case).filter(pl.col("kind") == "text")


def only(rows: pl.LazyFrame, wanted: bool) -> pl.LazyFrame:
    """The rows, or none: what is asked of one side only."""
    return rows if wanted else rows.head(0)
