"""The official scorer of CoNLL-2012, version 8.01: coreference as it computes it.

It scores the documents of the reference only. A span that the system repeats is left out from its
second entity on; a span that the reference repeats stays in all of them, and is looked up in the
last. Without anything to divide by, a rate is 0. Ten repeated spans of the system are too many; the
scorer counts them again for each measure, and stops there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus, of_documents
from hlteval.scoring.clusterings import Clusterings, by_group, together
from hlteval.scoring.generic.clusters import AVERAGE, AVERAGED, RATES, Coreference
from hlteval.scoring.metric import Replicates, Sums
from hlteval.scoring.ratios import Rates, harmonic, ratio

#: The order in which the scorer computes the measures.
ORDER = ("muc", "b_cubed", "mention_ceaf", "entity_ceaf", "blanc")
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

    def compared(self, reference: pl.DataFrame, system: pl.DataFrame) -> Clusterings:
        """The clusterings, with spans of the reference in all of their entities."""
        return Clusterings(reference, system.unique("item", keep="first", maintain_order=True))

    def count(self, both: Clusterings, name: str) -> pl.LazyFrame:
        """The counts of a measure by document, with repeated spans of the reference."""
        counts = super().count(both, name)
        if not both.reference["item"].is_duplicated().any():
            return counts
        match name:
            case "muc":
                return counts.with_columns(rtp="ptp")
            case "b_cubed":
                every = by_group(both.reference, r_den=pl.len())
                return together(counts.drop("r_den"), every)
            case "unlinked":
                return self._unlinked(both)
        return counts

    def _unlinked(self, both: Clusterings) -> pl.LazyFrame:
        """The counts of other links: a repeated span is a mention of its own in each entity."""
        # it is linked with no other, since it is in another entity too
        several = pl.col("item").is_duplicated()
        own = pl.when(several).then(-pl.col("item")).otherwise("cluster")
        apart = both.reference.with_columns(cluster=own).unique(("item", "cluster"))
        counts = super().count(Clusterings(apart, both.system), "unlinked").drop("r_den")
        pairs = (pl.col("size") * (pl.col("size") - 1) // 2).sum()
        every = by_group(both.sizes[0], size=pl.col("size").sum(), linked=pairs)
        links = pl.col("size") * (pl.col("size") - 1) // 2 - pl.col("linked")
        return together(counts, every.select("group", r_den=links))

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
