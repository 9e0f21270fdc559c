"""LoReHLT 2019 situation frames: nDCG, its variant with sentiments, and all diagnostic metrics.

Section 16.3 of the plan, step by step: situations by gravity (nDCG, precision at N), frames within
situations (mean average precision, macro-averaged recall), frames of documents (curves, F1), and
sentiments. The statistics are the frames themselves, since situations run through all documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import polars as pl
import polars.selectors as cs

from hlteval.findings import Finding
from hlteval.representation import Corpus, first_case
from hlteval.scoring.metric import IntervalMethod, Metric, Replicates, Tables, Weights, scorings
from hlteval.scoring.situations.lorehlt.frame_rows import (
    AS_TEXTS,
    MENTION,
    NUMBER,
    conform,
    frame_rows,
    in_order,
    total,
    unknown_names,
)
from hlteval.scoring.situations.lorehlt.frames import GRAVE
from hlteval.scoring.situations.lorehlt.official import OfficialScores
from hlteval.scoring.situations.lorehlt.plan import FAMILIES, RANKINGS, Scores, distribution
from hlteval.scoring.situations.lorehlt.ranking import TIE_BREAKS, Ranking, RankingOptions, shares
from hlteval.scoring.situations.plan import score_rows

#: The scores of each profile.
SCORES: Mapping[str, type[Scores]] = {"plan": Scores, "official": OfficialScores}
Values = dict[str, float | None]


@dataclass(frozen=True)
class SituationRanking(Metric):
    """How situation frames are scored in a profile.

    Attributes:
        options: what was chosen.
        families: the metrics that are computed, by the first part of their names; all if empty.
    """

    document_column: ClassVar[str] = "docid"

    options: RankingOptions = field(default_factory=RankingOptions)
    families: tuple[str, ...] = ()
    _kept: dict[int, tuple[pl.DataFrame, Scores]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def statistics(
        self,
        reference: Corpus,
        system: Corpus,
        *,
        alignment: bool = True,  # noqa: ARG002
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The frames and sentiments of a batch of documents.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
            >>> frame |= {"label": "food", "place_kb": "17", "urgent": "true", "confidence": 0.5}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}], frames=[frame])
            >>> metric = SituationRanking()
            >>> rows, _ = metric.statistics(corpus, corpus)
            >>> metric.score(metric.total([rows]))[0]["ndcg.standard"]
            1.0
        """
        annotated = reference.documents["name"]
        is_scored = SCORES[self.profile].scored_documents(annotated, self.options)
        sides = [
            in_order(frame_rows(corpus, system=side)).with_columns(scored=is_scored)
            for corpus, side in ((reference, False), (system, True))
        ]
        return pl.concat(sides), None

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The names of the documents that are scored, sorted."""
        return super().documents(counts.filter("scored", pl.col("part") != MENTION))

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The rows of all batches, prepared for the profile."""
        return SCORES[self.profile].prepare(total(counts), self.options)

    def judge(self, counts: Sequence[pl.DataFrame]) -> Sequence[Finding]:
        """Find the names in files of options that the reference does not have."""
        rows = pl.concat([conform(pl.DataFrame()), *counts]).filter(~pl.col("system"))
        return [*unknown_names(self.options, rows)]

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        scored = self.scores(total)
        values = {
            f"{family}.{ending}": None if value is None or math.isnan(value) else value
            for family in FAMILIES
            if self._has(family)
            for ending, value in scored.values(family)
        }
        tables = {"scorings": scorings(_score_rows(values))}
        if not self.families and not scored.is_stopped:
            tables |= _tables(scored)
        return values, tables

    def _has(self, family: str) -> bool:
        if self.options.no_sec and family.startswith(("ndcg_sec", "sec_")):
            return False
        return not self.families or family in self.families

    def scores(self, total: pl.DataFrame) -> Scores:
        """Both sides, and what was computed of them; kept for the latest rows."""
        if id(total) not in self._kept:
            self._kept.clear()
            self._kept[id(total)] = (total, SCORES[self.profile](total, self.options))
        return self._kept[id(total)][1]

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Sentences about the values."""
        return tuple(self.scores(total).notes())

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of the public scorer; none in the profile `plan`."""
        return self.scores(total).files()

    @property
    def additive(self) -> bool:
        """Whether all families are computed from counts that add."""
        return bool(self.families) and {*self.families} <= {*SCORES[self.profile].additive}

    @property
    def interval_method(self) -> IntervalMethod:
        """The jackknife, also where counts add: few documents have most frames of a situation."""
        return "jackknife"

    def no_interval(self, name: str) -> str:
        """The top of a list changes too much without some documents to say anything."""
        return "the top of the list varies too much" if name.startswith("precision_at.") else ""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate: by weighted sums over documents where counts add.

        Of nDCG, the replicates are groups of one table, unless a document is in one twice.
        """
        rows = self.total([counts])
        scored = self.scores(rows)
        if self.additive:
            return scored.replicates(self.families, documents, weights)
        ranked = {*self.families} <= {*RANKINGS} and scored.is_divisible
        if not (self.families and ranked) or weights.max(initial=0) > 1:
            return super().replicates(rows, documents, weights)
        group, document = np.nonzero(weights)
        docid = pl.Series(documents, dtype=pl.String).gather(document)
        members = pl.DataFrame({"group": group, "docid": docid})
        return scored.grouped_ndcg(self.families, members, len(weights))

    def decompose(self, names: Iterable[str] | None = None) -> tuple[SituationRanking, ...]:
        """The metrics that give the named values: those whose counts add, and all others.

        Raises:
            ValueError: for an unknown name.
        """
        wanted = []
        for name in FAMILIES if names is None else names:
            family = name.partition(".")[0]
            if family not in FAMILIES:
                choices = ", ".join(FAMILIES)
                raise ValueError(f"unknown metric {name}; the first part is one of {choices}")
            if self._has(family) and family not in wanted:
                wanted.append(family)
        adding = {*SCORES[self.profile].additive}
        parts = [[f for f in wanted if (f in adding) is adds] for adds in (True, False)]
        return tuple(replace(self, families=tuple(part)) for part in parts if part)


# The tables of a scored submission: why its scores are what they are.


#: The titles of the evaluations by the first word of a family.
_TITLES = {
    "ndcg": "nDCG",
    "precision": "Precision at N",
    "map": "Situations",
    "mar": "Situations",
    "auc": "Frames",
    "frame": "Frames",
    "sec": "Sentiments",
}
_RANK = pl.int_range(1, pl.len() + 1)
_WITHOUT_MARK = cs.by_name("document", "place", require_all=False).str.strip_prefix(NUMBER)


def _score_rows(values: Mapping[str, float | None]) -> Iterator[Mapping[str, object]]:
    """The rows of the table `scorings`: one evaluation per title, a row per class or tie-break."""
    groups: dict[str, dict[str, Values]] = {title: {} for title in _TITLES.values()}
    for name, value in values.items():
        family, _, ending = name.partition(".")
        kind = family.partition("_")[0]
        of_list = kind in {"ndcg", "precision"}
        scoring, measure = (family, ending) if of_list else (ending, family)
        groups[_TITLES[kind]].setdefault(scoring, {})[measure] = value
    # curves have a class more than rates: all rows of a title have the same measures
    classes = groups["Frames"]
    if GRAVE in classes:
        classes[GRAVE] = dict.fromkeys(classes["type,place"]) | classes[GRAVE]
    for title, rows in groups.items():
        for scoring, measures in rows.items():
            yield from score_rows(title, scoring, measures)


def _tables(scored: Scores) -> Tables:
    """All other tables.

    - `situations`: each situation of either side, with its gravity, gain and rank, and its share of
      DCG;
    - `frames`: each frame as matched, missed or spurious, by type and place;
    - `ndcg`, `precision_at`: the value at every rank; `pr`: the points of the curves;
    - `sec`: the sentiments of each target;
    - `annotators`: those drawn; `annotation_draws`, `annotation_scores`: the scores of other draws.
    """
    ranking, matches = scored.main_ranking, scored.matches["type,place"]
    known, predicted = pl.col("weight").is_not_null(), matches.is_predicted
    outcome = first_case((known & predicted, "matched"), (known, "missed"), otherwise="spurious")
    frames = matches.rows.filter(known | predicted).rename({"docid": "document"})
    frames = frames.with_columns(AS_TEXTS)
    frames = frames.select("document", "type", "place", "confidence", "weight", outcome=outcome)
    points = {name: own.points for name, own in scored.matches.items()}
    curves = {
        name: pl.DataFrame(
            {"threshold": own.confidence, "precision": own.precision, "recall": own.recall}
        )
        for name, own in points.items()
    }
    ndcg = pl.DataFrame({ties: ranking.ndcg(ties) for ties in TIE_BREAKS})
    precisions = pl.DataFrame({"precision": ranking.precisions}, {"precision": pl.Float64})
    tables = {
        "situations": _situations(ranking),
        "frames": frames.sort("document", "type", "place").with_columns(_WITHOUT_MARK),
        "ndcg": ndcg.select(_RANK.alias("k"), pl.all()),
        "precision_at": precisions.select(_RANK.alias("n"), "precision"),
        "pr": _of_classes(curves).fill_nan(None),
    }
    if not scored.options.no_sec and scored.targets:
        targets = _of_classes(scored.targets).rename({"docid": "document"})
        tables["sec"] = targets.with_columns(AS_TEXTS)
    if scored.several:
        kind = first_case((pl.col("issue"), "issue"), otherwise="need")
        names = scored.choice.select(document="docid", kind=kind, annotator="chosen")
        tables["annotators"] = names.sort("document", "kind")
    if scored.options.draws:
        tables["annotation_draws"] = scored.draws()
        tables["annotation_scores"] = distribution(tables["annotation_draws"])
    return tables


def _of_classes(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The rows of the tables of all classes, with the name of each as `class`."""
    named = (rows.select(pl.lit(name).alias("class"), pl.all()) for name, rows in tables.items())
    return pl.concat(named)


def _situations(ranking: Ranking) -> pl.DataFrame:
    """Each situation of either side: gravity, gain and rank, and its share of DCG."""
    order = ranking.order("standard")
    dcg = pl.Series("dcg", shares(order["gain"].to_numpy(), ranking.discount), dtype=pl.Float64)
    gold, own = (
        table.select(
            "type",
            "place",
            _RANK.alias(f"{side}_rank"),
            pl.col("gravity", "frames").name.prefix(f"{side}_"),
            last,
        )
        for side, table, last in (("reference", ranking.reference, "gain"), ("system", order, dcg))
    )
    both = gold.join(own, on=["type", "place"], how="full", coalesce=True)
    both = both.sort("reference_rank", "system_rank", nulls_last=True)
    return both.with_columns(AS_TEXTS).with_columns(_WITHOUT_MARK)
