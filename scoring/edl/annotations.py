"""Annotations: the mentions of a reference and a system as numbers that can be joined and grouped.

Everything that measures compare (documents, spans, types, entities) is numbered over both sides
together, in the order of its values, so that no number depends on the order of rows.

Overlap of spans: which share of each is covered by those of the other side, either by the single
span that covers most of it (`max`), or by all of them together (`sum`, where a unit that several
cover counts once). The time is that of sorting, however spans nest or repeat.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from hlteval.representation import Corpus

#: An annotation a row: its side, its fields, its place among the rows of its side, and 1; or
#: another candidate of it, with the rank that it has.
ANNOTATIONS: Mapping[str, pl.DataType | type[pl.DataType]] = (
    {"system": pl.Boolean, "docid": pl.String, "start": pl.Int64, "end": pl.Int64}
    | dict.fromkeys(("type", "eid"), pl.String)
    | {"score": pl.Float64, "row": pl.Int64, "rank": pl.Int64}
)

#: The beginning of the identifier of an entity that the knowledge base lacks.
NIL = "NIL"
_LARGEST = 2**62
#: How many times as many numbers as rows may be counted in a table.
_FEW_EACH = 4


def all_candidates(
    corpus: Corpus,
    *,
    system: bool = False,
    with_mention_type: bool = False,
    alternatives: bool = False,
) -> pl.DataFrame:
    """The mentions of a corpus as annotations, each with its first candidate, and all others.

    Args:
        corpus: with its mentions and links.
        system: which side it is.
        with_mention_type: whether a type is `PER/NAM` and not `PER`.
        alternatives: whether one of the reference's candidates is selected, so that an identifier
            `a|b` there is several.
    """
    label: pl.Expr = pl.when(pl.col("label") != "").then("label")
    kind = label
    if with_mention_type:
        both = pl.format("{}/{}", "label", "mention_type")
        kind = pl.when(pl.col("mention_type").is_null()).then(label).otherwise(both)
    names = corpus.documents.select(docid="name", document="row")
    columns = ("row", "document", "start", "end", "label", "mention_type", "entity", "confidence")
    mentions = corpus.mentions.select(columns)
    rows = mentions.join(names, on="document", how="left", maintain_order="left").select(
        *(pl.lit(system).alias("system"), "docid", "start", "end", kind.alias("type")),
        *(pl.col("entity").alias("eid"), pl.col("confidence").alias("score"), "row"),
        pl.lit(1, pl.Int64).alias("rank"),
    )
    if not corpus.links.is_empty():
        others = corpus.links.select("entity", "label", "confidence", "rank", row="mention_row")
        others = others.join(rows.drop("rank"), on="row").with_columns(
            eid="entity", type=pl.coalesce(label, "type"), score=pl.coalesce("confidence", "score")
        )
        return pl.concat([rows, others.select(list(ANNOTATIONS))])
    if alternatives and not system:
        each = rows.with_columns(pl.col("eid").str.split("|")).explode("eid")
        return each.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("row"))
    return rows


def outside(table: pl.DataFrame, zones: pl.DataFrame) -> pl.DataFrame:
    """The annotations that neither begin nor end in a zone.

    Args:
        table: annotations.
        zones: `docid`, `start`, `last`; both offsets belong to the zone.
    """
    documents = pl.concat([table["docid"], zones["docid"]])
    kinds = documents.cast(pl.Enum(documents.unique().drop_nulls())).to_physical().cast(pl.Int64)
    own, of_zones = kinds[: table.height].to_numpy(), kinds[table.height :].to_numpy()
    others = Spans(of_zones, zones["start"].to_numpy(), zones["last"].to_numpy())
    inside = np.zeros(table.height, dtype=np.int64)
    for unit in (table["start"].to_numpy(), table["end"].to_numpy() - 1):
        inside += coverage("max", Spans(own, unit, unit), others)
    return table.filter(inside == 0)


@dataclass(frozen=True)
class Coded:
    """Annotations as numbers.

    Attributes:
        rows: a row an annotation: `system`, the fields of keys and `language` as numbers from 0,
            `from` and `last`, the offsets of its first and last unit, and `crowded`; in the order
            of their documents' first rows, then of their spans, the longer first.
        sizes: how many numbers each of the columns has.
        names: what the numbers of `docid`, `type`, `eid`, `language` and `identifiers` stand for;
            null for none.
    """

    rows: pl.DataFrame
    sizes: Mapping[str, int]
    names: Mapping[str, pl.Series]

    def key(self, rows: pl.DataFrame, fields: Sequence[str]) -> pl.Series:
        """One number for the contents of several columns; equal numbers for equal contents only.

        Args:
            rows: some of the annotations, with further columns whose sizes are known.
            fields: the columns.
        """
        key, size = rows[fields[0]].cast(pl.Int64), self.sizes[fields[0]]
        for field in fields[1:]:
            if size * self.sizes[field] >= _LARGEST:
                key, size = key.rank("dense").cast(pl.Int64), rows.height + 1
            key, size = key * self.sizes[field] + rows[field], size * self.sizes[field]
        return key.alias("key")

    def entities(self, rows: pl.DataFrame) -> pl.Series:
        """One number for the side, document and entity of annotations."""
        return self.key(rows, ("system", "docid", "eid"))


def encode(table: pl.DataFrame) -> Coded:
    """Number the fields of annotations.

    An annotation without an identifier is a NIL; all annotations of the span that an entity has
    first in a document are its first.

    Args:
        table: annotations of both sides (`ANNOTATIONS`), one candidate each; if identifiers are
            compared, with these as texts, and with `crowded`, false without it.
    """
    names, numbers = dict[str, pl.Series](), dict[str, pl.Series]()
    for column in ("docid", "type", "eid", "identifiers"):
        if column not in table.columns:
            continue
        names[column], numbers[column] = _number(table[column])
    languages = names["docid"].str.extract("^([^_]*)_").alias("language")
    names["language"], of_documents = _number(languages)
    numbers["language"] = of_documents.gather(numbers["docid"])
    crowded = table.get_column("crowded", default=pl.lit(value=False).alias("crowded"))
    rows = table.select(
        *("system", "row", *numbers.values(), crowded),
        pl.col("start", "end", "score").rank("dense").cast(pl.Int64).fill_null(0),
        pl.col("start").alias("from"),
        (pl.col("end") - 1).alias("last"),
    )
    nil = names["eid"].str.starts_with(NIL).gather(rows["eid"]).cast(pl.Int64)
    linked = (1 - nil).fill_null(0)
    rows = rows.with_columns(is_nil=nil.fill_null(1), is_linked=linked, kbid=linked * rows["eid"])
    largest = rows.drop("from", "last").select(pl.all().cast(pl.Int64).max().fill_null(0))
    sizes = {name: size + 1 for name, size in largest.row(0, named=True).items()}
    sizes |= {"span": rows.height + 1, "is_first": 2}
    span = Coded(rows, sizes, names).key(rows, ("docid", "start", "end")).rank("dense")
    appears = pl.col("row").min().over("system", "docid")
    rows = rows.with_columns(span=span.cast(pl.Int64), appears=appears)
    by = ("system", "appears", "start", "end", "row")
    rows = rows.sort(by, descending=[name == "end" for name in by]).drop("appears")
    first = pl.col("span") == pl.col("span").first().over("entity")
    entities = Coded(rows, sizes, names).entities(rows)
    rows = rows.with_columns(entity=entities).with_columns(is_first=first.cast(pl.Int64))
    return Coded(rows.drop("entity"), sizes, names)


def _number(texts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The different texts in order, null first, and the place of each text among them."""
    names = pl.concat(
        [pl.Series(texts.name, [None], dtype=pl.String), texts.drop_nulls().unique().sort()]
    )
    places = texts.cast(pl.Enum(names[1:])).to_physical().cast(pl.Int64)
    return names, (places + 1).fill_null(0)


#: Where the system gives a candidate for it to be selected, the best first: to a mention of the
#: same span, to any mention of the document, to any mention at all.
STEPS: tuple[tuple[str, ...], ...] = (("docid", "start", "end"), ("docid",), ())


def best_candidates(
    table: pl.DataFrame, how: str, steps: Sequence[tuple[str, ...]] = STEPS
) -> pl.DataFrame:
    """The annotations with one candidate each: where the reference allows several, the best.

    It is the first that the system gives by the first of the steps; where it gives none of them,
    the first of all.

    Args:
        table: annotations of both sides with all of their candidates.
        how: `eid`, or `fields` where the type must be the same as well.
        steps: what mentions have in common, step by step.

    Returns:
        The annotations, every one with `rank` 1.
    """
    key = ["eid", "type"] if how == "fields" else ["eid"]
    system = table.filter("system", pl.col("rank") == 1)
    ranked = table.filter(~pl.col("system"))
    level = pl.when(pl.col("rank") == 1).then(len(steps)).otherwise(len(steps) + 1)
    for number, where in reversed(list(enumerate(steps))):
        step = system.select(*where, *key, pl.lit(number).alias(f"step {number}")).unique()
        on = [*where, *key]
        ranked = ranked.join(step, on, "left", nulls_equal=True, maintain_order="left")
        level = pl.coalesce(f"step {number}", level)
    ranked = ranked.with_columns(level=level).sort("row", "level", "rank")
    best = ranked.unique("row", keep="first", maintain_order=True).select(table.columns)
    return pl.concat([best.with_columns(rank=pl.lit(1, pl.Int64)), system])


#: Offsets are those of the first and the last unit of a span; both belong to it.
Integers = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """The kind, first and last unit of spans; only spans of one kind meet."""

    kind: Integers
    first: Integers
    last: Integers


def spans(rows: pl.DataFrame) -> Spans:
    """The columns `item`, `from` and `last` of annotations as spans."""
    return Spans(*(rows[name].to_numpy() for name in ("item", "from", "last")))


def coverage(mode: str, spans: Spans, others: Spans) -> Integers:
    """How many units of each span other spans of the same kind cover.

    A span that ends before it starts neither covers anything nor is covered.

    Args:
        mode: `max` for the most that one of them covers, `sum` for what all of them cover.
        spans: kind, first and last unit of each.
        others: the same of the other spans.

    Examples:
        >>> one = (np.array([0]), np.array([1]), np.array([10]))
        >>> two = (np.array([0, 0, 1]), np.array([0, 5, 1]), np.array([2, 6, 10]))
        >>> coverage("max", one, two).tolist(), coverage("sum", one, two).tolist()
        ([2], [4])
    """
    kind, first, last = (np.r_[ours, theirs] for ours, theirs in zip(spans, others, strict=True))
    ours, real = np.arange(len(kind)) < len(spans[0]), first <= last
    units = np.zeros(len(spans[0]), dtype=np.int64)
    if not (real & ours).any() or not (real & ~ours).any():
        return units
    if kind.max() < _FEW_EACH * len(kind):  # numbers that need not be sorted
        kind = (np.cumsum(np.bincount(kind) > 0) - 1)[kind]
    else:
        kind = np.unique(kind, return_inverse=True)[1]
    kinds = np.arange(kind.max() + 1)
    lowest, highest = (np.full(len(kinds), limit) for limit in (_LARGEST * 2 - 1, -_LARGEST * 2))
    np.minimum.at(lowest, kind, first)
    np.maximum.at(highest, kind, last)
    room = np.maximum(highest.astype(float) - lowest + 2, 0)
    if room.sum() <= _LARGEST:  # every kind after the one before: all are one kind
        shift = np.r_[0, np.cumsum(np.maximum(highest - lowest + 2, 0))[:-1]] - lowest
        first, last, kind = first + shift[kind], last + shift[kind], np.zeros_like(kind)
        kinds = kinds[:1]
    for number in kinds.tolist():
        here = np.flatnonzero((kind == number) & real & ours)
        there = np.flatnonzero((kind == number) & real & ~ours)
        there = there[np.lexsort((last[there], first[there]))]
        if len(here) and len(there):
            cover = _most if mode == "max" else _union
            units[here] = cover(first[here], last[here], first[there], last[there])
    return units


def _union(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """How many units of each span all others together cover."""
    reach = np.maximum.accumulate(ends)
    opens = np.flatnonzero(np.r_[True, starts[1:] > reach[:-1] + 1])
    begins, closes = starts[opens], reach[np.r_[opens[1:] - 1, len(ends) - 1]]
    before = np.r_[0, np.cumsum(closes - begins + 1)]
    closes = np.r_[first.min() - 1, closes]

    def up_to(unit: Integers) -> Integers:
        """Units covered before a unit."""
        run = np.searchsorted(begins, unit, side="left")
        units: Integers = before[run] - np.maximum(closes[run] - unit + 1, 0)
        return units

    return up_to(last + 1) - up_to(first)


def _most(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """The most units of each span that one of the others covers.

    It is one that begins no later than the span, one that ends no earlier, or one within it.
    """
    reach = np.r_[first.min() - 1, np.maximum.accumulate(ends)]
    left = np.minimum(reach[np.searchsorted(starts, first, side="right")], last) - first + 1
    by_end = np.argsort(ends, kind="stable")
    leads = np.r_[np.minimum.accumulate(starts[by_end][::-1])[::-1], last.max() + 1]
    right = last - np.maximum(leads[np.searchsorted(ends[by_end], last, side="left")], first) + 1
    best: Integers = np.maximum(np.maximum(left, right), 0)
    low, high = np.searchsorted(starts, first), np.searchsorted(starts, last, side="right")
    partly = np.flatnonzero((best < last - first + 1) & (low < high))
    inside = np.zeros(len(starts) + 1, dtype=np.int64)  # how many of these each begins in
    np.add.at(inside, low[partly], 1)
    np.add.at(inside, high[partly], -1)
    some = np.cumsum(inside)[:-1] > 0
    within = _longest_within(first[partly], last[partly], starts[some], ends[some])
    best[partly] = np.maximum(best[partly], within)
    return best


def _longest_within(first: Integers, last: Integers, starts: Integers, ends: Integers) -> Integers:
    """The length of the longest of the others that lies within each span; 0 for none.

    Both sides are taken by falling begin. Of the others that begin no earlier than a span, a
    staircase of rising ends and lengths is kept: one that ends no earlier than a longer one can
    never be the longest within anything.
    """
    best = np.zeros(len(first), dtype=np.int64)
    stair, lengths = list[int](), list[int]()
    left = list(zip(starts.tolist(), ends.tolist(), strict=True))
    for span in np.argsort(-first, kind="stable").tolist():
        while left and left[-1][0] >= first[span]:
            start, end = left.pop()
            step = behind = bisect_left(stair, end)
            if step and lengths[step - 1] > end - start:
                continue
            while behind < len(stair) and lengths[behind] <= end - start + 1:
                behind += 1
            stair[step:behind], lengths[step:behind] = [end], [end - start + 1]
        step = bisect_right(stair, int(last[span]))
        best[span] = lengths[step - 1] if step else 0
    return best


def sweep(reference: Spans, system: Spans) -> tuple[Integers, Integers]:
    """The pairs of spans that overlap, as far as a sweep with two stacks finds them.

    Both sides are sorted by begin, the longer first; the last ones are compared, and the one that
    stands later in that order is taken away (of two equal ones, the reference's). Where spans of a
    side overlap each other, pairs are missed.

    Returns:
        The places of the pairs on both sides.
    """
    stacks = []
    for kind, first, last in (reference, system):
        order = np.lexsort((-last, first, kind))
        columns = (kind[order], first[order], -last[order], order)
        stacks.append(list(zip(*(column.tolist() for column in columns), strict=True)))
    ours, theirs = stacks
    pairs = list[tuple[int, int]]()
    while ours and theirs:
        (kind, first, last, place), (other_kind, start, end, other) = ours[-1], theirs[-1]
        if kind == other_kind and first <= -end and start <= -last:
            pairs.append((place, other))
        (theirs if (other_kind, start, end) > (kind, first, last) else ours).pop()
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]
