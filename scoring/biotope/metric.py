"""Bacteria Biotope: entities and relations of the reference paired with those of a system.

Pairs are made once for each evaluation; scorings select pairs, and may compare them otherwise. What
a task and a profile compare is declared as a `BiotopeMatch`, from grammars/biotope.toml.

Conventions:
    Similarities are from 0 to 1, and are added in the order of documents and references. Counts are
    a row per document, evaluation and scoring; where a scoring counts each form once, a row per
    pair, with the forms as `keys`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus, align, first_case, without_mentions
from hlteval.scoring.biotope.entities import (
    SEPARATOR,
    Fragments,
    Labels,
    entities,
    overlaps,
    shared_characters,
)
from hlteval.scoring.biotope.referents import Ontology
from hlteval.scoring.biotope.relations import (
    Roles,
    alike_entities,
    candidates,
    equivalents,
    inside,
    relations,
)
from hlteval.scoring.biotope.scorings import Evaluation, Scoring, Similarity
from hlteval.scoring.matching import assigned
from hlteval.scoring.metric import AdditiveMetric, Replicates, Sums, columns_of, scorings
from hlteval.scoring.ratios import Numbers, Rates, plain, rates, ratio

COUNTS: Mapping[str, Any] = {
    **dict.fromkeys(("document", "evaluation", "scoring"), pl.String),
    **dict.fromkeys(("references", "predictions"), pl.Int64),
    "similarities": pl.List(pl.Float64),
    "keys": pl.List(pl.String),
}
#: The sums that values are computed of: items of either side, pairs, their similarities, and what
#: these lack to 1.
ADDED = ("references", "predictions", "pairs", "matched", "missed")
#: The measures that are metrics.
METRICS: Mapping[str, str] = {
    **{name.lower(): name for name in ("Precision", "Recall", "F1", "SER", "Matches")},
    "substitutions": "Mismatches",
    **{name.lower(): name for name in ("Insertions", "Deletions", "References", "Predictions")},
}
_SIDES = ("", "_system")


class Pairing(NamedTuple):
    """The pairs, as `row` and `row_system`, and the items of either side that do not count."""

    pairs: pl.DataFrame
    left_out: tuple[Sequence[int], Sequence[int]] = ((), ())


@dataclass(frozen=True, kw_only=True)
class BiotopeMatch(AdditiveMetric):
    """How the annotations of a task are compared in a profile.

    Attributes:
        unit: what is paired: given entities with themselves, entities, or relations.
        evaluations: the first is the main one, which the alignment shows.
        labels: of entities.
        roles: of the arguments of relations.
        own_entities: whether systems find the arguments of relations themselves.
        ontology: of the referents.
        lists: lists of referents by name.
        tables: tables of referents that stand for others, by name.
    """

    unit: Literal["given", "entities", "relations"]
    evaluations: tuple[Evaluation, ...]
    labels: Labels
    roles: Roles
    own_entities: bool = False
    ontology: Ontology = field(default_factory=Ontology)
    lists: Mapping[str, frozenset[str]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    #: Counts the characters that two lists of fragments share.
    shared: Callable[[Fragments, Fragments], int] = shared_characters

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and the alignment of the main evaluation.

        Args:
            reference: the reference; its segments are the sentences.
            system: the predictions for the same documents.
            alignment: whether the alignment is wanted.

        Returns:
            Counts, as `COUNTS`; and the alignment, a row per pair or unpaired item.
        """
        reference, system = self.prepare(*align(reference, system))
        make = {
            "given": self._given_pairs,
            "entities": self._entity_pairs,
            "relations": self._relation_pairs,
        }[self.unit]
        names = pl.concat([reference.documents, system.documents])
        names = names.select(document="row", name="name").unique()
        tables = [make(each, reference, system) for each in self.evaluations]
        counts = [pl.DataFrame(schema=dict(COUNTS))]
        for evaluation, rows in zip(self.evaluations, tables, strict=True):
            table = rows.join(names, on="document").sort(
                "name", "row", "row_system", nulls_last=True
            )
            counts += [self._count(evaluation, scoring, table) for scoring in evaluation.scorings]
        main = tables[0].join(names, on="document").drop("document").rename({"name": "document"})
        return pl.concat(counts), self._align(main) if alignment else None

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Return what is compared of two corpora with the same documents."""
        return reference, system

    # The pairs of an evaluation: the columns of the items of the system end in `_system`, and
    # `overlap` is the share of characters that both have, or the similarity of arguments.

    def _given_pairs(
        self, evaluation: Evaluation, reference: Corpus, system: Corpus
    ) -> pl.DataFrame:
        """Each given entity with itself: its referents on both sides."""
        mentions = reference.mentions.filter(pl.col("label").is_in(evaluation.labels))
        rows = entities(mentions, self.labels, (reference, system))
        either = pl.concat_str("referents", "referents_system", separator=SEPARATOR)
        several = pl.max_horizontal("normalizations", "normalizations_system") > 1
        shared = [pl.col(name).alias(f"{name}_system") for name in ("row", "item", "label", "text")]
        places = [pl.col(name).alias(f"{name}_system") for name in ("start", "end")]
        rows = rows.with_columns(*shared, *places, overlap=pl.lit(1.0))
        names = {f"carried{side}": either for side in _SIDES}
        return rows.with_columns(**names, **{f"several{side}": several for side in _SIDES})

    def _entity_pairs(
        self, evaluation: Evaluation, reference: Corpus, system: Corpus
    ) -> pl.DataFrame:
        """The entities that are paired so that the sum of their similarities is greatest."""
        found = pl.col("label").is_in(evaluation.labels)
        ours, theirs = (
            entities(corpus.mentions.filter(found), self.labels, (corpus,)).with_columns(
                carried="referents", several=pl.col("normalizations") > 1
            )
            for corpus in (reference, system)
        )
        graded = evaluation.referents == "graded"
        alike = overlaps(
            ours, theirs, ["document", "label"] if graded else ["document"], self.shared
        )
        alike = alike.join(
            ours.select("row", "label", "referents"), on="row", maintain_order="left"
        )
        other = theirs.select(row_system="row", referents_system="referents")
        alike = alike.join(other, on="row_system", maintain_order="left")
        weight = self._similarity(alike, Similarity(evaluation.referents))
        chosen = self.pair(alike.select("row", "row_system", weight=weight))
        return _join_sides(ours, theirs, alike, Pairing(chosen))

    def _relation_pairs(
        self, evaluation: Evaluation, reference: Corpus, system: Corpus
    ) -> pl.DataFrame:
        """The relations that are paired, so that equivalent ones of a system count once."""
        given = without_mentions(reference, ".a2") if self.own_entities else reference
        labels = {scoring for each in evaluation.scorings for scoring in each.labels}
        ours = relations(reference, reference, self.roles)
        theirs = relations(system, given, self.roles)
        if labels:
            ours, theirs = (rows.filter(pl.col("label").is_in(labels)) for rows in (ours, theirs))
        sentences = reference.segments
        entities_of = ([("given", reference)], [("given", given), ("mention", system)])
        ours, theirs = (
            rows.with_columns(inside=pl.col("row").is_in(inside(rows, of, sentences)))
            for rows, of in zip((ours, theirs), entities_of, strict=True)
        )
        shared = self.shared if self.own_entities else None
        alike, forms = candidates(
            ours, theirs, equivalents(reference), alike_entities(reference, system, given, shared)
        )
        pairing = self.pair_relations(alike.rename({"overlap": "weight"}), forms, ours, theirs)
        return _join_sides(ours, theirs, alike, pairing)

    def pair(self, alike: pl.DataFrame) -> pl.DataFrame:
        """The one-to-one pairs whose weights have the greatest total: `row`, `row_system`."""
        some = alike.filter(pl.col("weight") > 0)
        return some.filter(pl.Series(assigned(*(some[name].to_numpy() for name in some.columns))))

    def pair_relations(
        self,
        alike: pl.DataFrame,
        forms: pl.DataFrame,
        ours: pl.DataFrame,  # noqa: ARG002
        theirs: pl.DataFrame,  # noqa: ARG002
    ) -> Pairing:
        """The pairs of relations; what is another form of a paired one does not count.

        Args:
            alike: `row`, `row_system` and `weight` of relations that are alike at all.
            forms: of the relations of the reference, as `candidates`.
            ours: the relations of the reference.
            theirs: those of the system.
        """
        chosen = self.pair(alike)
        several = forms.filter((pl.col("count") > 1) | (pl.col("count_second") > 1))["row"]
        rest = alike.filter(~pl.col("row_system").is_in(chosen["row_system"].implode()))
        again = rest.filter(pl.col("row").is_in(several.implode()))["row_system"]
        return Pairing(chosen, ((), again.unique().to_list()))

    # Scorings: which pairs count, and as what.

    def _count(self, evaluation: Evaluation, scoring: Scoring, pairs: pl.DataFrame) -> pl.DataFrame:
        """The counts of a scoring by document."""
        accepted = [self._accepts(scoring, side) for side in _SIDES]
        rows = pairs.filter(accepted[0].fill_null(value=False) | accepted[1].fill_null(value=False))
        both = pl.col("row").is_not_null() & pl.col("row_system").is_not_null()
        rows = rows.with_columns(value=self._similarity(rows, scoring.similarity))
        counted = (
            pl.col("row").count().cast(pl.Int64).alias("references"),
            pl.col("row_system").count().cast(pl.Int64).alias("predictions"),
            pl.col("value").filter(both).alias("similarities"),
        )
        if scoring.unique:
            keys = (
                pl.col("referents")
                .str.split(SEPARATOR)
                .list.eval(pl.element().filter(pl.element() != ""))
            )
            form = pl.concat_list(pl.col("text").first(), keys.first()).alias("keys")
            rows = rows.filter(pl.col("row").is_not_null()).with_columns(
                pair=pl.int_range(pl.len())
            )
            counts = rows.group_by("name", "pair", maintain_order=True).agg(*counted, form)
        else:
            counts = rows.group_by("name", maintain_order=True).agg(*counted)
            counts = counts.with_columns(keys=pl.lit(None, pl.List(pl.String)))
        named = {"evaluation": pl.lit(evaluation.name), "scoring": pl.lit(scoring.name)}
        return counts.rename({"name": "document"}).with_columns(**named).select(COUNTS.keys())

    def _accepts(self, scoring: Scoring, side: str) -> pl.Expr:
        """Whether the item of a side is one that a scoring counts."""
        conditions = [pl.col(f"row{side}").is_not_null()]
        if scoring.labels:
            conditions.append(pl.col(f"label{side}").is_in(scoring.labels))
        if scoring.location:
            conditions.append(pl.col(f"location{side}") == scoring.location)
        if scoring.inside:
            conditions.append(pl.col(f"inside{side}"))
        if scoring.several:
            conditions.append(pl.col(f"several{side}"))
        if scoring.similarity.only:
            known = self.lists[scoring.similarity.only]
            concept = pl.col(f"label{side}").is_in(self.labels.concepts)
            carried = pl.col(f"carried{side}").str.split(SEPARATOR)
            conditions += [concept, carried.list.eval(pl.element().is_in(known)).list.any()]
        return pl.all_horizontal(conditions)

    def _similarity(self, pairs: pl.DataFrame, similarity: Similarity) -> pl.Series:
        """The similarity of each pair; null where it is not one."""
        overlap = pairs["overlap"] if similarity.boundaries else (pairs["overlap"] * 0 + 1)
        if similarity.referents == "any":
            return overlap
        key = ["label", "referents", "referents_system"]
        kinds = pairs.filter(pl.col("overlap").is_not_null()).select(key)
        kinds = kinds.unique(maintain_order=True)
        values = [self._of_referents(similarity, *kind) for kind in kinds.iter_rows()]
        named = kinds.with_columns(value=pl.Series(values, dtype=pl.Float64))
        found = pairs.select(key).join(named, on=key, how="left", maintain_order="left")
        return overlap * found["value"]

    def _of_referents(self, similarity: Similarity, label: str, ours: str, theirs: str) -> float:
        """The similarity of the referents of two entities of a label."""
        if label in similarity.undefined:
            return float("nan")
        table = self.tables.get(similarity.mapped, {})
        sets = [
            frozenset(table.get(each, each) for each in side.split(SEPARATOR) if each)
            for side in (ours, theirs)
        ]
        if similarity.only:
            sets = [each & self.lists[similarity.only] for each in sets]
        graded = similarity.referents == "graded" and label not in self.labels.taxa
        compare = self.ontology.of_sets if graded else self.ontology.jaccard
        return compare(*sets)

    # Values from counts.

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all documents, a row per scoring in the order in which they are printed."""
        named = pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts]).select(COUNTS.keys())
        named = named.sort("document", maintain_order=True)
        kept, seen = [], set[tuple[str, str, str, str]]()
        for evaluation, scoring, keys in named.select("evaluation", "scoring", "keys").iter_rows():
            text, *referents = keys or ("",)
            forms = {(evaluation, scoring, text, referent) for referent in referents}
            kept.append(seen.isdisjoint(forms))
            seen |= forms if kept[-1] else set()
        added = _add(named.filter(pl.Series(kept, dtype=pl.Boolean)), ["evaluation", "scoring"])
        printed = [(each.name, one.name) for each in self.evaluations for one in each.scorings]
        schema = dict.fromkeys(("evaluation", "scoring"), pl.String)
        rows = pl.DataFrame(printed, schema=schema, orient="row")
        joined = rows.join(added, on=["evaluation", "scoring"], how="left", maintain_order="left")
        return joined.with_columns(pl.col(ADDED).fill_null(0))

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics of the main scoring, and the table `scorings` of all evaluations."""
        sums = {name: total[name].to_numpy() for name in ADDED}
        values = {name: plain(each) for name, each in self._measures(sums).items()}
        every = [(each.name, one) for each in self.evaluations for one in each.scorings]
        table = scorings(
            {
                "evaluation": evaluation,
                "scoring": one.name,
                "measure": measure,
                "value": values[measure][at],
            }
            for at, (evaluation, one) in enumerate(every)
            for measure in one.measures
        )
        metrics = {name: values[measure][0] for name, measure in self._metrics.items()}
        return metrics, {"scorings": table}

    @property
    def _metrics(self) -> Mapping[str, str]:
        """The measures that are metrics: given entities are paired by themselves."""
        alone = ("precision", "matches", "references")
        return {name: METRICS[name] for name in (alone if self.unit == "given" else METRICS)}

    def rates(self, matches: Numbers, predictions: Numbers, references: Numbers) -> Rates[Any]:
        """Precision, recall and F1."""
        return rates(matches, predictions, references)

    def substitutions(self, missed: Numbers) -> Numbers:
        """The substitutions, from what the pairs lack to full similarity."""
        return missed

    def _measures(self, sums: Mapping[str, Numbers]) -> dict[str, Numbers]:
        """Every measure, of a scoring or replicate each; not-a-number where it is undefined."""
        references, predictions, pairs, matched, missed = (sums[name] for name in ADDED)
        insertions, deletions = predictions - pairs, references - pairs
        precision, recall, f1 = self.rates(matched, predictions, references)
        ser = ratio(self.substitutions(missed) + insertions + deletions, references)
        return {
            "F1": f1,
            "Recall": recall,
            "Precision": precision,
            "SER": ser,
            "ISER": 1 / (ser + 1),
            "Predictions": predictions,
            "References": references,
            "Matches": matched,
            "Mismatches": missed,
            "Insertions": insertions,
            "Deletions": deletions,
        }

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of the main scoring by document."""
        main = self.evaluations[0]
        rows = counts.filter(evaluation=main.name, scoring=main.scorings[0].name)
        matrix = columns_of(_add(rows, ["document"]), ADDED, documents)
        return {name: matrix[:, at].astype(np.float64) for at, name in enumerate(ADDED)}

    def values_of(self, sums: Sums) -> Replicates:
        """The metrics of the main scoring."""
        values = self._measures(sums)
        return {name: values[m].astype(np.float64) for name, m in self._metrics.items()}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:  # noqa: ARG002
        """A note where referents cannot be compared by an ontology."""
        if self.unit == "relations" or self.ontology.parents is not None:
            return ()
        return ("Without --ontology, referents are right only if they are equal.",)

    def _align(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs of the main evaluation, and unpaired items, with the outcome of each."""
        similarity = self.evaluations[0].scorings[0].similarity
        rows = pairs.with_columns(similarity=self._similarity(pairs, similarity).fill_nan(0.0))
        rows = rows.sort("document", "row", "row_system", nulls_last=True)
        outcome = first_case(
            (pl.col("row").is_null(), "extra"),
            (pl.col("row_system").is_null(), "missing"),
            (pl.col("similarity") < 1, "partly correct"),
            otherwise="correct",
        )
        parts = {"item": "", "label": "_type", "text": "_text"}
        if self.unit != "relations":
            rows = rows.with_columns(pl.col("^referents.*$").str.replace_all(SEPARATOR, ", "))
            parts |= {name: f"_{name}" for name in ("referents", "start", "end")}
        columns = {
            f"{side}{shown}": f"{part}{ending}"
            for part, shown in parts.items()
            for side, ending in zip(("reference", "predicted"), _SIDES, strict=True)
        }
        similarity_column = pl.col("similarity").fill_null(0.0)
        return rows.select("document", **columns, similarity=similarity_column, outcome=outcome)


def _join_sides(
    ours: pl.DataFrame, theirs: pl.DataFrame, alike: pl.DataFrame, pairing: Pairing
) -> pl.DataFrame:
    """A row per pair, with its `overlap`, or per item that has no partner."""
    ours, theirs = (
        rows.filter(~pl.col("row").is_in(list(left_out)))
        for rows, left_out in zip((ours, theirs), pairing.left_out, strict=True)
    )
    named = theirs.rename({name: f"{name}_system" for name in theirs.columns if name != "document"})
    pairs = pairing.pairs.select("row", "row_system").join(
        alike.select("row", "row_system", "overlap"), on=["row", "row_system"]
    )
    paired = ours.join(pairs, on="row", how="left", maintain_order="left")
    paired = paired.join(named.drop("document"), on="row_system", how="left", maintain_order="left")
    unpaired = named.join(pairs, on="row_system", how="anti", maintain_order="left")
    return pl.concat([paired, unpaired], how="diagonal")


def _add(counts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Counts added, as `ADDED`; similarities one after the other, in their order."""
    rows = counts.group_by(by, maintain_order=True).agg(
        pl.col("references", "predictions").sum(),
        similarities=pl.col("similarities").explode().drop_nulls(),
    )
    values = [np.array(each, dtype=np.float64) for each in rows["similarities"].to_list()]
    return rows.drop("similarities").with_columns(
        pairs=pl.Series([len(each) for each in values], dtype=pl.Int64),
        matched=pl.Series([_sum(each) for each in values], dtype=pl.Float64),
        missed=pl.Series([_sum(1 - each) for each in values], dtype=pl.Float64),
    )


def _sum(values: Numbers) -> float:
    """The sum of numbers, from the first to the last."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0
