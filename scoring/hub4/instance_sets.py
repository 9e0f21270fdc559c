"""Instance sets: which of the reference's and the system's can be mapped to each other.

With segmented texts, sets of the same document are mapped. Otherwise a set of the system reaches
from the smallest to the largest offset of its text fills, one of the reference over its document,
both counted from the beginning of the corpus, and only sets that overlap may be mapped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.hub4.normalizer import TextNormalizer
from hlteval.scoring.hub4.points import f_measure, greedy
from hlteval.scoring.hub4.templettes import Side, numbered, side
from hlteval.scoring.hub4.text_columns import Scale, TextPair

SETS = {"set": pl.Int64, "reference": pl.Int64, "system": pl.Int64}


@dataclass(frozen=True)
class TemplateSetMapping:
    """Two sides, and which of their instance sets can be mapped.

    Attributes:
        reference: the reference.
        system: the system.
        pairs: `set`, `reference`, `system`: documents; one is null where a set is left over.
        settled: whether these are the mapping, and not only what overlaps.
        names: the name of each document of either side: `document`, `name`.
    """

    reference: Side
    system: Side
    pairs: pl.DataFrame
    settled: bool
    names: tuple[pl.DataFrame, pl.DataFrame]

    def parts(self, size: int) -> Iterator[TemplateSetMapping]:
        """Some sets at a time, in order; all at once where it is not settled what is mapped."""
        if not self.settled or self.pairs.height <= size:
            yield self
            return
        for pairs in self.pairs.iter_slices(size):
            sides = self.reference.of(pairs["reference"]), self.system.of(pairs["system"])
            yield replace(self, reference=sides[0], system=sides[1], pairs=pairs)

    def chosen(self, points: pl.DataFrame) -> pl.DataFrame:
        """The mapping of sets that overlap, greedily by the F-measure of the points of each.

        Args:
            points: `set` and the points of its instances, a row per pair of instances.
        """
        sums = points.group_by("set").agg(pl.col("cor", "inc", "mis", "spu").sum())
        rows = self.pairs.join(sums, on="set", how="left").with_columns(
            pl.col("cor", "inc", "mis", "spu").fill_null(0)
        )
        rows = rows.with_columns(f=f_measure()).join(
            _order(self.reference), left_on="reference", right_on="document"
        )
        rows = rows.join(_order(self.system), left_on="system", right_on="document")
        rows = rows.sort("f", "order", "order_right", descending=[True, False, False])
        kept = rows.filter(greedy(rows.select("reference", "system")))
        return _with_rest(kept.select("reference", "system"), self.reference, self.system)


def segmented(
    reference: Corpus,
    system: Corpus,
    normalizers: tuple[TextNormalizer, TextNormalizer],
    unscored: tuple[str, ...],
    texts: TextPair | None,
) -> TemplateSetMapping:
    """The sets of two corpora whose documents are numbered alike, mapped by document.

    Args:
        reference: the reference.
        system: the system.
        normalizers: how the strings of the reference and the system are normalised.
        unscored: slots without points.
        texts: the texts of both sides, where extents are compared by their alignment.
    """
    names = _names(reference), _names(system)
    scales = (None, None) if texts is None else _scales(texts, names)
    ours = side(reference, normalizers[0], unscored, scales=scales[0])
    theirs = side(system, normalizers[1], unscored, first_only=True, scales=scales[1])
    ours, theirs = numbered(ours, theirs)
    both = (
        _order(ours)
        .select(reference="document")
        .join(
            _order(theirs).select(system="document"),
            left_on="reference",
            right_on="system",
            coalesce=False,
        )
    )
    return TemplateSetMapping(ours, theirs, _with_rest(both, ours, theirs), True, names)


def _scales(
    texts: TextPair, names: tuple[pl.DataFrame, pl.DataFrame]
) -> tuple[dict[int, Scale], dict[int, Scale]]:
    """The scales of the documents of both sides, by number."""
    both = names[0].join(names[1], on="document", suffix="_system")
    pairs = texts.scales(both.select("name", "name_system").iter_rows())
    known = [
        (document, pair) for document, pair in zip(both["document"], pairs, strict=True) if pair
    ]
    reference, system = ({document: pair[side] for document, pair in known} for side in (0, 1))
    return reference, system


def unsegmented(
    reference: Corpus,
    system: Corpus,
    normalizers: tuple[TextNormalizer, TextNormalizer],
    unscored: tuple[str, ...],
    texts: TextPair,
    *,
    align: bool,
) -> TemplateSetMapping:
    """The sets of a reference and of a system without documents, as far as they overlap.

    Args:
        reference: the reference.
        system: the system; its offsets count from the beginning of its text.
        normalizers: how the strings of the reference and the system are normalised.
        unscored: slots without points.
        texts: the texts of the reference; for `align`, of the system as well.
        align: whether offsets are compared by the alignment of the texts.
    """
    names = _names(reference), _names(system)
    scales = texts.whole() if align else None
    placed = [
        (document, text.start, text.start + len(text.text))
        for document, name in names[0].iter_rows()
        if (text := texts.reference.get(name)) is not None
    ]
    starts = {document: start for document, start, _ in placed}
    every = [
        None if scales is None else dict.fromkeys(_documents(corpus), scale)
        for corpus, scale in zip((reference, system), scales or (None, None), strict=True)
    ]
    ours = side(reference, normalizers[0], unscored, offsets=starts, scales=every[0])  # type: ignore[arg-type]
    theirs = side(system, normalizers[1], unscored, first_only=True, scales=every[1])  # type: ignore[arg-type]
    ours, theirs = numbered(ours, theirs)
    extents = np.array(placed, dtype=np.int64).reshape(-1, 3)
    if scales is not None:
        extents[:, 1], extents[:, 2] = scales[0].renumbered(extents[:, 1], extents[:, 2])
    both = _overlapping(extents, theirs.whole)
    both = both.join(_order(ours).select(reference="document"), on="reference", how="semi")
    pairs = both.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*SETS)
    return TemplateSetMapping(ours, theirs, pairs, False, names)


def _overlapping(documents: np.ndarray, sets: pl.DataFrame) -> pl.DataFrame:
    """Which documents and sets overlap; ends that touch do."""
    documents = documents[np.argsort(documents[:, 1], kind="stable")]
    starts, ends = documents[:, 1], np.maximum.accumulate(documents[:, 2])
    first = np.searchsorted(ends, sets["start"].to_numpy(), side="left")
    last = np.searchsorted(starts, sets["end"].to_numpy(), side="right")
    counts = np.maximum(last - first, 0)
    rows = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = first[rows] + within
    return pl.DataFrame(
        {"reference": documents[places, 0], "system": sets["document"].to_numpy()[rows]},
        schema={"reference": pl.Int64, "system": pl.Int64},
    )


def _with_rest(both: pl.DataFrame, ours: Side, theirs: Side) -> pl.DataFrame:
    """Pairs of sets, then the sets of either side that are in none, numbered."""
    left = _order(ours).select(reference="document").join(both, on="reference", how="anti")
    right = _order(theirs).select(system="document").join(both, on="system", how="anti")
    rows = pl.concat([both, left, right], how="diagonal")
    return rows.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*SETS)


def _order(one: Side) -> pl.DataFrame:
    """The sets of a side in the order of their first instances."""
    firsts = one.instances.group_by("document").agg(order=pl.col("instance").min())
    return firsts.sort("order")


def _names(corpus: Corpus) -> pl.DataFrame:
    return corpus.documents.select(document="row", name="name")


def _documents(corpus: Corpus) -> list[int]:
    return corpus.documents["row"].to_list()
