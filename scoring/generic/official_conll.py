"""The official scorer of CoNLL-2012, version 8.01: coreference as it computes it.

It scores the documents of the reference only. A span of the reference that the system repeats is
left out from its second entity on, in the order in which entities begin; other spans stay in all of
them. A span that the reference repeats stays in all of them, too, and is looked up in the last.
Without anything to divide by, a rate is 0. More than ten spans that are left out are too many; the
scorer counts them again for each measure, and stops there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus, of_documents
from hlteval.scoring.clusterings import Clusterings, by_group, link_count, together
from hlteval.scoring.generic.clusters import AVERAGE, AVERAGED, RATES, Coreference
from hlteval.scoring.metric import Replicates, Sums
from hlteval.scoring.ratios import Rates, harmonic, ratio

#: The order in which the scorer computes the measures.
ORDER = ("muc", "b_cubed", "mention_ceaf", "entity_ceaf", "blanc")
_DENS = ("r_den", "p_den")
#: More repeated spans of the system than these are refused.
MOST_REPEATED = 10


@dataclass(frozen=True)
class OfficialCoreference(Coreference):
    """How the official scorer compares entities."""

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of the documents of the reference."""
        known = reference.documents["name"]
        if not system.documents["name"].is_in(known.implode()).all():
            system = of_documents(system, known)
        return super().statistics(reference, system, alignment=alignment)

    def clusterings(self, reference: pl.DataFrame, system: pl.DataFrame) -> Clusterings:
        """The clusterings, with spans of the reference in all of their entities."""
        appears = pl.col("order").min().over("cluster")
        ours, theirs = (
            rows.with_columns(appears=appears)
            .sort("appears", "order")
            .with_columns(order=pl.int_range(pl.len(), dtype=pl.Int64))
            .drop("appears")
            for rows in (reference, system)
        )
        known = pl.col("item").is_in(ours["item"].implode())
        return Clusterings(ours, theirs.filter(pl.col("item").is_first_distinct() | ~known))

    def count(self, both: Clusterings, name: str) -> pl.LazyFrame:
        """The counts of a measure by document, with repeated spans of the reference."""
        counts = super().count(both, name)
        sides = (both.reference, both.system)
        if not any(side["item"].is_duplicated().any() for side in sides):
            return counts
        match name:
            case "muc":
                return counts.with_columns(rtp="ptp")
            case "b_cubed":
                return together(counts.drop(_DENS), *_sizes(sides))
            case "linked":
                # a pair in several entities of a side is one link
                common = both.reference.join(both.system.select("item", other="cluster"), on="item")
                shared = link_count(common, "rtp", "cluster", "other").with_columns(ptp="rtp")
                links = (link_count(side, name) for side, name in zip(sides, _DENS, strict=True))
                return together(shared, *links)
            case "unlinked":
                # a repeated span is linked so with every span, and with itself
                own = pl.when(pl.col("item").is_duplicated()).then(-pl.col("item"))
                cluster = own.otherwise("cluster")
                apart = [
                    side.with_columns(cluster=cluster).unique(("item", "cluster")) for side in sides
                ]
                counts = super().count(Clusterings(*apart), name)
                itself = [side.filter(pl.col("cluster") < 0) for side in apart]
                return together(counts, *_sizes(itself))
        return counts

    def rates(self, parts: Mapping[str, NDArray[np.float64]]) -> Rates[NDArray[np.float64]]:
        """Precision, recall and F1, 0 without anything."""
        precision = np.nan_to_num(ratio(parts["ptp"], parts["p_den"]))
        recall = np.nan_to_num(ratio(parts["rtp"], parts["r_den"]))
        return Rates(precision, recall, np.nan_to_num(harmonic(precision, recall)))

    def blanc(
        self, linked: Mapping[str, NDArray[np.float64]], unlinked: Mapping[str, NDArray[np.float64]]
    ) -> Rates[NDArray[np.float64]]:
        """BLANC, 0 without any links."""
        return Rates(*map(np.nan_to_num, super().blanc(linked, unlinked)))

    def values_of(self, sums: Sums) -> Replicates:
        """The values, undefined from the measure on at which the scorer refuses the system."""
        values, repeated = super().values_of(sums), sums[""][:, -1]
        wanted = {*self.options.measures, *(AVERAGED if AVERAGE in self.options.measures else ())}
        for at, name in enumerate((name for name in ORDER if name in wanted), start=1):
            refused = repeated * at > MOST_REPEATED
            affected = [f"{name}.{rate}" for rate in RATES]
            affected += [f"{AVERAGE}.f1"] * (name in AVERAGED)
            for value in values.keys() & {*affected}:
                values[value] = np.where(refused, np.nan, values[value])
        return values


def _sizes(sides: Sequence[pl.DataFrame]) -> list[pl.LazyFrame]:
    """The memberships of both sides as denominators."""
    size = pl.len().cast(pl.Int64)
    return [by_group(side, **{name: size}) for side, name in zip(sides, _DENS, strict=True)]
