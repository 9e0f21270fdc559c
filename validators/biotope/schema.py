"""The schema of a task of Bacteria Biotope: its labels, and what relations and referents join."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
        most: of a kind of referents, the most of an entity.
        own_entities: whether a submission finds entities itself.
    """

    task: str
    entities: Sequence[str]
    roles: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    referents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    own_entities: bool = False


def schema(*, task: str) -> BiotopeSchema:
    """The schema of a task, from grammars/biotope.toml.

    Examples:
        >>> schema(task="bb16-event").roles["Lives_In"]["Bacteria"]
        ['Bacteria']
    """
    declared = vocabulary("biotope")["tasks"][task]
    year = vocabulary("biotope")["years"][declared["year"]]
    parts = {part: year[part] for part in ("entities", *declared["parts"])}
    return BiotopeSchema(task, own_entities=declared.get("own_entities", False), **parts)
