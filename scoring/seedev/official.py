"""The official software of SeeDev, where it does otherwise than the description."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.pairings import ADDED, METRICS, OfficialPairing
from hlteval.scoring.seedev.event_pairs import UNIT
from hlteval.scoring.seedev.metric import EventMatch


@dataclass(frozen=True, kw_only=True)
class OfficialEventMatch(OfficialPairing, EventMatch):
    """How the official software compares events."""

    kept: ClassVar = (pl.col("weight").drop_nulls().alias("similarities"),)

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Documents without reference are ignored; triggers are part of types."""
        reference, system = super().prepare(reference, system)
        return _with_triggers(reference), _with_triggers(system)

    def is_defined(self, name: str) -> bool:
        """F1 and SER are not printed by every task."""
        return name not in {"f1", "ser"} or METRICS[name] in self.measures

    @property
    def resampling_units(self) -> str:
        """Pairs of the main scoring, not documents."""
        return "pairs"

    def units(self, counts: pl.DataFrame) -> pl.DataFrame:
        """The pairs of the main scoring by similarity, and what is unpaired on either side."""
        main = self.main_scoring(counts)
        similarities = main.select(matched=pl.col("similarities").explode()).drop_nulls()
        paired = similarities.group_by("matched").agg(times=pl.len().cast(pl.Int64)).sort("matched")
        references, predictions, pairs = (int(main[name].sum()) for name in ADDED[:3])
        rows = [
            ("deletion", 1, 0, 0, 0, 0, references - pairs),
            ("insertion", 0, 1, 0, 0, 0, predictions - pairs),
            *((f"pair {units}", 1, 1, 1, units, UNIT - units, n) for units, n in paired.rows()),
        ]
        schema = {"document": pl.String, **dict.fromkeys((*ADDED, "times"), pl.Int64)}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        return table.join(main.select("evaluation", "scoring").head(1), how="cross")


def _with_triggers(corpus: Corpus) -> Corpus:
    """A corpus whose events have their triggers in their types."""
    if corpus.frames["trigger"].null_count() == corpus.frames.height:
        return corpus
    label = pl.concat_str("label", "trigger", separator=":", ignore_nulls=True)
    return corpus.replace(frames=corpus.frames.with_columns(label=label))
