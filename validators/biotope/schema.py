"""The schema of a task of Bacteria Biotope: its labels, and what relations and referents join."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hlteval.grammars import vocabulary

TAXONOMY, ONTOLOGY = "NCBI_Taxonomy", "OntoBiotope"


@dataclass(frozen=True)
class BiotopeSchema:
    """The labels of a task, and of what its relations and referents are.

    Attributes:
        task: its name.
        entities: the labels of text spans.
        relations: of each label of relations the roles, with the labels of entities that fill them.
        referents: of each kind of referents the labels of entities that have them.
        own_entities: whether a submission finds entities itself.
    """

    task: str
    entities: tuple[str, ...]
    relations: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    referents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    own_entities: bool = False


def schema(*, task: str) -> BiotopeSchema:
    """The schema of a task, from grammars/biotope.toml.

    Examples:
        >>> schema(task="bb16-event").relations["Lives_In"]["Bacteria"]
        ('Bacteria',)
    """
    data = vocabulary("biotope")
    declared = data["tasks"][task]
    year, unit = data["years"][declared["year"]], declared["unit"]
    relations = {
        label: {role: tuple(labels) for role, labels in roles.items()}
        for label, roles in year["relations"].items()
    }
    taxa, concepts = tuple(year["taxa"]), tuple(year["concepts"])
    return BiotopeSchema(
        task=task,
        entities=("Title", "Paragraph", *taxa, *concepts, *year["others"]),
        relations=relations if unit in {"relations", "knowledge"} else {},
        referents={} if unit == "relations" else {TAXONOMY: taxa, ONTOLOGY: concepts},
        own_entities=unit == "entities" or declared.get("own_entities", False),
    )
