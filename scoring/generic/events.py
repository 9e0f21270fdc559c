"""Events: triggers with labels, and arguments with roles, by precision, recall and F1.

The averages are over whole events: label, trigger and all arguments, in any order; an argument that
is an event is equal by its own label, trigger and arguments. Arguments are compared by `arguments`,
as those of relations (`relations`); roles in `optional` are not compared. Beside whole events, as
ACE counts them, different units of each document are compared:

- trigger identification: the span; trigger classification: the span and the label of the event;
- argument identification: the span and the label of the event; argument classification: the role,
  too. The span of an argument that is an event is that of its trigger.

Conventions:
    The number of a role of an event (`Theme2`) only tells it from others. Counts are a row per
    document and label, and one per document; they add.

References:
    ACE 2005 evaluation; Kim et al. 2009 (BioNLP shared task).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.generic.frames import FrameOptions, Frames
from hlteval.scoring.generic.relations import PARTS, FrameMetric

#: What is counted beside whole events.
ACE = (
    *("trigger_identification", "trigger_classification"),
    *("argument_identification", "argument_classification"),
)


@dataclass(frozen=True, kw_only=True)
class Options(FrameOptions):
    """Labels, and when events are the same."""


@dataclass(frozen=True)
class Events(FrameMetric):
    """How events are scored.

    Attributes:
        options: when they are the same.
    """

    options: Options = field(default_factory=Options)

    extras: ClassVar = ("ignored", *(f"{part}.{name}" for part in ACE for name in PARTS))
    items: ClassVar = "event"
    kinds: ClassVar = ("event",)
    parts: ClassVar = ACE

    def others(
        self,
        reference: Corpus,  # noqa: ARG002
        system: Corpus,  # noqa: ARG002
        frames: Frames,
    ) -> Mapping[str, tuple[pl.DataFrame, pl.DataFrame]]:
        """The triggers and arguments of both sides."""
        counts = pl.col("counts") & pl.col("label").is_not_null()
        trigger, span = frames.rows["trigger"].to_numpy(), frames.mentions.span
        rows = frames.rows.select(
            *("document", "label", "system"),
            id=pl.int_range(pl.len(), dtype=pl.Int64),
            used=counts,
            span=np.where(trigger < 0, -1, span[trigger]) if len(span) else trigger,
        )
        triggers = rows.filter(pl.col("used"), pl.col("span") >= 0)
        nested = frames.arguments["nested"].to_numpy()
        mention = frames.arguments["mention"].to_numpy()
        inner = rows["span"].to_numpy()
        own = np.where(mention < 0, -1, span[mention]) if len(span) else mention
        of_nested = np.where(nested < 0, -1, inner[nested]) if len(inner) else nested
        filler = np.where(mention >= 0, own, of_nested)
        arguments = frames.arguments.select("id", "role", filler=filler)
        arguments = arguments.join(rows.filter("used").drop("span"), on="id", maintain_order="left")
        arguments = arguments.filter(pl.col("filler") >= 0)
        units = {
            "trigger_identification": (triggers, ("document", "span")),
            "trigger_classification": (triggers, ("document", "span", "label")),
            "argument_identification": (arguments, ("document", "label", "filler")),
            "argument_classification": (arguments, ("document", "label", "filler", "role")),
        }
        return {
            part: (
                table.filter(~pl.col("system")).select(columns).unique(),
                table.filter("system").select(columns).unique(),
            )
            for part, (table, columns) in units.items()
        }
