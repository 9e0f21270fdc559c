"""What the evaluations of Bacteria Biotope count, as values: scorings, and what they compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

#: How referents are compared: by the ontology, as sets, or not at all.
Comparison = Literal["graded", "exact", "any"]


class Similarity(NamedTuple):
    """The parts of the similarity of a pair.

    Attributes:
        referents: whether referents are compared by the ontology, as sets, or not at all.
        boundaries: whether the characters that both share count, or the arguments of relations.
        only: the list of referents that count.
        mapped: the table of referents that stand for others.
        undefined: labels for which it is undefined.
    """

    referents: Comparison = "graded"
    boundaries: bool = True
    only: str = ""
    mapped: str = ""
    undefined: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scoring:
    """Pairs that are counted together.

    Attributes:
        name: of the scoring.
        measures: that are printed of it.
        similarity: how its pairs are compared.
        labels: of which an item of either side has one; any without labels.
        location: the label of the second argument of a relation.
        inside: whether relations across sentences are left out.
        several: whether items have several referents.
        unique: whether each form counts once with its referents.
    """

    name: str
    measures: tuple[str, ...]
    similarity: Similarity
    labels: tuple[str, ...] = ()
    location: str = ""
    inside: bool = False
    several: bool = False
    unique: bool = False


@dataclass(frozen=True)
class Evaluation:
    """One pairing of all items, and its scorings.

    Attributes:
        name: of the evaluation, as the official software prints it.
        scorings: the first is the main one.
        labels: of the entities that are paired; all without labels.
        referents: how referents are compared for the pairing.
    """

    name: str
    scorings: tuple[Scoring, ...]
    labels: tuple[str, ...] = ()
    referents: Comparison = "graded"


@dataclass(frozen=True)
class Options:
    """The files beside the corpus.

    Attributes:
        ontology: the parents of each identifier; None without an ontology.
        new: the identifiers that only the later corpus has.
        food: the identifiers of habitats that are food.
        human: what identifiers stand for where parts of humans are one habitat.
        species: the species of taxa below species.
        sentences: whether there are sentences.
    """

    ontology: Mapping[str, Sequence[str]] | None = None
    new: frozenset[str] | None = None
    food: frozenset[str] | None = None
    human: Mapping[str, str] | None = None
    species: Mapping[str, str] | None = None
    sentences: bool = False
