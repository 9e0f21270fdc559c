"""The vocabulary of a declared task: its labels, and the types of the arguments of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from hlteval.representation import FACT, Corpus

#: The table that has the units, by task; that of all others is `mentions`.
_TABLES: Mapping[str, str] = {
    "relations": "frames",
    "events": "frames",
    "labels": "instances",
    "segments": "instances",
}
#: The kinds of rows that are units, by task; of other tasks, all rows are.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "relations": ("relation", FACT),
    "events": ("event",),
    "labels": ("label",),
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

    def has_units(self, corpus: Corpus) -> bool:
        """Whether a corpus has something that is scored.

        Examples:
            >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1"}
            >>> corpus = Corpus(mentions=[{**place, "label": "X", "start": 0, "end": 1}])
            >>> Allowed("mentions").has_units(corpus), Allowed("links").has_units(corpus)
            (True, False)
        """
        rows: pl.DataFrame = getattr(corpus, self.table)
        if self.unit == "links":
            return rows["entity"].count() > 0
        kinds = _KINDS.get(self.unit)
        return rows.height > 0 if kinds is None else bool(rows["kind"].is_in(kinds).any())

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
