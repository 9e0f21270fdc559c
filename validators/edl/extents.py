"""Rules of EDL about the extents of mentions (EDL316, EDL319, EDL401 to EDL404)."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.edl.fields import EXTENT, blank, mentions, shown
from hlteval.validators.rule import RuleContext, at, only_if

# Spans inside each other, and spans that cross.
#
# Both are found in n log n steps, however many overlap; every span is reported at most once, with
# one other span.


SPAN = ("document", "start", "end")
#: Larger than any offset.
_AFTER_ALL = 2**63


def in_order(spans: pl.DataFrame) -> pl.DataFrame:
    """Each span once, by document and start, the longer first; empty and reversed ones left out.

    Args:
        spans: with the columns `document`, `start` and `end`, half-open.
    """
    proper = spans.filter(pl.col("start") < pl.col("end"))
    once = proper.unique(SPAN, keep="first", maintain_order=True)
    return once.sort(*SPAN, descending=[False, False, True], maintain_order=True)


def nested(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans that lie inside another.

    Args:
        spans: as from `in_order`.

    Returns:
        `inner` and `outer`, indices of `spans`: each inner span once, with the earlier span that
        reaches furthest.

    Examples:
        >>> rows = {"document": [0] * 3, "start": [0, 2, 2], "end": [9, 9, 5]}
        >>> nested(pl.DataFrame(rows)).rows()
        [(1, 0), (2, 0)]
    """
    size = spans.height
    ranked = spans.with_columns(inner=pl.int_range(pl.len()), rank=pl.col("end").rank("dense"))
    # Where a span ends, and which span that is, as one number: the largest so far is then both.
    both = pl.col("rank").cast(pl.Int64) * size + (size - 1 - pl.col("inner"))
    reach = pl.col("both").cum_max().shift(1).over("document")
    found = ranked.with_columns(both=both).with_columns(reach=reach)
    inside = found.filter(pl.col("reach") // size >= pl.col("rank"))
    return inside.select("inner", outer=size - 1 - pl.col("reach") % size)


def crossing(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans that begin inside an earlier one and end after it.

    Args:
        spans: as from `in_order`.

    Returns:
        `later` and `earlier`, indices of `spans`: each later span once, with the first-ending one
        of those that it crosses.

    Examples:
        >>> rows = {"document": [0] * 3, "start": [0, 2, 9], "end": [5, 9, 12]}
        >>> crossing(pl.DataFrame(rows)).rows()
        [(1, 0)]
    """
    before = pl.col("end").cum_max().shift(1).over("document")
    first = (pl.col("start") >= before).fill_null(value=True)
    heaps = spans.select(
        *("start", "end"), place=pl.int_range(pl.len()), heap=first.cast(pl.Int64).cum_sum()
    )
    heaped = heaps.filter(pl.len().over("heap") > 1)
    pairs = _crossing(heaped.select("heap", "start", "end", "place").rows())
    return pl.DataFrame(
        sorted(pairs), schema={"later": pl.Int64, "earlier": pl.Int64}, orient="row"
    )


def _crossing(spans: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """The crossing spans of heaps, from the last to the first.

    The ends of all earlier spans are kept in order; a span is removed when it is passed. The search
    for the next end follows a chain of removed spans, which is shortened on the way, so that it
    takes no more than a few steps.
    """
    ends = sorted((heap, end, place) for heap, _, end, place in spans)
    order = {place: index for index, (_, _, place) in enumerate(ends)}
    following = list(range(len(ends) + 1))
    pairs = []
    for _, group in groupby(reversed(spans), key=lambda span: span[:2]):
        alike = list(group)
        for _, _, _, place in alike:
            following[order[place]] = order[place] + 1
        for heap, start, end, place in alike:
            index = _following(following, bisect_right(ends, (heap, start, _AFTER_ALL)))
            if index < len(ends) and ends[index][:2] < (heap, end) and ends[index][0] == heap:
                pairs.append((place, ends[index][2]))
    return pairs


def _following(following: list[int], index: int) -> int:
    """The first index from one on that is not removed, with all chains to it shortened."""
    last = index
    while following[last] != last:
        last = following[last]
    while following[index] != last:
        index, following[index] = following[index], last
    return last


#: Mentions that do not fit, and the share of them, from which all follow another convention.
_FEWEST, _MOST = 3, 0.9

#: The names of the columns of a mention in messages.
FIELDS = {
    "annotator": "run",
    "mention": "mention id",
    "text": "mention string",
    "entity": "entity",
    "label": "type",
    "mention_type": "mention type",
    "written": "confidence",
}


def end_before_start(context: RuleContext) -> pl.LazyFrame:
    """A mention whose last character is before its first."""
    found = context.cached(mentions).filter(pl.col("end") <= pl.col("start"))
    return at(found.with_columns(last=pl.col("end") - 1), "offsets")


def other_length(context: RuleContext) -> pl.LazyFrame:
    """A mention string that cannot be what is in its extent, of a document without a text.

    Several spaces, and the line break after a hyphen, may be missing in the string. Where most that
    do not fit differ by the same number, the others follow another convention: only the first of
    them is reported.
    """
    documents = context.against.documents.lazy().drop_nulls("text").select(document="row")
    known = only_if(not context.own, documents)
    rows = context.cached(mentions).join(known, on="document", how="anti", maintain_order="left")
    extent, length = pl.col("end") - pl.col("start"), pl.col("text").str.len_chars()
    loose = pl.col("text").str.contains(r"[\s-]")
    fits = (length == extent) | ((length < extent) & loose)
    proper = (extent > 0) & ~blank("text")
    found = rows.with_columns(extent=extent, length=length).filter(proper & ~fits).collect()
    difference = found["extent"].cast(pl.Int64) - found["length"].cast(pl.Int64)
    most = difference.mode().sort().first() if found.height >= _FEWEST else None
    same = difference == most if most is not None else pl.repeat(False, found.height, eager=True)
    if same.sum() < _MOST * found.height:
        same = pl.repeat(False, found.height, eager=True)
    hint = "write the offsets of the first and the last character of the mention"
    once = found.with_columns(same=same, count=same.sum(), string=shown("text"))
    once = once.filter(~pl.col("same") | (pl.col("same").cum_sum() == 1))
    all_alike = pl.format(
        "all offsets of {} mentions differ alike; the second one is that of the last character",
        "count",
    )
    hints = pl.when("same").then(all_alike).otherwise(pl.lit(hint))
    return at(once.with_columns(hint=hints).lazy(), "offsets")


def _same_extent(context: RuleContext) -> pl.LazyFrame:
    """The mentions with the extent of another one, and whether an earlier one is equal."""
    rows = context.cached(mentions).filter(row_hash(*EXTENT).is_duplicated())
    return rows.with_columns(
        first=pl.col("record").first().over(EXTENT),
        again=~pl.struct(*EXTENT, *FIELDS).is_first_distinct(),
        ordinal=pl.int_range(pl.len()).over(EXTENT),
    )


def line_twice(context: RuleContext) -> pl.LazyFrame:
    """A mention that is equal to an earlier one."""
    found = context.cached(_same_extent).with_columns(
        first=pl.col("record").first().over(*EXTENT, *FIELDS)
    )
    return at(found.filter("again"), "")


def same_extent(context: RuleContext) -> pl.LazyFrame:
    """A mention with the extent of an earlier one, but not equal to it."""
    rows = context.cached(_same_extent)
    differs = [
        pl.when(pl.col(column).ne_missing(pl.col(column).first().over(EXTENT))).then(pl.lit(name))
        for column, name in FIELDS.items()
    ]
    names = pl.concat_list(differs).list.drop_nulls().list.join(", ")
    differ = (
        pl.when(names == "")
        .then(pl.lit("the two lines do not differ in any field that counts"))
        .otherwise(pl.format("the two lines differ in {}", names))
    )
    compared = rows.with_columns(differ=differ)
    return at(compared.filter(pl.col("ordinal") > 0, ~pl.col("again")), "extent")


def _spans(context: RuleContext) -> pl.LazyFrame:
    """Each extent once, in the order in which extents are compared."""
    columns = ("origin", "record", "id", "name", *EXTENT)
    return in_order(context.cached(mentions).select(columns).collect()).lazy()


def _paired(context: RuleContext, pairs: pl.DataFrame) -> pl.LazyFrame:
    """Mentions, each with the other of its pair: `pairs` are indices of the extents."""
    spans = context.cached(_spans).collect()
    own, other = pairs.columns
    extent = pl.format("{}-{}", "start", pl.col("end") - 1)
    found = spans[pairs[own]].with_columns(extent=extent)
    others = spans[pairs[other]].select(outer=extent, other="record")
    return at(pl.concat([found, others], how="horizontal").lazy(), "offsets")


def inside_another(context: RuleContext) -> pl.LazyFrame:
    """A mention that lies inside another."""
    return _paired(context, nested(context.cached(_spans).collect()))


def across_another(context: RuleContext) -> pl.LazyFrame:
    """A mention that begins inside another and ends after it."""
    return _paired(context, crossing(context.cached(_spans).collect()))
