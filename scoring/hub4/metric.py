"""HUB-4 templettes: points of content and extent, by the scoring procedure of version 0.3.

Normalisation, mapping, points, measures, in the specification's order. Each is a module of its
own: `wording` and `text_columns`, `templettes` and `templette_mapping`, `fill_match` and
`templette_points`; this one puts them together and adds up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from hlteval.representation import Corpus
from hlteval.representation import align as numbered_alike
from hlteval.scoring.hub4.instance_sets import TemplateSetMapping, segmented, unsegmented
from hlteval.scoring.hub4.listing import listing
from hlteval.scoring.hub4.mapping import Mapper, Policy
from hlteval.scoring.hub4.measures import (
    COUNTS,
    MEASURES,
    counted,
    measures,
    replicated,
    tables,
)
from hlteval.scoring.hub4.points import MODES, POINTS, Mode
from hlteval.scoring.hub4.report import mapping_rows
from hlteval.scoring.hub4.templettes import UNSCORED
from hlteval.scoring.hub4.text_columns import TextPair
from hlteval.scoring.hub4.wording import TextNormalizer
from hlteval.scoring.resampling import Replicates, Weights


@dataclass(frozen=True)
class TempletteMatch:
    """How templettes are compared.

    Attributes:
        modes: what single fills are compared by.
        wording: how strings are normalised.
        system_wording: how those of the system are, where it differs.
        policy: what the specification leaves open in the mapping.
        unscored: slots that give no points.
        texts: the texts of both sides; needed where they differ or are not segmented.
        align: whether extents are compared by the alignment of the texts.
        unsegmented: whether the system's offsets count from the beginning of the corpus.
        beta: the weight of recall in the F-measures that are reported; pairs are mapped by 1.
    """

    unit: ClassVar[str] = "drawn"
    """The column of the counts that names documents."""

    modes: tuple[Mode, ...] = MODES
    wording: TextNormalizer = field(default_factory=TextNormalizer)
    system_wording: TextNormalizer | None = None
    policy: Policy = field(default_factory=Policy)
    unscored: tuple[str, ...] = UNSCORED
    texts: TextPair | None = None
    align: bool = False
    unsegmented: bool = False
    beta: float = 1.0

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The points of a batch of documents by mode, document, type and slot, and the mapping.

        Args:
            reference: the annotated instances.
            system: the system's.
            alignment: whether the mapping is wanted.

        Returns:
            Counts, as `COUNTS`; and the mapping, as `MAPPING`, or None.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "templette"}
            >>> fill = {"row": 0, "document": 0, "origin": 0, "record": 2, "frame_row": 0,
            ...         "slot": "KIND", "slot_number": 1, "optional": False, "alternative": 1,
            ...         "position": 1, "kind": "text", "text": "rye",
            ...         "extents": [{"start": 4, "end": 7}]}
            >>> one = Corpus(documents=[{"row": 0, "name": "d"}], fills=[fill],
            ...              frames=[{**frame, "frame": "BREAD-d-1", "label": "BREAD"}])
            >>> match = TempletteMatch()
            >>> match.score(match.statistics(one, one)[0])[0]["both.cor"]
            2.0
        """
        reference, system = numbered_alike(reference, system)
        sets = self._sets(reference, system)
        possible = Mapper(sets.reference, sets.system, sets.pairs, self.policy)
        counts, rows = [], []
        for mode in self.modes:
            found = possible.mapped(mode)
            if not sets.settled:
                chosen = sets.chosen(found.pairs)
                found = Mapper(sets.reference, sets.system, chosen, self.policy).mapped(mode)
            counts += counted(found, sets, mode)
            if alignment:
                rows.append(mapping_rows(found, sets, mode, reference, system))
        return pl.concat(counts), pl.concat(rows) if alignment else None

    def _sets(self, reference: Corpus, system: Corpus) -> TemplateSetMapping:
        """The instance sets of both sides, and which can be mapped to each other."""
        wordings = self.wording, self.system_wording or self.wording
        given = (reference, system, wordings, self.unscored)
        if not self.unsegmented:
            return segmented(*given, self.texts if self.align else None)
        if self.texts is None:
            raise ValueError("unsegmented text needs the texts of the reference")
        return unsegmented(*given, self.texts, align=self.align)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of several batches as one."""
        return pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics, and the tables `scorings`, `by_type`, `by_slot` and `by_document`."""
        metrics: dict[str, float | None] = {}
        for mode in MODES:
            if mode in self.modes:
                points = total.filter(pl.col("mode") == mode).select(pl.col(*POINTS).sum()).row(0)
                found = measures(dict(zip(POINTS, points, strict=True)), self.beta)
            else:
                found = dict.fromkeys(MEASURES)
            metrics |= {f"{mode}.{name}": value for name, value in found.items()}
        return metrics, tables(total, self.modes, self.beta)

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The metrics, for each way to weigh the documents."""
        return replicated(counts, self.modes, self.beta, documents, weights)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """How much the greedy algorithm falls short of the mapping with most correct points."""
        lost = total.filter(pl.col("slot").is_null())
        told = []
        for mode in self.modes:
            rows = lost.filter(pl.col("mode") == mode)
            if not rows.is_empty():
                points = rows.select(pl.col("best") - pl.col("greedy")).sum().item()
                told.append(
                    f"{mode}: the greedy mapping of the specification has {points} correct points "
                    f"fewer than the best mapping of instances, in {rows.height} groups "
                    "(table greedy_loss)"
                )
        return tuple(told)

    def files(self, _: pl.DataFrame) -> dict[str, str]:
        """There is no public scorer whose files could be written."""
        return {}

    def analysis(
        self, aligned: pl.DataFrame, _: pl.DataFrame
    ) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
        """The reference and the system side by side."""
        return {}, {"mapping.side-by-side.txt": listing(aligned)}
