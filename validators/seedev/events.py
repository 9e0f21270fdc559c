"""The schema of an event task: which types there are, and what an event of each may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of event.

    Attributes:
        label: its name.
        mandatory: the roles that must be given.
        one_of: roles of which exactly one must be given.
        roles: every role it may have, with the types that may fill it; None where all may.
        commutative: whether its two arguments may change places.
    """

    label: str
    mandatory: tuple[str, ...]
    one_of: tuple[str, ...]
    roles: Mapping[str, frozenset[str] | None]
    commutative: bool = False


@dataclass(frozen=True)
class EventSchema:
    """What an event task allows.

    Attributes:
        task: its name.
        mentions: the types of text spans.
        events: the types of events by name.
        modifiers: how many modifiers of a type an event may have.
        conditions: the optional roles, in order.
        elsewhere: names that another task has for a type of this one (null: it has none).
        other: that task.
    """

    task: str
    mentions: frozenset[str]
    events: Mapping[str, EventType]
    modifiers: Mapping[str, int]
    conditions: tuple[str, ...] = ()
    elsewhere: Mapping[str, str | None] = field(default_factory=dict)
    other: str = ""

    @property
    def labels(self) -> frozenset[str]:
        """Every type of the task."""
        return self.mentions | self.events.keys() | self.modifiers.keys()

    @cached_property
    def roles(self) -> pl.DataFrame:
        """Every role of every event type: `label`, `role`, whether it is `mandatory`, `one_of`."""
        rows = [
            (event.label, role, role in event.mandatory, role in event.one_of)
            for event in self.events.values()
            for role in event.roles
        ]
        schema = {
            "label": pl.String,
            "role": pl.String,
            "mandatory": pl.Boolean,
            "one_of": pl.Boolean,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    @cached_property
    def fillers(self) -> pl.DataFrame:
        """The types that may fill each restricted role: `label`, `role`, `filler_label`."""
        rows = [
            (event.label, role, filler)
            for event in self.events.values()
            for role, allowed in event.roles.items()
            for filler in sorted(allowed or ())
        ]
        schema = dict.fromkeys(("label", "role", "filler_label"), pl.String)
        return pl.DataFrame(rows, schema=schema, orient="row")
