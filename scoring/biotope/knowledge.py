"""Knowledge bases: which microorganisms live where, and what they exhibit, over all documents.

Relations become pairs of identifiers, each there once: a taxon, and a habitat or phenotype. Every
pair of a system goes to the reference pair of its taxon that is most similar; a reference pair has
the mean similarity of those that go to it, 0 without any, and the score is the mean over these.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from hlteval.representation import Corpus, align, without_mentions
from hlteval.scoring.biotope.entities import ONTOLOGY, TAXONOMY
from hlteval.scoring.biotope.referents import Ontology
from hlteval.scoring.biotope.relations import Roles, relations
from hlteval.scoring.metric import Metric, scorings

#: A taxon, and what it lives in or exhibits.
Fact = tuple[str, str]

COUNTS: Mapping[str, Any] = dict.fromkeys(("document", "side", "taxon", "concept"), pl.String)
_ALIGNED = {
    **dict.fromkeys(("document", "reference", "predicted"), pl.String),
    "similarity": pl.Float64,
    "outcome": pl.String,
}


@dataclass(frozen=True, kw_only=True)
class KnowledgeBase(Metric):
    """How knowledge bases are compared.

    Attributes:
        roles: of the arguments of relations.
        own_entities: whether systems find the arguments of relations themselves.
        ontology: of habitats and phenotypes.
    """

    roles: Roles
    own_entities: bool = False
    ontology: Ontology = field(default_factory=Ontology)

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The facts of a batch of documents, and those of each document aligned.

        Returns:
            Counts, as `COUNTS`; and the alignment, a row per fact of a document and side: a
            knowledge base has no documents, so that this only shows where a fact may come from.
        """
        reference, system = self.prepare(*align(reference, system))
        given = without_mentions(reference, ".a2") if self.own_entities else reference
        sides = (("reference", reference, reference), ("system", system, given))
        names = pl.concat([reference.documents, system.documents]).select("row", "name").unique()
        rows = [self._facts(corpus, of).with_columns(side=pl.lit(s)) for s, corpus, of in sides]
        facts = pl.concat(rows).join(
            names, left_on="document", right_on="row", maintain_order="left"
        )
        counts = facts.select(**{**dict(zip(COUNTS, COUNTS, strict=True)), "document": "name"})
        return counts, self._align(counts) if alignment else None

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Return what is compared of two corpora with the same documents."""
        return reference, system

    def _facts(self, corpus: Corpus, given: Corpus) -> pl.DataFrame:
        """The facts of a corpus: `document`, `taxon`, `concept`."""
        rows = relations(corpus, given, self.roles)
        for name, target, scheme in (
            ("taxon", "target", TAXONOMY),
            ("concept", "target_second", ONTOLOGY),
        ):
            values = corpus.modifiers.filter(label=scheme).drop_nulls("value")
            values = values.select("document", pl.col("value").alias(name), target="target")
            values = values.rename({"target": "of"}).unique(maintain_order=True)
            rows = rows.join(
                values,
                left_on=["document", target],
                right_on=["document", "of"],
                maintain_order="left",
            )
        order = pl.col("label") != "Lives_In"
        rows = rows.sort("document", order, "row", maintain_order=True)
        return rows.select("document", "taxon", "concept").unique(maintain_order=True)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The facts of all documents, each once, in the order of these."""
        every = pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])
        every = every.sort("document", maintain_order=True)
        return every.unique(["side", "taxon", "concept"], keep="first", maintain_order=True)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics, and the table `scorings`."""
        ours, theirs = (
            list(total.filter(side=side).select("taxon", "concept").iter_rows())
            for side in ("reference", "system")
        )
        found: dict[Fact, list[float]] = {fact: [] for fact in ours}
        for _, fact, similarity in self._partners(ours, theirs):
            if fact is not None:
                found[fact].append(similarity)
        means = [sum(values) / len(values) if values else 0.0 for values in found.values()]
        metrics: dict[str, float | None] = {
            "mean-references": sum(means) / len(means) if means else None,
            "predictions": len(theirs),
            "deletions": sum(not values for values in found.values()),
            "references": len(ours),
        }
        printed = ("mean-references", "Predictions", "False Negatives")
        place = {"evaluation": "Standard pairing", "scoring": "Standard scoring"}
        rows = [
            {**place, "measure": measure, "value": value}
            for measure, value in zip(printed, metrics.values(), strict=False)
        ]
        return metrics, {"scorings": scorings(rows)}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:  # noqa: ARG002
        """A note where referents cannot be compared by an ontology."""
        if self.ontology.parents is not None:
            return ()
        return ("Without --ontology, referents are right only if they are equal.",)

    def in_order(self, facts: Iterable[Fact]) -> Sequence[Fact]:
        """The facts in the order in which the first of equally similar ones counts."""
        return sorted(facts)

    def _partners(
        self, ours: Sequence[Fact], theirs: Sequence[Fact]
    ) -> Iterable[tuple[Fact, Fact | None, float]]:
        """Each fact of a system with the most similar one of the reference, and how similar."""
        by_taxon: dict[str, list[Fact]] = {}
        for fact in self.in_order(ours):
            by_taxon.setdefault(fact[0], []).append(fact)
        for fact in self.in_order(theirs):
            candidates = by_taxon.get(fact[0], [])
            # one fact is a set of one: what unknown identifiers are similar to is 0
            values = [
                self.ontology.of_sets(frozenset({each[1]}), frozenset({fact[1]}))
                for each in candidates
            ]
            best = max(values, default=0.0)
            yield fact, candidates[values.index(best)] if best > 0 else None, best

    def _align(self, counts: pl.DataFrame) -> pl.DataFrame:
        """The facts of each document, those of the system with the most similar ones."""
        rows: list[tuple[Any, ...]] = []
        for (document,), facts in counts.group_by("document", maintain_order=True):
            ours, theirs = (
                list(facts.filter(side=side).select("taxon", "concept").iter_rows())
                for side in ("reference", "system")
            )
            met: set[Fact] = set()
            for fact, partner, similarity in self._partners(ours, theirs):
                met |= {partner} if partner else set()
                outcome = "partly correct" if similarity < 1 else "correct"
                shown = None if partner is None else " ".join(partner)
                rows.append(
                    (document, shown, " ".join(fact), similarity, outcome if partner else "extra")
                )
            rows += [
                (document, " ".join(fact), None, 0.0, "missing") for fact in ours if fact not in met
            ]
        return pl.DataFrame(rows, schema=_ALIGNED, orient="row")
