"""Mentions: labelled spans of text, by precision, recall and F1, and by the counts of SemEval.

Two mentions correspond by their spans and by their labels, as the options say; mentions of a side
are sets. One-to-one pairs of the greatest total are right: each counts 1, or its credit.

- `exact`: the same characters; `tokens`: the same words, whatever white space or punctuation at
  their edges belongs to the span; `end`: the same last character; `none`: the same document;
- `overlap`: a shared character, and at least the share `threshold` of the reference; `iou`: shared
  characters over those of either, at least `threshold`; `contains`: one lies within the other.

The alignment, and the counts of SemEval (`semeval`), pair what is left: first equal spans with
different labels, then overlapping ones, so that as many as possible have equal labels and the
others share as much as possible.

Conventions:
    Counts are a row per document and label, and one per document; they add.

References:
    Segura-Bedmar, Martínez and Herrero-Zazo 2013 (SemEval-2013 task 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus, align
from hlteval.scoring.generic import semeval
from hlteval.scoring.generic.averages import COUNTED, LabelCounts, LabelMetric
from hlteval.scoring.generic.comparison import FULL, Comparison, Options
from hlteval.scoring.generic.span_alignment import alignment_of
from hlteval.scoring.generic.spans import Whole, sides
from hlteval.scoring.metric import Replicates
from hlteval.scoring.ratios import ratio

__all__ = ["Mentions", "Options"]


@dataclass(frozen=True)
class Mentions(LabelMetric):
    """How mentions are scored.

    Attributes:
        options: when two mentions correspond.
    """

    options: Options = field(default_factory=Options)

    extras: ClassVar = ("ignored", "tokens", "tokens_right", *semeval.ADDED)
    items: ClassVar = "mention"

    @property
    def unit(self) -> int:
        """Count of a right mention."""
        return FULL[self.options.credit]

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and the alignment of their mentions.

        Examples:
            >>> mention = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1"}
            >>> mention |= {"label": "Person", "start": 0, "end": 3}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d"}], mentions=[mention])
            >>> metric = Mentions()
            >>> metric.score(metric.total([metric.statistics(corpus, corpus)[0]]))[0]["micro.f1"]
            1.0
        """
        reference, system = align(reference, system)
        as_written = self.options.pairing.startswith("greedy")
        both = sides(reference, system, self.options, by_position=not as_written)
        comparison = Comparison(self.options, both, reference, system)
        counts = self._counts(comparison)
        return counts, alignment_of(comparison) if alignment else None

    def _counts(self, comparison: Comparison) -> pl.DataFrame:
        """A row per document and label, and one per document without a label."""
        both = comparison.both
        documents = comparison.documents
        by_label = _by_label(comparison)
        extras = comparison.semeval | {"ignored": both.ignored[documents["row"].to_numpy()]}
        extras |= _token_counts(comparison)
        whole = pl.DataFrame({"row": documents["row"], **extras})
        return self.counts_of([by_label, whole], documents)

    def evaluation(self, scoring: str) -> str:
        """The averages, and the measures of SemEval."""
        return "SemEval" if scoring in semeval.MEASURES else super().evaluation(scoring)

    def values(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> Replicates:
        """The averages, the accuracy of tokens, and the measures of SemEval."""
        accuracy = ratio(extras["tokens_right"], extras["tokens"])
        return {
            **self.averages(counted),
            "token_accuracy": accuracy,
            **semeval.figures({name: extras[name] for name in semeval.ADDED}),
        }


def _by_label(comparison: Comparison) -> pl.DataFrame:
    """The counts of documents by label, as `COUNTED`."""
    both = comparison.both
    left, right = both.reference, both.system
    size = max(len(both.labels), 1)
    pairs, credit, unit = comparison.right, comparison.credit, comparison.unit
    cells = [
        (left.document * size + left.label, np.full(len(left), unit)),
        (right.document * size + right.label, np.full(len(right), unit)),
        ((left.document * size + left.label)[pairs.left], credit),
        ((right.document * size + right.label)[pairs.right], credit),
    ]
    most = max((int(cell.max(initial=-1)) + 1 for cell, _ in cells), default=0)
    sums = {}
    for name, (cell, weight) in zip(COUNTED, cells, strict=True):
        sums[name] = np.zeros(most, dtype=np.int64)
        np.add.at(sums[name], cell, weight)
    filled = np.flatnonzero(sums["expected"] + sums["predicted"])
    labels = pl.Series(both.labels, dtype=pl.String)
    columns = {name: column[filled] for name, column in sums.items()}
    return pl.DataFrame({"row": filled // size, "label": labels.gather(filled % size), **columns})


def _token_counts(comparison: Comparison) -> dict[str, Whole]:
    """By document, the tags of the reference, and those that the system has at the same token."""
    tokens = [
        corpus.tokens.select("document", "tag").drop_nulls("tag")
        for corpus in (comparison.reference, comparison.system)
    ]
    size = comparison.size
    rows = comparison.documents["row"].to_numpy()
    if not tokens[0].height or not tokens[1].height:
        return dict.fromkeys(("tokens", "tokens_right"), np.zeros(len(rows), dtype=np.int64))
    if not tokens[0]["document"].equals(tokens[1]["document"]):
        ordinal = pl.int_range(pl.len()).over("document")
        tokens = [table.with_columns(ordinal=ordinal) for table in tokens]
        key = ["document", "ordinal"]
        both = tokens[0].join(
            tokens[1], on=key, how="left", suffix="_system", maintain_order="left"
        )
    else:
        both = tokens[0].with_columns(tag_system=tokens[1]["tag"])
    document = both["document"].to_numpy()
    right = both.select((pl.col("tag") == pl.col("tag_system")).fill_null(value=False))
    same = document[right.to_series().to_numpy()]
    return {
        "tokens": np.bincount(document, minlength=size)[rows],
        "tokens_right": np.bincount(same, minlength=size)[rows],
    }
