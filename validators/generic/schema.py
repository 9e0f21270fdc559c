"""The vocabulary of a declared task: its labels, and the types of the arguments of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

#: The table that has the units, by task; that of all others is `mentions`.
_TABLES: Mapping[str, str] = {
    "relations": "frames",
    "events": "frames",
    "labels": "instances",
    "segments": "instances",
}


@dataclass(frozen=True)
class Allowed:
    """The vocabulary of a task of the family.

    Attributes:
        unit: the name of the built-in task of the unit.
        labels: the labels of its units; none if those of the reference are.
        ignored: labels that are left out on both sides.
        map: labels that count as others.
        roles: the labels of entities that may fill a role, by label and role.
        at_most: the most units of a label in a document.
        undeclared: how a label that is not among them is reported.
        documents: `both` if documents that the reference lacks are scored, `reference` if not.
        several: whether a document may have several labels.
        kind: whether labels are names or numbers.
        range: the least and the greatest number; empty if any is allowed.
    """

    unit: str = ""
    labels: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    map: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    undeclared: Literal["error", "warning", "ignore"] = "error"
    documents: Literal["both", "reference"] = "both"
    several: bool = False
    kind: Literal["names", "numbers"] = "names"
    range: tuple[float, ...] = ()

    @property
    def table(self) -> str:
        """The table of the representation that has the units.

        Examples:
            >>> Allowed("relations").table, Allowed("mentions").table
            ('frames', 'mentions')
        """
        return _TABLES.get(self.unit, "mentions")

    def wrong_labels(self, labels: list[str]) -> list[str]:
        """The labels of a list that are not declared; none where no label is."""
        known = {*self.labels, *self.ignored, *self.map}
        return [label for label in labels if label not in known] if self.labels else []


def with_kind(
    options: Mapping[str, str],
    reference: bool = False,  # noqa: ARG001 - of both sides alike
    *,
    allowed: Allowed = Allowed("labels"),
) -> Allowed:
    """The vocabulary of labels, of the kind that an option selects.

    Examples:
        >>> with_kind({"kind": "numbers"}).kind, with_kind({}).kind
        ('numbers', 'names')
    """
    return replace(allowed, kind="numbers") if options.get("kind") == "numbers" else allowed
