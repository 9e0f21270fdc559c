"""A comparison of systems as a value."""

from __future__ import annotations

import msgspec

Limits = tuple[float, float] | None


class System(msgspec.Struct, frozen=True, kw_only=True):
    """One system: its value, and its rank among all, which it may share.

    Attributes:
        name: the path of its submission.
        value: of the metric; null where undefined.
        interval: of that value.
        rank: 1 for the best; systems share a rank that do not differ from the first one on it.
    """

    name: str
    value: float | None
    interval: Limits
    rank: int | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems: by how much the first has more than the second, and whether by chance.

    Attributes:
        first: name of the first system.
        second: name of the second.
        difference: of their values.
        interval: of the difference, from paired bootstrap.
        probability: of a difference as large by chance, from the chosen test.
        corrected: the same, corrected for the number of pairs (Holm).
        wins: documents in which the first is better.
        losses: documents in which the second is.
        ties: documents in which neither is, or either has no value.
    """

    first: str
    second: str
    difference: float | None
    interval: Limits
    probability: float | None
    corrected: float | None
    wins: int
    losses: int
    ties: int


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Several systems against one reference.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        metric: what they are compared by.
        signature: what the numbers depend on.
        systems: the best first.
        differences: of every pair, in the order of the systems.
        notes: what a reader must know.
    """

    task: str
    profile: str
    metric: str
    signature: str
    systems: tuple[System, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()
