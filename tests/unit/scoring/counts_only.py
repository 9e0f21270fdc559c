"""A metric of which tests give the counts: nothing is read, and only replicates are asked for."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.metric import Metric


class CountsOnly(Metric):
    """A metric that cannot count or score."""

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, None]:
        raise NotImplementedError

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        raise NotImplementedError

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        raise NotImplementedError
