"""The schema of a task of Bacteria Biotope: its labels, and what relations and referents join."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from hlteval.grammars import vocabulary

TAXONOMY, ONTOLOGY = "NCBI_Taxonomy", "OntoBiotope"


@dataclass(frozen=True)
class BiotopeSchema:
    """The labels of a task, and of what its relations and referents are.

    Attributes:
        task: its name.
        entities: the labels of text spans.
        roles: of each label of relations the roles, with the labels of entities that fill them.
        referents: of each kind of referents the labels of entities that have them.
        own_entities: whether a submission finds entities itself.
    """

    task: str
    entities: tuple[str, ...]
    roles: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    referents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    own_entities: bool = False

    @property
    def kinds(self) -> pl.LazyFrame:
        """The labels of entities that have referents: `label`, and the kind of these: `scheme`."""
        pairs = [(label, name) for name, labels in self.referents.items() for label in labels]
        return pl.LazyFrame(pairs, dict.fromkeys(("label", "scheme"), pl.String), orient="row")


def schema(*, task: str) -> BiotopeSchema:
    """The schema of a task, from grammars/biotope.toml.

    Examples:
        >>> schema(task="bb16-event").roles["Lives_In"]["Bacteria"]
        ['Bacteria']
    """
    data = vocabulary("biotope")
    declared = data["tasks"][task]
    year, unit = data["years"][declared["year"]], declared["unit"]
    return BiotopeSchema(
        task=task,
        entities=tuple(year["entities"]),
        roles=year["relations"] if unit in {"relations", "knowledge"} else {},
        referents={} if unit == "relations" else year["referents"],
        own_entities=declared.get("own_entities", False),
    )
