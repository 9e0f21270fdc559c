"""SeeDev as the official software measures it, and draws its bootstrap samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from hlteval.representation import Corpus, of_documents
from hlteval.scoring.ratios import Numbers, Whole, harmonic, ratio
from hlteval.scoring.seedev.event_pairs import UNIT
from hlteval.scoring.seedev.metric import ADDED, METRICS, EventMatch


@dataclass(frozen=True, kw_only=True)
class SoftwareMatch(EventMatch):
    """The metric of the official software: documents without reference do not count.

    It takes triggers as part of types, truncates the sum of mismatches, computes F1 from recall and
    precision (undefined where both are 0), and draws pairs of the main scoring, not documents.
    """

    @property
    def undefined(self) -> frozenset[str]:
        """F1 or SER, where the software does not print it."""
        return frozenset(name for name in ("f1", "ser") if METRICS[name] not in self.measures)

    @property
    def more_counts(self) -> Mapping[str, pl.Expr]:
        """The similarities of pairs."""
        return {"similarities": pl.col("weight").drop_nulls()}

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Both sides with triggers in the types of events; the system in known documents only."""
        known = reference.documents["name"]
        if not system.documents["name"].is_in(known.implode()).all():
            system = of_documents(system, known)
        return _triggers_in_types(reference), _triggers_in_types(system)

    def compute_measures(self, counts: Mapping[str, Whole]) -> dict[str, Numbers]:
        """Every measure, of a scoring or replicate each."""
        measures = super().compute_measures(counts)
        substitutions = (counts["pairs"] * UNIT - counts["matched"]) // UNIT
        errors = substitutions + measures["Insertions"] + measures["Deletions"]
        measures["SER"] = ratio(errors, counts["references"])
        measures["F1"] = harmonic(measures["Precision"], measures["Recall"])
        return measures

    @property
    def resampling_units(self) -> str:
        """The pairs that the software draws."""
        return "pairs"

    def units(self, counts: pl.DataFrame) -> pl.DataFrame:
        """The pairs of the main scoring by similarity, and what is unpaired on either side."""
        main = self.main_scoring(counts)
        similarities = main.select(matched=pl.col("similarities").explode()).drop_nulls()
        paired = similarities.group_by("matched").agg(times=pl.len().cast(pl.Int64)).sort("matched")
        references, predictions, pairs = (int(main[name].sum()) for name in ADDED[:3])
        rows = [
            ("deletion", 1, 0, 0, 0, references - pairs),
            ("insertion", 0, 1, 0, 0, predictions - pairs),
            *((f"pair {similarity}", 1, 1, 1, similarity, n) for similarity, n in paired.rows()),
        ]
        schema = {"document": pl.String, **dict.fromkeys((*ADDED, "times"), pl.Int64)}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        return table.join(main.select("evaluation", "scoring").head(1), how="cross")


def _triggers_in_types(corpus: Corpus) -> Corpus:
    """A corpus whose events have their triggers in their types."""
    if corpus.frames["trigger"].null_count() == corpus.frames.height:
        return corpus
    label = pl.concat_str("label", "trigger", separator=":", ignore_nulls=True)
    return corpus.replace(frames=corpus.frames.with_columns(label=label))
