"""Bacteria Biotope: entities and relations of the reference paired with those of a system.

Pairs are made once for each evaluation; scorings select pairs, and may compare them otherwise. What
a task and a profile compare is declared as a `BiotopeMatch`, from grammars/biotope.toml.

Conventions:
    Similarities are from 0 to 1, and are added in the order of documents and references. Counts are
    a row per scoring and pair or item without a partner; where a scoring counts each form once,
    with the `form`: the text, and the referents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import polars as pl

from hlteval.representation import Corpus, align, without_mentions
from hlteval.scoring import pairings
from hlteval.scoring.biotope import annotations
from hlteval.scoring.biotope.annotations import SEPARATOR, ReferentOntology
from hlteval.scoring.confusions import pair_by_key, pair_by_place
from hlteval.scoring.matching import assign
from hlteval.scoring.ontologies import jaccard
from hlteval.scoring.pairings import PairingMetric, of_distinct, with_names

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
#: The pairs, as `row`, `row_system` and `overlap`, and the items of either side that count.
Pairing = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


@dataclass(frozen=True)
class Scoring:
    """Pairs that are counted together, and how they are compared.

    Attributes:
        name: of the scoring.
        measures: that are printed of it; those of the task without any.
        where: the values that columns of an item of either side have.
        referents: how referents are compared; as for the pairing without a value.
        boundaries: whether the characters that both share count, or the arguments of relations.
        only: the option with the list of referents that count.
        mapped: the option with the table of referents that stand for others.
        undefined: labels for which the similarity is undefined.
        unique: whether each form counts once with its referents.
        of: the profile that has it; both without one.
    """

    name: str = ""
    measures: tuple[str, ...] = ()
    where: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)
    referents: Comparison | None = None
    boundaries: bool = True
    only: str = ""
    mapped: str = ""
    undefined: tuple[str, ...] = ()
    unique: bool = False
    of: str = ""

    def is_made(self, profile: str, options: Options) -> bool:
        """Whether a profile has it, and there is what it needs."""
        needs = {self.only, self.mapped, "sentences" if "inside" in self.where else ""} - {""}
        present = all(getattr(options, each) not in (None, False) for each in needs)
        return present and self.of in {"", profile}


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

    def only(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of items that are paired."""
        return rows.filter(pl.col("label").is_in(self.labels)) if self.labels else rows


@dataclass(frozen=True, kw_only=True)
class BiotopeMatch(PairingMetric):
    """How the annotations of a task are compared in a profile.

    Attributes:
        paired: what is paired: given entities with themselves, entities, or relations.
        evaluations: the first is the main one, which the alignment shows.
        measures: that are printed of most scorings.
        year: of the task.
        taxa: the labels of entities whose referents are taxa.
        roles: of relations: of the first argument, and of the second.
        own_entities: whether systems find the arguments of relations themselves.
        ontology: of the referents.
        options: lists and tables of referents.
    """

    paired: Literal["given", "entities", "relations"]
    evaluations: tuple[Evaluation, ...]
    measures: tuple[str, ...]
    year: str
    taxa: tuple[str, ...]
    roles: tuple[str, ...]
    own_entities: bool
    ontology: ReferentOntology
    options: Options

    counts: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("document", *pairings.PLACE), pl.String),
        **dict.fromkeys(("references", "predictions"), pl.Int64),
        "similarity": pl.Float64,
        "form": pl.String,
    }
    #: Chooses one-to-one pairs of candidates by their weights: those of the greatest total.
    choose: ClassVar[Callable[..., Any]] = staticmethod(assign)
    #: The similarity of sets of identifiers without an ontology.
    jaccard: ClassVar[Callable[..., float]] = staticmethod(jaccard)

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
        counts, tables = [pl.DataFrame(schema=dict(self.counts))], []
        for evaluation in self.evaluations:
            rows = with_names(pair(evaluation, reference, system), reference, system)
            tables.append(rows.sort("document", "row", "row_system", nulls_last=True))
            scorings = self.scorings(evaluation)
            counts += [self._count(evaluation, each, tables[-1]) for each in scorings]
        return pl.concat(counts), self._align(tables[0]) if alignment else None

    def scorings(self, evaluation: Evaluation) -> list[Scoring]:
        """The scorings of an evaluation that the profile has, and for which the files are there."""
        return [each for each in evaluation.scorings if each.is_made(self.profile, self.options)]

    # The pairs of an evaluation: the columns of the items of the system end in `_system`, and
    # `overlap` is the share of characters that both have, or the similarity of arguments.

    def _pair_entities(
        self, evaluation: Evaluation, reference: Corpus, system: Corpus
    ) -> pl.DataFrame:
        """The entities that are paired so that the sum of their similarities is greatest.

        Given ones are paired with themselves.
        """
        source = reference if self.paired == "given" else system
        ours = annotations.entities(evaluation.only(reference.mentions), reference, self.taxa)
        theirs = annotations.entities(evaluation.only(source.mentions), system, self.taxa)
        if self.paired == "given":
            pairs = ours.select("row", row_system="row", overlap=pl.lit(1.0))
        else:
            by = ["document", "label"] if evaluation.referents == "graded" else ["document"]
            alike = annotations.overlaps(ours, theirs, by, self.common_characters)
            weight = self._similarity(alike, Scoring(), evaluation)
            pairs = self.pair(alike.select("row", "row_system", "overlap", weight=weight))
        return pairings.side_by_side(ours, theirs, pairs)

    def _pair_relations(
        self, evaluation: Evaluation, reference: Corpus, system: Corpus
    ) -> pl.DataFrame:
        """The relations that are paired, so that equivalent ones of a system count once."""
        given = without_mentions(reference, ".a2") if self.own_entities else reference
        both = annotations.relations(reference, given, system, self.roles)
        ours, theirs = map(evaluation.only, both)
        alike = annotations.alike_arguments(reference, given, system, self.common_characters)
        alike = annotations.alike_relations(ours, theirs, alike).with_columns(weight="overlap")
        pairs, ours, theirs = self.pair_relations(alike, ours, theirs)
        return pairings.side_by_side(ours, theirs, pairs.select("row", "row_system", "overlap"))

    def common_characters(self, pairs: pl.DataFrame) -> pl.Series:
        """The number of characters that the entities of each pair share."""
        return pairs["shared"]

    def pair(self, alike: pl.DataFrame) -> pl.DataFrame:
        """The one-to-one pairs of candidates.

        Args:
            alike: `row`, `row_system`, their `weight`, and others.
        """
        some = alike.filter(pl.col("weight") > 0)
        columns = (some[name].to_numpy() for name in ("row", "row_system", "weight"))
        return some.filter(pl.Series(self.choose(*columns)))

    def pair_relations(
        self, alike: pl.DataFrame, ours: pl.DataFrame, theirs: pl.DataFrame
    ) -> Pairing:
        """The pairs of relations; what is another form of a paired one does not count.

        Args:
            alike: as `alike_relations`, with the `weight`.
            ours: the relations of the reference.
            theirs: those of the system.
        """
        pairs = self.pair(alike)
        several = ours.filter((pl.col("count") > 1) | (pl.col("count_second") > 1))
        again = alike.join(several, on="row", how="semi").join(pairs, on="row_system", how="anti")
        return pairs, ours, theirs.filter(~pl.col("row").is_in(again["row_system"].implode()))

    # Scorings: which pairs count, and as what.

    def beside(self, aligned: pl.DataFrame) -> pl.DataFrame:
        """Items without a partner are paired by their place, or their arguments."""
        if self.paired == "relations":
            return pair_by_key(aligned, pairings.LABELS, ("reference_text", "predicted_text"))
        places = ("reference_start", "reference_end"), ("predicted_start", "predicted_end")
        return pair_by_place(aligned, pairings.LABELS, places)

    def _count(self, evaluation: Evaluation, scoring: Scoring, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs and items that a scoring counts, as `counts`."""
        accepted = []
        for side in _SIDES:
            conditions = [pl.col(f"row{side}").is_not_null()]
            conditions += [pl.col(f"{name}{side}").is_in(v) for name, v in scoring.where.items()]
            if scoring.only:
                known = pl.element().is_in(getattr(self.options, scoring.only))
                referents = pl.col(f"referents{side}").str.split(SEPARATOR)
                conditions.append(referents.list.eval(known).list.any())
            accepted.append(pl.all_horizontal(conditions))
        rows = pairs.with_columns(similarity=self._similarity(pairs, scoring, evaluation))
        rows, form = rows.filter(pl.any_horizontal(accepted)), pl.lit(None, pl.String)
        if scoring.unique:
            rows = rows.drop_nulls("row")
            form = pl.concat_str("text", "referents", separator=SEPARATOR)
        place = dict(zip(pairings.PLACE, map(pl.lit, (evaluation.name, scoring.name)), strict=True))
        sides = {"references": "row", "predictions": "row_system"}
        has = {name: pl.col(row).is_not_null().cast(pl.Int64) for name, row in sides.items()}
        return rows.select("document", **place, **has, similarity="similarity", form=form)

    def _similarity(
        self, pairs: pl.DataFrame, scoring: Scoring, evaluation: Evaluation
    ) -> pl.Series:
        """The similarity of each pair; null where it is not one."""
        overlap = pairs["overlap"] if scoring.boundaries else (pairs["overlap"] * 0 + 1)
        comparison = scoring.referents or evaluation.referents
        if comparison == "any":
            return overlap
        table = getattr(self.options, scoring.mapped, {})
        only = getattr(self.options, scoring.only, None)

        def similarity(label: str, *sides: str) -> float:
            if label in scoring.undefined:
                return float("nan")
            sets = (
                frozenset(table.get(each, each) for each in side.split(SEPARATOR) if each)
                for side in sides
            )
            ours, theirs = (each if only is None else each & only for each in sets)
            graded = comparison == "graded" and label not in self.taxa
            return (self.ontology.of_sets if graded else self.jaccard)(ours, theirs)

        return overlap * of_distinct(pairs, ("label", "referents", "referents_system"), similarity)

    # Values from counts.

    @property
    def layout(self) -> Sequence[tuple[str, str, Sequence[str]]]:
        """The scorings of all evaluations."""
        every = ((each.name, one) for each in self.evaluations for one in self.scorings(each))
        return [(name, one.name, one.measures or self.measures) for name, one in every]

    def add(self, counts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
        """The sums of counts; similarities are added one after the other, in their order."""
        counts = counts.sort("document", maintain_order=True)
        kept, seen = [], set[tuple[str, ...]]()
        for *place, form in counts.select(*pairings.PLACE, "form").iter_rows():
            text, *referents = (form or "").split(SEPARATOR)
            forms = {(*place, text, referent) for referent in referents if referent}
            kept.append(seen.isdisjoint(forms))
            seen |= forms if kept[-1] else set()
        rows = counts.filter(pl.Series(kept, dtype=pl.Boolean)).group_by(by, maintain_order=True)
        each = pl.col("similarity").drop_nulls()
        return rows.agg(
            pl.col("references", "predictions").sum(),
            pairs=each.count().cast(pl.Int64),
            matched=each.cum_sum().last().fill_null(0.0),
            missed=(1 - each).cum_sum().last().fill_null(0.0),
        )

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:  # noqa: ARG002
        """A note where referents cannot be compared by an ontology."""
        return () if self.paired == "relations" else self.ontology.notes

    def _align(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs of the main evaluation, and unpaired items, with the outcome of each."""
        main = self.evaluations[0]
        rows = pairs.with_columns(similarity=self._similarity(pairs, self.scorings(main)[0], main))
        rows = rows.with_columns(pl.col("^referents.*$").str.replace_all(SEPARATOR, ", "))
        shown = {"item": "", "label": "_type", "text": "_text", "referents": "_referents"}
        columns = {
            f"{side}{name}": f"{part}{ending}"
            for part, name in {**shown, "start": "_start", "end": "_end"}.items()
            for side, ending in zip(("reference", "predicted"), _SIDES, strict=True)
            if part in rows.columns
        }
        return pairings.with_outcomes(rows.select("document", **columns, similarity="similarity"))
