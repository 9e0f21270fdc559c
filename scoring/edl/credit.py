"""Credit of pairs that agree but for one field: weights of types, and similarity of identifiers.

The identifiers of a linked mention are its entity and all others that it is linked to; `a|b` is
two. A mention whose entity is NIL has none: it is like another one without any, and like nothing
else. Similarities are whole numbers of units, so that their sums do not depend on the order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from hlteval.scoring.edl.annotations import NIL
from hlteval.scoring.edl.measures import Measure
from hlteval.scoring.ontologies import Ontology, jaccard
from hlteval.scoring.pairings import of_distinct

#: Units of a pair that is right in full.
UNIT = 2**32
#: Between the identifiers of a mention, which are sorted and there once.
SEPARATOR = "\x1f"
SPAN = ("docid", "start", "end")
#: The most links of a span and side that are compared one by one.
_MOST = 20


@dataclass(frozen=True)
class PairWeights(ABC):
    """Weights of pairs of values of a field, for keys that are equal in all else."""

    #: The field, and the column of annotations that has its values.
    field: ClassVar[str]
    column: ClassVar[str]
    #: The fields that keys have which are compared by these weights.
    needed: ClassVar[frozenset[str]]

    @abstractmethod
    def weight(self, ours: str, theirs: str) -> float:
        """The weight of a value of the reference and one of the system, from 0 to 1."""

    def apply_to(self, measure: Measure) -> bool:
        """Whether keys of a measure are compared by these weights."""
        return self.needed <= {*measure.key}

    def of(self, ours: pl.Series, theirs: pl.Series) -> pl.Series:
        """The weights of pairs of values; no value is only like no value."""
        pairs = pl.DataFrame([ours.alias("ours"), theirs.alias("theirs")])
        weights = of_distinct(pairs, pairs.columns, self.weight)
        equal = pl.col("ours").eq_missing(pl.col("theirs")).cast(pl.Float64)
        return pairs.select(weight=pl.coalesce(weights, equal)).to_series()


@dataclass(frozen=True)
class TypeWeights(PairWeights):
    """Weights of pairs of types.

    Attributes:
        weights: by the types of reference and system; without one, equal types count 1.
    """

    field: ClassVar = "type"
    column: ClassVar = "type"
    needed: ClassVar = frozenset({"type"})

    weights: Mapping[tuple[str, str], float]

    def weight(self, ours: str, theirs: str) -> float:
        """The weight of a pair of types."""
        return self.weights.get((ours, theirs), float(ours == theirs))


@dataclass(frozen=True)
class IdentifierWeights(PairWeights):
    """Weights of links of one span: the similarity of their identifiers.

    Attributes:
        ontology: of the identifiers; None where they are compared as sets.

    Examples:
        >>> ours, theirs = pl.Series(["1", None, None]), pl.Series([f"1{SEPARATOR}2", None, "1"])
        >>> IdentifierWeights().of(ours, theirs).to_list()
        [0.5, 1.0, 0.0]
    """

    field: ClassVar = "kbid"
    column: ClassVar = "identifiers"
    needed: ClassVar = frozenset({"span", "kbid"})

    ontology: Ontology | None = None

    def weight(self, ours: str, theirs: str) -> float:
        """The similarity of the identifiers of two mentions, in whole units."""
        one, two = (frozenset(side.split(SEPARATOR)) for side in (ours, theirs))
        similarity = (self.ontology.of_sets if self.ontology else jaccard)(one, two)
        return round(similarity * UNIT) / UNIT

    def notes(self, best: pl.DataFrame, table: pl.DataFrame) -> Iterator[str]:
        """Say which links have no credit: of how many spans, and identifiers of either side.

        Args:
            best: annotations of both sides, `with_identifiers`.
            table: the same with all of their candidates.
        """
        if crowded := best.filter("crowded").n_unique(SPAN):
            spans = "1 span has" if crowded == 1 else f"{crowded:,} spans have"
            yield f"{spans} more than {_MOST} links: these are right or wrong, without credit"
        if self.ontology is None:
            return
        known = pl.Series([*(self.ontology.parents or ())], dtype=pl.String)
        rows = identifiers(table).filter(~pl.col("identifier").is_in(known.implode()))
        counts = rows.unique(["system", "identifier"]).group_by("system").len().sort("system")
        sides = {False: "the reference", True: "the system"}
        if parts := [f"{count:,} of {sides[side]}" for side, count in counts.iter_rows()]:
            yield (
                f"identifiers that the ontology does not have: {', '.join(parts)}; they are "
                "similar to nothing but themselves"
            )


def identifiers(table: pl.DataFrame) -> pl.DataFrame:
    """The identifiers of linked mentions: `system`, `row`, `identifier`.

    Args:
        table: annotations of both sides with all of their candidates.
    """
    each = table.select("system", "row", "rank", identifier=pl.col("eid").str.split("|"))
    key = ["system", "row"]
    named = pl.col("identifier").is_not_null() & (pl.col("identifier") != "")
    linked = named & ~pl.col("identifier").str.starts_with(NIL)
    first = pl.col("identifier").list.first().str.starts_with(NIL).fill_null(True)
    nil = each.filter(pl.col("rank") == 1, first)
    known = each.join(nil, on=key, how="anti").explode("identifier").filter(linked)
    return known.select(*key, "identifier").unique().sort(pl.all())


def with_identifiers(best: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Annotations with the column `identifiers`, joined by `SEPARATOR`; null of NIL.

    Links of a span are sets of identifiers that differ, whatever the types of their mentions.
    Whether a side has too many for credit is `crowded`: equal ones count 1 then, others nothing.

    Args:
        best: annotations with one candidate each.
        table: the same with all of their candidates.
    """
    named = identifiers(table).group_by("system", "row", maintain_order=True)
    sets = named.agg(identifiers=pl.col("identifier").str.join(SEPARATOR))
    rows = best.join(sets, on=["system", "row"], how="left", maintain_order="left")
    links = pl.col("identifiers").drop_nulls().n_unique().over("system", *SPAN)
    return rows.with_columns(crowded=links.max().over(SPAN) > _MOST)
