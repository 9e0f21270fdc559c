"""Bacteria Biotope: entities and relations of the reference paired with those of a system.

Pairs are made once for each evaluation; scorings select pairs, and may compare them otherwise. What
a task and a profile compare is declared as a `BiotopeMatch`, from grammars/biotope.toml.

Conventions:
    Similarities are from 0 to 1, and are added in the order of documents and references. Counts are
    a row per document, evaluation and scoring; where a scoring counts each form once, a row per
    pair, with the forms as `keys`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus, align, without_mentions
from hlteval.scoring.biotope.annotations import (
    SEPARATOR,
    alike_relations,
    entities,
    kinds,
    overlaps,
    places,
    relations,
    shared_characters,
    with_kinds,
)
from hlteval.scoring.biotope.referents import Ontology
from hlteval.scoring.matching import assigned
from hlteval.scoring.pairings import (
    PLACE,
    PairingMetric,
    across_sentences,
    side_by_side,
    with_outcomes,
)
from hlteval.scoring.ratios import Numbers

_SIDES = ("", "_system")


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

    #: A list that was never filled.
    none: ClassVar[frozenset[str]] = frozenset()


#: How referents are compared: by the ontology, as sets, or not at all.
Comparison = Literal["graded", "exact", "any"]


@dataclass(frozen=True)
class Scoring:
    """Pairs that are counted together, and how they are compared.

    Attributes:
        name: of the scoring.
        measures: that are printed of it.
        labels: of which an item of either side has one; any without labels.
        location: the label of the second argument of a relation.
        referents: how referents are compared.
        boundaries: whether the characters that both share count, or the arguments of relations.
        only: the option with the list of referents that count.
        mapped: the option with the table of referents that stand for others.
        undefined: labels for which the similarity is undefined.
        inside: whether relations across sentences are left out.
        several: whether only items with several referents count.
        unique: whether each form counts once with its referents.
        of: the profile that has it; both without one.
    """

    name: str = ""
    measures: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    location: str = ""
    referents: Comparison = "graded"
    boundaries: bool = True
    only: str = ""
    mapped: str = ""
    undefined: tuple[str, ...] = ()
    inside: bool = False
    several: bool = False
    unique: bool = False
    of: str = ""

    @property
    def needs(self) -> tuple[str, ...]:
        """The options that it is made of."""
        return tuple(filter(None, (self.only, self.mapped, "sentences" if self.inside else "")))


@dataclass(frozen=True)
class Evaluation:
    """One pairing of all items, and its scorings.

    Attributes:
        name: of the evaluation, as the official software prints it.
        scorings: the first is the main one.
        labels: of the items that are paired; all without labels.
        referents: how referents are compared for the pairing.
    """

    name: str
    scorings: tuple[Scoring, ...]
    labels: tuple[str, ...] = ()
    referents: Comparison = "graded"


class Pairing(NamedTuple):
    """The pairs, as `row` and `row_system`, and the items of either side that do not count."""

    pairs: pl.DataFrame
    left_out: tuple[Sequence[int], Sequence[int]] = ((), ())


@dataclass(frozen=True, kw_only=True)
class BiotopeMatch(PairingMetric):
    """How the annotations of a task are compared in a profile.

    Attributes:
        unit: what is paired: given entities with themselves, entities, or relations.
        evaluations: the first is the main one, which the alignment shows.
        year: of the task.
        taxa: the labels of entities whose referents are taxa.
        concepts: the labels of entities whose referents are in the ontology.
        roles: of relations: of the first argument, and of the second.
        own_entities: whether systems find the arguments of relations themselves.
        ontology: of the referents.
        options: lists and tables of referents.
    """

    paired: Literal["given", "entities", "relations"]
    evaluations: tuple[Evaluation, ...]
    year: str
    taxa: tuple[str, ...]
    concepts: tuple[str, ...]
    roles: tuple[str, ...]
    own_entities: bool = False
    ontology: Ontology = field(default_factory=Ontology)
    options: Options = field(default_factory=Options)

    counts: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("document", *PLACE), pl.String),
        **dict.fromkeys(("references", "predictions"), pl.Int64),
        "similarities": pl.List(pl.Float64),
        "keys": pl.List(pl.String),
    }

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and the alignment of the main evaluation.

        Args:
            reference: the reference; its segments are the sentences.
            system: the predictions for the same documents.
            alignment: whether the alignment is wanted.

        Returns:
            Counts, as `counts`; and the alignment, a row per pair or unpaired item.
        """
        reference, system = self.prepare(*align(reference, system))
        pair = self._pair_relations if self.paired == "relations" else self._pair_entities
        names = pl.concat([reference.documents, system.documents])
        names = names.select(document="row", name="name").unique()
        counts, tables = [pl.DataFrame(schema=dict(self.counts))], []
        for evaluation in self.evaluations:
            rows = pair(evaluation, reference, system).join(names, on="document")
            rows = rows.drop("document").rename({"name": "document"})
            rows = rows.sort("document", "row", "row_system", nulls_last=True)
            counts += [self._count(evaluation, scoring, rows) for scoring in evaluation.scorings]
            tables.append(rows)
        return pl.concat(counts), self._align(tables[0]) if alignment else None

    # The pairs of an evaluation: the columns of the items of the system end in `_system`, and
    # `overlap` is the share of characters that both have, or the similarity of arguments.

    def _pair_entities(
        self, evaluation: Evaluation, reference: Corpus, system: Corpus
    ) -> pl.DataFrame:
        """The entities that are paired so that the sum of their similarities is greatest.

        Given ones are paired with themselves.
        """
        given = self.paired == "given"
        ours, theirs = (
            entities(mentions.filter(pl.col("label").is_in(evaluation.labels)), corpus, self.taxa)
            for mentions, corpus in (
                (reference.mentions, reference),
                (reference.mentions if given else system.mentions, system),
            )
        )
        if given:
            pairs = ours.select("row", row_system="row", overlap=pl.lit(1.0))
            return side_by_side(ours, theirs, pairs)
        by = ["document", "label"] if evaluation.referents == "graded" else ["document"]
        alike = overlaps(ours, theirs, by, self.shared)
        weight = self._similarity(alike, Scoring(referents=evaluation.referents))
        pairs = self.pair(alike.select("row", "row_system", "overlap", weight=weight))
        return side_by_side(ours, theirs, pairs.drop("weight"))

    def _pair_relations(
        self, evaluation: Evaluation, reference: Corpus, system: Corpus
    ) -> pl.DataFrame:
        """The relations that are paired, so that equivalent ones of a system count once."""
        given = without_mentions(reference, ".a2") if self.own_entities else reference
        sides = [relations(reference, reference, self.roles), relations(system, given, self.roles)]
        if evaluation.labels:
            sides = [rows.filter(pl.col("label").is_in(evaluation.labels)) for rows in sides]
        kind, own = pl.format("given {}", "row"), pl.format("mention {}", "row")
        every = (places(reference.mentions, kind.alias("argument")), places(system.mentions, own.alias("argument")))
        across = self._across(...)
        classes = kinds(reference)
        if self.own_entities: ...
        return pl.DataFrame()
