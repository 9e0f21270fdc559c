"""Rules of HUB-4 about the types and slots that the file of --slots allows (HUB234, HUB235).

The type that ties sets together and the slots that the task gives a meaning are always allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.validators.hub4.names import listed, of_task, slot_hint
from hlteval.validators.hub4.tables import allowed_names, fills, frames
from hlteval.validators.rule import RuleContext, at, first_of, only_if

_FILE = "the file of --slots"


def other_type(context: RuleContext) -> pl.LazyFrame:
    """An instance of a type that is not allowed, once for each type."""
    known = sorted({kind for kind, _ in allowed_names(context)})
    other = frames(context).filter(~pl.col("label").is_in([*known, context.schema.top]))
    found = first_of(only_if(bool(known), other), "label").collect()
    hints = [_type_hint(label, known) for label in found["label"]]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))


def _type_hint(label: str, known: Sequence[str]) -> str:
    """A similar type, the types, or that a type with a hyphen needs to be named."""
    longer = [name for name in known if name.startswith(f"{label}-")]
    if longer:
        return f"for types with a hyphen, add --types {','.join(longer)}"
    return did_you_mean(label, known, listed("types", known, _FILE))


def other_slot(context: RuleContext) -> pl.LazyFrame:
    """A slot that its type is not allowed to have, once for each.

    A type without a slot in the file may have all slots.
    """
    known = [(kind, slot) for kind, slot in allowed_names(context) if slot]
    names = sorted({*(f"{kind}.{slot}" for kind, slot in known), *of_task(context.schema)})
    other = fills(context).filter(
        pl.col("begins"),
        pl.col("label").is_in(sorted({kind for kind, _ in known})),
        ~pl.col("full").is_in(names) & ~pl.col("slot").is_in(names),
    )
    found = first_of(at(other, "slot"), "full").collect()
    hints = [
        slot_hint(label, slot, known, _FILE) for label, slot in found.select("label", "slot").rows()
    ]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))
