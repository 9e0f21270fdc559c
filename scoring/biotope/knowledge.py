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
from hlteval.scoring.biotope.annotations import SCHEMES, ReferentOntology, referents, relations
from hlteval.scoring.metric import Metric, Tables, scorings
from hlteval.scoring.pairings import of_distinct, side_by_side, with_names, with_outcomes

FACT, SIDES = ("taxon", "concept"), ("reference", "system")
COUNTS: Mapping[str, Any] = dict.fromkeys(("document", "side", *FACT), pl.String)


@dataclass(frozen=True, kw_only=True)
class KnowledgeBase(Metric):
    """How knowledge bases are compared.

    Attributes:
        roles: of relations: of the microorganism, and of the other argument.
        own_entities: whether systems find the arguments of relations themselves.
        ontology: of habitats and phenotypes.
    """

    roles: tuple[str, ...]
    own_entities: bool = False
    ontology: ReferentOntology = field(default_factory=ReferentOntology)

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
        both = relations(reference, given, system, self.roles)
        facts = pl.concat(map(_facts, both, (reference, system), SIDES))
        counts = with_names(facts, reference, system).select(COUNTS.keys())
        return counts, self._align(counts) if alignment else None

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Return what is compared of two corpora with the same documents."""
        return reference, system

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The facts of all documents, each once, in the order of these."""
        every = pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])
        every = every.sort("document", maintain_order=True)
        return every.unique(["side", *FACT], keep="first", maintain_order=True)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The metrics, and the table `scorings`."""
        ours, theirs, pairs = self._pair(total, FACT[:1])
        found: list[list[float]] = [[] for _ in range(ours.height)]
        for row, similarity in pairs.select("row", "similarity").iter_rows():
            found[row].append(similarity)
        means = [sum(each) / len(each) if each else 0.0 for each in found]
        values: dict[str, float | None] = {
            "mean-references": sum(means) / len(means) if means else None,
            "predictions": theirs.height,
            "deletions": found.count([]),
            "references": ours.height,
        }
        place = {"evaluation": "Standard pairing", "scoring": "Standard scoring"}
        names = ("mean-references", "Predictions", "False Negatives")
        rows = zip(names, values.values(), strict=False)
        table = scorings({**place, "measure": name, "value": value} for name, value in rows)
        return values, {"scorings": table}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:  # noqa: ARG002
        """A note where referents cannot be compared by an ontology."""
        return self.ontology.notes

    def in_order(self, facts: pl.DataFrame) -> pl.DataFrame:
        """The facts in the order in which the first of equally similar ones counts."""
        return facts.sort(FACT, maintain_order=True)

    def _pair(
        self, facts: pl.DataFrame, by: Sequence[str]
    ) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Each fact of a system with the most similar one of the reference, if there is one.

        Args:
            facts: those of both sides, as `COUNTS`.
            by: the columns that are equal.

        Returns:
            The facts of the reference and of the system, each with its `row`; and of the pairs
            `row`, `row_system`, and the `similarity`, in the order of the facts of the system.
        """
        ours, theirs = (facts.filter(side=side).with_row_index("row") for side in SIDES)
        first, second = map(self.in_order, (ours, theirs))
        pairs = second.join(first, on=by, suffix="_reference", maintain_order="left_right")
        concepts = ("concept_reference", "concept")
        similarity = of_distinct(pairs, concepts, self.ontology.similarity)
        pairs = pairs.with_columns(similarity=similarity).filter(pl.col("similarity") > 0)
        best = pairs.filter(pl.col("similarity") == pl.col("similarity").max().over("row"))
        pairs = best.unique("row", keep="first", maintain_order=True)
        return ours, theirs, pairs.select("similarity", row="row_reference", row_system="row")

    def _align(self, counts: pl.DataFrame) -> pl.DataFrame:
        """The facts of each document, those of the system with the most similar ones."""
        rows = side_by_side(*self._pair(counts, ("document", "taxon")))
        sides = {"reference": FACT, "predicted": [f"{part}_system" for part in FACT]}
        names = {side: pl.format("{} {}", *parts) for side, parts in sides.items()}
        rows = rows.sort("document", maintain_order=True)
        return with_outcomes(rows.select("document", **names, similarity="similarity"))


def _facts(rows: pl.DataFrame, corpus: Corpus, side: str) -> pl.DataFrame:
    """The facts of the relations of a side, as `COUNTS`, in the order in which they are taken."""
    named = referents(corpus).unique(maintain_order=True)
    parts = zip(FACT, ("target", "target_second"), SCHEMES, strict=True)
    for name, target, scheme in parts:
        own = named.filter(scheme=scheme).select("document", **{target: "target", name: "referent"})
        rows = rows.join(own, on=["document", target], maintain_order="left")
    rows = rows.sort("document", pl.col("label") != "Lives_In", "row", maintain_order=True)
    return rows.select("document", *FACT, side=pl.lit(side)).unique(maintain_order=True)
