"""Relations: labelled pairs of mentions, or more arguments with roles, by precision, recall and F1.

A relation is right if one of the reference has its label and the same arguments. Relations of a
side are sets. Of the mention of an argument must be equal, by `arguments`:

- `span+label`: its span and its label (strict, Rel+, relation and NER);
- `span`: its span (boundaries, Rel); `end`: its last character (head), with `end+label` its label;
- `overlap`: its label and a shared character; relations are then paired one to one, so that as many
  as possible are right.

Of relations of entities, as PubTator has, the identifiers of entities must be equal. Relations are
directed, unless their label is among `symmetric`. Mentions are counted beside them,
by span and label.

Conventions:
    Counts are a row per document and label, and one per document; they add.

References:
    Bekoulis et al. 2018; Taillé et al. 2020; Zhong and Chen 2021; Miwa and Bansal 2016.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.representation import FACT, Corpus, align, documents_of, first_case
from hlteval.scoring.generic.averages import (
    COUNTED,
    RATES,
    LabelCounts,
    LabelMetric,
    LabelOptions,
    rates_of,
)
from hlteval.scoring.generic.frames import FrameOptions, Frames, frames_of
from hlteval.scoring.generic.spans import Pairs, Whole, best, equal_pairs, sides
from hlteval.scoring.metric import Replicates

__all__ = ["FrameMetric", "Options", "Relations"]

#: The columns of what is counted beside frames.
PARTS = ("expected", "predicted", "right")


@dataclass(frozen=True, kw_only=True)
class Options(FrameOptions):
    """Labels, and when relations are the same."""


@dataclass(frozen=True)
class FrameComparison:
    """The frames of a batch, and which of them correspond.

    Attributes:
        frames: those of both sides.
        options: when they do.
    """

    frames: Frames
    options: FrameOptions

    @cached_property
    def sides(self) -> tuple[Whole, Whole]:
        """The indices of the different frames that count, of either side."""
        rows = self.frames.rows
        counts = (rows["counts"] & rows["label"].is_not_null()).to_numpy()
        of_system, keys = rows["system"].to_numpy(), self.frames.keys
        found = []
        for side in (False, True):
            own = np.flatnonzero(counts & (of_system == side))
            found.append(own[pl.Series(keys[own]).is_first_distinct().to_numpy()])
        return found[0], found[1]

    @cached_property
    def right(self) -> Pairs:
        """The pairs that are right, as indices of frames."""
        left, right = self.sides
        if self.options.arguments == "overlap":
            candidates = self.frames.alike(left, right, typed=True)
            same = self.frames.keys[candidates.left] == self.frames.keys[candidates.right]
            # as many as possible, and of these as many equal ones as possible
            return _choose(candidates, 2**20 + same.astype(np.int64))
        return self._equal(self.frames.keys, left, right)

    def _equal(self, keys: Whole, left: Whole, right: Whole) -> Pairs:
        """Pairs of frames with equal numbers."""
        pairs = equal_pairs(keys[left], keys[right])
        return Pairs(left[pairs.left], right[pairs.right])

    @cached_property
    def all_pairs(self) -> Pairs:
        """The pairs that are right, and then pairs of what is left.

        First those with other labels, then with the same trigger, then with arguments that overlap.
        """
        found, frames = self.right, self.frames
        heads = (frames.heads(by_label=by_label) for by_label in (True, False))
        for keys in (frames.contents, *heads):
            found = _both(found, self._equal(keys, *self.free(found)))
        candidates = frames.alike(*self.free(found), typed=False)
        return _both(found, _choose(candidates, np.ones(len(candidates.left), dtype=np.int64)))

    def free(self, pairs: Pairs) -> tuple[Whole, Whole]:
        """The frames that are in no pair."""
        left, right = (
            side[~np.isin(side, taken)] for side, taken in zip(self.sides, pairs, strict=True)
        )
        return left, right


def _both(first: Pairs, second: Pairs) -> Pairs:
    """The pairs of two."""
    return Pairs(np.r_[first.left, second.left], np.r_[first.right, second.right])


def _choose(candidates: Pairs, weights: Whole) -> Pairs:
    """The one-to-one pairs with the greatest total of weights."""
    chosen = best(candidates, weights)
    return Pairs(candidates.left[chosen], candidates.right[chosen])


@dataclass(frozen=True)
class FrameMetric(LabelMetric):
    """Common part of relations and events.

    Attributes:
        options: when frames are the same.
    """

    options: FrameOptions = field(default_factory=FrameOptions)

    #: The kinds of frames that are counted.
    kinds: ClassVar[tuple[str, ...]] = ()
    #: What is counted beside frames.
    parts: ClassVar[tuple[str, ...]] = ()

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and the alignment of their frames."""
        reference, system = align(reference, system)
        frames = frames_of(reference, system, self.kinds, self.options)
        comparison = FrameComparison(frames, self.options)
        documents = documents_of(reference, system)
        size = 1 + (documents["row"][-1] if documents.height else -1)
        rows = documents["row"].to_numpy()
        gone = frames.rows.filter(pl.col("counts") & pl.col("label").is_null())["document"]
        beside = {"ignored": np.bincount(gone.to_numpy(), minlength=size)}
        for part, (left, right) in self.others(reference, system, frames).items():
            found = left.join(right, on=left.columns, how="semi")
            for name, table in zip(PARTS, (left, right, found), strict=True):
                place = table["document"].to_numpy()
                beside[f"{part}.{name}"] = np.bincount(place, minlength=size)
        tables = [
            _by_label(comparison),
            pl.DataFrame({"row": rows, **{name: own[rows] for name, own in beside.items()}}),
        ]
        counts = self.counts_of(tables, documents)
        return counts, _align(comparison, documents) if alignment else None

    def evaluation(self, scoring: str) -> str:
        """The averages, and what is counted beside frames."""
        return "parts" if scoring in self.parts else super().evaluation(scoring)

    def others(
        self, reference: Corpus, system: Corpus, frames: Frames
    ) -> Mapping[str, tuple[pl.DataFrame, pl.DataFrame]]:
        """Units beside frames: of either side, different rows with their `document`."""
        raise NotImplementedError

    def values(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> Replicates:
        """The averages, and the rates of what is counted beside frames."""
        found = self.averages(counted)
        for part in self.parts:
            expected, predicted, right = (extras[f"{part}.{name}"] for name in PARTS)
            counts = np.stack([expected, predicted, right, right], axis=-1).astype(np.float64)
            rates = rates_of(counts, self.options.undefined)
            found |= {f"{part}.{rate}": getattr(rates, rate) for rate in RATES}
        return found


def _by_label(comparison: FrameComparison) -> pl.DataFrame:
    """The counts of documents by label."""
    rows = comparison.frames.rows.select("label", row="document")
    indices = (*comparison.sides, *comparison.right)
    tables = [
        rows.select(pl.all().gather(index)).with_columns(pl.lit(1).alias(name))
        for name, index in zip(COUNTED, indices, strict=True)
    ]
    every = pl.concat(tables, how="diagonal")
    return every.group_by("row", "label").agg(pl.col(COUNTED).sum())


def _align(comparison: FrameComparison, documents: pl.DataFrame) -> pl.DataFrame:
    """A row per pair of frames, or per frame that has no partner.

    Returns:
        `document`; of either side the identifier, the label and the arguments, null where it has
        none; and the `outcome`.
    """
    pairs, frames = comparison.all_pairs, comparison.frames
    left, right = comparison.free(pairs)
    ours = np.r_[pairs.left, left, np.full(len(right), -1)]
    theirs = np.r_[pairs.right, np.full(len(left), -1), right]
    is_right = np.arange(len(ours)) < len(comparison.right.left)
    text = pl.format("{}: {}", "as_written", "text")
    texts = frames.arguments.group_by("id", maintain_order=True).agg(arguments=text)
    table = frames.rows.select("document", "frame", "label", id=pl.int_range(pl.len()))
    table = table.join(texts, on="id", how="left", maintain_order="left").drop("id")
    table = table.with_columns(pl.col("arguments").fill_null([]))
    columns = {}
    for title, index in (("reference", ours), ("system", theirs)):
        at = pl.Series(index, dtype=pl.Int64).replace(-1, None)
        own = table.select(pl.all().gather(at))
        columns[title] = own.select(pl.all().name.prefix(f"{title}_"))
    rows = pl.concat([*columns.values()], how="horizontal").with_columns(right=is_right)
    outcome = first_case(
        (pl.col("system_document").is_null(), "missing"),
        (pl.col("reference_document").is_null(), "extra"),
        (pl.col("right"), "correct"),
        (pl.col("reference_label") != pl.col("system_label"), "wrong label"),
        otherwise="wrong argument",
    )
    rows = rows.with_columns(
        row=pl.coalesce("reference_document", "system_document"), outcome=outcome
    )
    names = documents.select("row", document="name")
    named = rows.join(names, on="row", maintain_order="left").sort("document", maintain_order=True)
    sides_of = [f"{title}_{name}" for title in columns for name in ("frame", "label", "arguments")]
    return named.select("document", *sides_of, "outcome")


@dataclass(frozen=True)
class Relations(FrameMetric):
    """How relations are scored.

    Attributes:
        options: when they are the same.
    """

    options: Options = field(default_factory=Options)

    extras: ClassVar = ("ignored", *(f"entities.{name}" for name in PARTS))
    items: ClassVar = "relation"
    kinds: ClassVar = ("relation", FACT)
    parts: ClassVar = ("entities",)

    def others(
        self,
        reference: Corpus,
        system: Corpus,
        frames: Frames,  # noqa: ARG002
    ) -> Mapping[str, tuple[pl.DataFrame, pl.DataFrame]]:
        """The mentions of both sides, by span and label."""
        both = sides(reference, system, LabelOptions())
        ours, theirs = (
            pl.DataFrame({"document": units.document, "key": units.key})
            for units in (both.reference, both.system)
        )
        return {"entities": (ours, theirs)}
