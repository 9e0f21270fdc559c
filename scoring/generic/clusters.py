"""Coreference: MUC, B³, both CEAF, BLANC, LEA and the average of CoNLL, over clusters of mentions.

Mentions are spans of a document, the same on both sides if their offsets are, or if they match as
the options say (`match_spans`); entities are sets of mentions. With k and r, entities of reference
and system, numerators and denominators are summed over entities and documents, then divided once:

    MUC     links kept, Σ (|k| - parts of k in the system), by Σ (|k| - 1)
    B³      Σ |k ∩ r|² / |k| over pairs, by Σ |k|
    CEAFm   Σ |k ∩ r| over the best one-to-one alignment, by Σ |k|
    CEAFe   Σ 2 |k ∩ r| / (|k| + |r|) over the best one-to-one alignment, by the number of entities
    BLANC   mean of coreference links and other links, of each the share that is right
    LEA     Σ |k| · share of the links of k that the system has, by Σ |k|

Precision is recall with sides swapped. The average of CoNLL is the mean F1 of MUC, B³ and CEAFe.

Conventions:
    Counts are a row per document; they add. A measure without anything to divide by is undefined;
    the average is then that of the others. A mention in several entities is in the first of them. A
    mention without an entity is one of its own, unless a group of its document has it.

References:
    Vilain et al. 1995, Bagga and Baldwin 1998, Luo 2005, Luo et al. 2014, Moosavi and Strube 2016,
    Pradhan et al. 2014.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus, first_case
from hlteval.scoring import clusterings
from hlteval.scoring.clusterings import Clusterings
from hlteval.scoring.matching import first_free
from hlteval.scoring.metric import AdditiveMetric, Replicates, Sums, Tables, columns_of, scorings
from hlteval.scoring.ratios import Rates, harmonic, plain, ratio

#: The measures of clusterings, by name, and those of links.
_CLUSTERS = ("muc", "b_cubed", "entity_ceaf", "mention_ceaf", "lea")
_LINKS: Mapping[str, str] = {"linked": "pairwise", "unlinked": "pairwise_negative"}
#: The measures in the order of the table `scorings`; the average is of the first three.
MEASURES = ("muc", "b_cubed", "entity_ceaf", "mention_ceaf", "blanc", "lea")
AVERAGE, AVERAGED = "conll_average", MEASURES[:3]
RATES = ("recall", "precision", "f1")
#: The parts of recall and precision: numerators and denominators.
PARTS = ("rtp", "r_den", "ptp", "p_den")
ADDED = tuple(f"{name}.{part}" for name in (*_CLUSTERS, *_LINKS) for part in PARTS)
#: What else is counted of a document: mentions of the system in several entities.
REPEATED = "repeated"
COUNTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    **dict.fromkeys(ADDED, pl.Float64),
    REPEATED: pl.Float64,
}
#: The columns of memberships.
_MEMBER = ("item", "cluster")


@dataclass(frozen=True)
class Options:
    """Entities and measures.

    Attributes:
        span: whether mentions of both sides are the same by their offsets, by their heads, or if
            that of the system is a part of the other with its head; a head is the last word.
        singletons: whether entities of one mention are kept, or removed on both sides.
        measures: what is computed, of `MEASURES` and `AVERAGE`.
    """

    span: Literal["exact", "head", "partial"] = "exact"
    singletons: Literal["keep", "remove"] = "keep"
    measures: tuple[str, ...] = (*MEASURES, AVERAGE)


@dataclass(frozen=True)
class Coreference(AdditiveMetric):
    """How coreference is scored.

    Attributes:
        options: what is compared.
    """

    options: Options = field(default_factory=Options)

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch by document, and the mentions of both sides.

        Examples:
            >>> place = {"document": 0, "origin": 0, "record": 1, "mention": "", "label": ""}
            >>> sides = [
            ...     Corpus(
            ...         documents=[{"row": 0, "name": "d"}],
            ...         mentions=[
            ...             {**place, "row": at, "start": at, "end": at + 1, "entity": entity}
            ...             for at, entity in enumerate(entities)
            ...         ],
            ...     )
            ...     for entities in ("aab", "aaa")
            ... ]
            >>> metric = Coreference()
            >>> counts, _ = metric.statistics(*sides)
            >>> values, _ = metric.score(metric.total([counts]))
            >>> values["muc.recall"], values["muc.precision"]
            (1.0, 0.5)
        """
        names = pl.concat([corpus.documents["name"] for corpus in (reference, system)])
        documents = names.unique(maintain_order=True)
        sides = [self._mentions(corpus) for corpus in (reference, system)]
        if self.options.span != "exact":
            sides[1] = match_spans(*sides, within=self.options.span == "partial")
        numbered = _memberships(documents, sides)
        both = self.clusterings(*numbered)
        tables = {name: self.count(both, name) for name in self.parts}
        groups = pl.DataFrame({"document": documents}).with_row_index("group")
        counts = groups.cast({"group": pl.Int64})
        for name, table in tables.items():
            parts = table.collect(engine="in-memory").rename({p: f"{name}.{p}" for p in PARTS})
            counts = counts.join(parts, on="group", how="left", maintain_order="left")
        extra = numbered[1].group_by("group").agg(pl.len().cast(pl.Int64).alias(REPEATED))
        kept = both.system.group_by("group").agg(pl.len().cast(pl.Int64).alias("kept"))
        extra = extra.join(kept, on="group", how="left").select(
            "group", pl.col(REPEATED) - pl.col("kept").fill_null(0)
        )
        counts = counts.join(extra, on="group", how="left", maintain_order="left")
        lacking = [pl.lit(0.0).alias(name) for name in COUNTS if name not in counts.columns]
        counts = counts.with_columns(lacking).select(*COUNTS).fill_null(0)
        rows = align_mentions(both, numbered, documents) if alignment else None
        return counts.cast(dict(COUNTS)), rows  # type: ignore[arg-type]

    @property
    def parts(self) -> list[str]:
        """The measures of clusterings that are counted, and the kinds of links."""
        wanted = {*self.options.measures, *(AVERAGED if AVERAGE in self.options.measures else ())}
        links = _LINKS if "blanc" in wanted else {}
        return [*(name for name in _CLUSTERS if name in wanted), *links]

    def count(self, both: Clusterings, name: str) -> pl.LazyFrame:
        """The counts of a measure, or of a kind of links, by document."""
        return clusterings.MEASURES[_LINKS.get(name, name)](both)

    def _mentions(self, corpus: Corpus) -> pl.DataFrame:
        """The mentions of a corpus with their entities, without singletons if so declared.

        Returns:
            `name` of the document, `start`, `end`, `entity`, in the order of the mentions.
        """
        names = corpus.documents.select("name", document="row")
        rows = corpus.mentions.select("row", "document", "mention", "start", "end", "entity")
        rows = rows.join(names, on="document", how="left", maintain_order="left")
        if not corpus.groups.is_empty():
            members = corpus.groups.select("document", "group", mention="member")
            members = members.unique(("document", "mention"), keep="first", maintain_order=True)
            rows = rows.join(members, on=("document", "mention"), how="left", maintain_order="left")
            rows = rows.with_columns(entity=pl.coalesce("entity", "group"))
        own = pl.format("\x1f{}", "row")  # no entity is called so
        rows = rows.select("name", "start", "end", pl.col("entity").fill_null(own))
        if self.options.singletons == "remove":
            spans = pl.struct("start", "end").n_unique().over("name", "entity")
            rows = rows.filter(spans > 1)
        return rows

    def clusterings(self, reference: pl.DataFrame, system: pl.DataFrame) -> Clusterings:
        """The clusterings that are compared, of all memberships: a mention is in one entity."""
        ours, theirs = (
            rows.unique("item", keep="first", maintain_order=True) for rows in (reference, system)
        )
        return Clusterings(ours, theirs)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The sums of the counts of all documents, in one row."""
        rows = pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])
        # rounded once, so that sums of fractions do not depend on the order of documents
        sums = {name: [math.fsum(rows[name])] for name in COUNTS if name != "document"}
        return pl.DataFrame(sums)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """Recall, precision and F1 of each measure, and the table `scorings`."""
        values = self.values_of({"": total.select(*ADDED, REPEATED).to_numpy()})
        metrics = {name: plain(value)[0] for name, value in values.items()}
        rows = [
            {"evaluation": "Coreference", "scoring": measure, "measure": rate, "value": value}
            for measure in self.options.measures
            for rate in RATES
            for value in [metrics.get(f"{measure}.{rate}")]
        ]
        return metrics, {"scorings": scorings(rows)}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Which mentions are left out, and what the average is of."""
        notes = []
        if repeated := int(total[REPEATED].item()):
            mentions = count_of(repeated, "mention")
            notes.append(f"{mentions} of the system in a further entity: only the first counts")
        values = self.score(total)[0]
        if AVERAGE in self.options.measures:
            defined = [name for name in AVERAGED if self._f1(total, name) is not None]
            if defined and len(defined) < len(AVERAGED) and values[f"{AVERAGE}.f1"] is not None:
                notes.append(f"{AVERAGE} is that of {' and '.join(defined)}: the rest is undefined")
        return tuple(notes)

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `confusion`: how many mentions entities of both sides have in common.

        An entity that is divided has several rows, as has one that joins others; mentions that one
        side lacks have no entity there.
        """
        pairs = aligned.group_by("document", "reference", "system", "aligned")
        counts = pairs.agg(count=pl.len().cast(pl.Int64))
        return {"confusion": counts.sort("document", "reference", "system", nulls_last=True)}, {}

    def _f1(self, total: pl.DataFrame, name: str) -> float | None:
        """The F1 of a measure."""
        added = {column: total[column].to_numpy() for column in ADDED}
        return plain(self.rates(_parts(added, name)).f1)[0]

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of each document."""
        return {"": columns_of(counts, (*ADDED, REPEATED), documents)}

    def values_of(self, sums: Sums) -> Replicates:
        """Recall, precision and F1 of sums."""
        added = dict(zip((*ADDED, REPEATED), sums[""].T, strict=True))
        values: Replicates = {}
        scores = {name: self.rates(_parts(added, name)) for name in self.parts}
        if "blanc" in self.options.measures:
            scores["blanc"] = self.blanc(*(_parts(added, kind) for kind in _LINKS))
        for name in self.options.measures:
            if name != AVERAGE:
                values |= {f"{name}.{rate}": getattr(scores[name], rate) for rate in RATES}
        if AVERAGE in self.options.measures:
            f1 = np.array([scores[name].f1 for name in AVERAGED])
            values[f"{AVERAGE}.f1"] = self.average(f1)
        return values

    def average(self, f1: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of the F1 that are defined, over the first axis."""
        known = ~np.isnan(f1)
        return ratio(np.where(known, f1, 0.0).sum(axis=0), known.sum(axis=0))

    def rates(self, parts: Mapping[str, NDArray[np.float64]]) -> Rates[NDArray[np.float64]]:
        """Precision, recall and F1 of numerators and denominators; undefined without any.

        F1 is undefined only if neither side has anything.
        """
        precision = ratio(parts["ptp"], parts["p_den"])
        recall = ratio(parts["rtp"], parts["r_den"])
        f1 = np.nan_to_num(harmonic(precision, recall))
        nothing = (parts["p_den"] == 0) & (parts["r_den"] == 0)
        return Rates(precision, recall, np.where(nothing, np.nan, f1))

    def blanc(
        self, linked: Mapping[str, NDArray[np.float64]], unlinked: Mapping[str, NDArray[np.float64]]
    ) -> Rates[NDArray[np.float64]]:
        """BLANC of both kinds of links: the mean of those of which the reference has any."""
        kinds = (linked, unlinked)
        known = np.array([parts["r_den"] > 0 for parts in kinds])
        scores = [self.rates(parts) for parts in kinds]
        means = []
        for each in zip(*scores, strict=True):
            values = np.where(known, np.nan_to_num(np.array(each)), 0.0)
            means.append(ratio(values.sum(axis=0), known.sum(axis=0)))
        return Rates(*means)


def _parts(added: Mapping[str, NDArray[np.float64]], name: str) -> dict[str, NDArray[np.float64]]:
    """The numerators and denominators of a measure."""
    return {part: added[f"{name}.{part}"] for part in PARTS}


def _memberships(documents: pl.Series, sides: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """Memberships as numbers, as of `Clusterings`, with `start`, `end` and `entity`.

    Args:
        documents: the names of the documents; their places are the groups.
        sides: the mentions of both sides.
    """
    groups = pl.DataFrame({"name": documents}, schema={"name": pl.String})
    groups = groups.with_columns(group=pl.int_range(pl.len(), dtype=pl.Int64))
    placed = [side.join(groups, on="name", how="left", maintain_order="left") for side in sides]
    heights = [side.height for side in placed]
    both = pl.concat(placed).with_columns(
        item=pl.struct("group", "start", "end").rank("dense").cast(pl.Int64),
        cluster=pl.struct("group", "entity").rank("dense").cast(pl.Int64),
        weight=pl.lit(1, pl.Int64),
        nameless=pl.lit(value=False),
    )
    columns = ("group", "item", "cluster", "weight", "nameless", "start", "end", "entity")
    rows = both.select(*columns, order=pl.int_range(pl.len(), dtype=pl.Int64))
    return [rows.head(heights[0]), rows.tail(heights[1])]


def match_spans(reference: pl.DataFrame, system: pl.DataFrame, *, within: bool) -> pl.DataFrame:
    """The mentions of the system with the spans of those of the reference that have their heads.

    Each goes with one at most: first with its own span, then with that of the least difference; of
    equal ones with the first.

    Args:
        reference: mentions: `name` of the document, `start`, `end`, `entity`.
        system: the same of the system.
        within: whether they must lie within those of the reference.

    Examples:
        >>> sides = [pl.DataFrame({"name": "d", "start": [n], "end": [9]}) for n in (2, 4)]
        >>> match_spans(*sides, within=True)["start"].to_list()
        [2]
    """
    key = ("name", "start", "end")
    ours, theirs = (side.select(key).unique(maintain_order=True) for side in (reference, system))
    left, right = ours.join(theirs, on=key, how="anti"), theirs.join(ours, on=key, how="anti")
    pairs = left.with_row_index("left").join(right.with_row_index("right"), on=("name", "end"))
    difference = pl.col("start_right") - pl.col("start")
    if within:
        pairs = pairs.filter(difference > 0)
    pairs = pairs.sort("name", difference.abs(), "start", "end", "start_right")
    chosen = first_free(pairs["left"].to_numpy(), pairs["right"].to_numpy())
    found = pairs.filter(chosen).select("name", "end", start="start_right", matched="start")
    placed = system.join(found, on=key, how="left", maintain_order="left")
    return placed.with_columns(start=pl.coalesce("matched", "start")).drop("matched")


def align_mentions(
    both: Clusterings, sides: Sequence[pl.DataFrame], documents: pl.Series
) -> pl.DataFrame:
    """The mentions of both sides, with what entities are aligned.

    Args:
        both: the clusterings that are compared.
        sides: the memberships of both sides, with their spans and entities.
        documents: the names of the groups.

    Returns:
        `document`, `start`, `end`, `reference` and `system` (entities; null on a side that lacks
        the mention), `aligned` (the entity of the reference that CEAFe aligns that of the system
        with), `outcome`.
    """
    pairs = both.intersections(both.reference, both.system)
    weights = clusterings.dice(pairs, *both.sizes)
    aligned = clusterings.best_alignment(weights, "weight").collect()
    names = pl.concat(sides).select("cluster", "entity").unique("cluster")
    entities = aligned.select("cluster", other="other").join(names, on="cluster")
    ours, theirs = (
        part.select("item", "cluster").join(side, on=("item", "cluster"), how="left")
        for part, side in zip((both.reference, both.system), sides, strict=True)
    )
    ours, theirs = (each.unique("item", keep="first") for each in (ours, theirs))
    theirs = theirs.join(
        entities.select(cluster="other", aligned="entity"), on="cluster", how="left"
    )
    place = ("group", "item", "start", "end")
    rows = ours.select(*place, reference="entity").join(
        theirs.select(*place, "aligned", system="entity"), on=place, how="full", coalesce=True
    )
    outcome = first_case(
        (pl.col("system").is_null(), "missing"),
        (pl.col("reference").is_null(), "extra"),
        (pl.col("aligned").ne_missing(pl.col("reference")), "wrong label"),
        otherwise="correct",
    )
    ordered = rows.sort("group", "start", "end").with_columns(outcome=outcome)
    name = documents.gather(ordered["group"])
    columns = ("start", "end", "reference", "system", "aligned", "outcome")
    return ordered.with_columns(document=name).select("document", *columns)
