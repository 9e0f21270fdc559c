"""What a declared task allows: its labels, and the types of the arguments of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Allowed:
    """The vocabulary of a declared task.

    Attributes:
        labels: the labels of its units; none if those of the reference are.
        ignored: labels that are left out on both sides.
        roles: the labels of entities that may fill a role, by label and role.
        undeclared: what a label that is not among them is.
        several: whether an item may have several labels.
    """

    labels: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    roles: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    undeclared: Literal["error", "warning", "ignore"] = "error"
    several: bool = False
