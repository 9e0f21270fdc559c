"""The mapping of template sets, in the order of the specification's section "Mapping".

Instance sets go together by document or, where the system's text is not segmented, greedily among
those that overlap. Within them instances of one type are mapped greedily by the F-measure of their
slots, slots by name, a system's fill-alternative to the reference's of best F-measure, and single
fills greedily. Points are those of single fills, and add up through the levels.

Of pairs that are equally good the order decides: an instance that the reference requires before one
that is optional, then the order of the reference, then that of the system. A pair without a correct
point has the F-measure 0 and is taken when nothing else is left, and all single fills of a kind are
paired until one side has none left: so only pairs that gain points are looked at.

Conventions:
    A "pair" is a reference instance beside a system's; one of the two is null where an instance
    is mapped to nothing. `at` is a slot of a pair and `which` an alternative of a slot of a pair,
    as numbers; the two sides number their slots alike. F-measures are quotients of small
    integers: equal ones are equal as floats, and different ones differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from hlteval.scoring.hub4.instance_sets import MAPPED, InstanceSets, Mode, Options
from hlteval.scoring.hub4.normalizer import BEGIN, variants
from hlteval.scoring.hub4.word_alignment import is_fragment

POINTS = ("cor", "inc", "mis", "spu", "optional", "removed")
#: The four tests of a pair of text fills: the first two make content, the others extent.
TESTS = ("inside", "holds", "enclosed", "overlaps")
_TAKEN = {"type": pl.String, **MAPPED, "choice": pl.Float64}
_SCORED = {
    **dict.fromkeys(("set", "rank", "reference", "system", "cor"), pl.Int64),
    "type": pl.String,
    "is_optional": pl.Boolean,
    "f": pl.Float64,
}
_SLOT = ("set", "type", "place")
#: Pairs of text fills that are compared at a time, more or less.
_PAIRS = 100_000
_LINK = ("pair", "at", "which", "fill", "fill_system", "position", "position_system")


def f_measure() -> pl.Expr:
    """The F-measure of beta 1 of the columns of points: 2 COR / (POS + ACT), and 0 for 0 / 0."""
    both = 2 * (pl.col("cor") + pl.col("inc")) + pl.col("mis") + pl.col("spu")
    return pl.when(both > 0).then(2 * pl.col("cor") / both).otherwise(0.0)


# General Greedy Mapping Algorithm


def greedy(rows: pl.DataFrame) -> pl.Series:
    """The "General Greedy Mapping Algorithm", over pairs that are sorted from best to worst.

    Args:
        rows: the columns of what pairs belong to, then the reference's object and the system's;
            rows that belong to the same are together.

    Returns:
        Whether each pair is chosen.

    Examples:
        >>> rows = pl.DataFrame({"set": [1, 1, 1], "r": [1, 1, 2], "s": [1, 2, 2]})
        >>> greedy(rows).to_list()
        [True, False, True]
    """
    *groups, reference, system = rows.columns
    number = pl.struct(groups).rle_id() if groups else pl.lit(0)
    chosen: list[bool] = []
    ours: set[int] = set()
    theirs: set[int] = set()
    current = None
    pairs = rows.with_columns(group=number).select("group", reference, system)
    for group, one, other in pairs.iter_rows():
        if group != current:
            ours, theirs, current = set(), set(), group
        free = one not in ours and other not in theirs
        chosen.append(free)
        if free:
            ours.add(one)
            theirs.add(other)
    return pl.Series("chosen", chosen, dtype=pl.Boolean)


# Mapping Instance Sets


def overlapping_sets(sets: InstanceSets, points: pl.DataFrame) -> pl.DataFrame:
    """The mapping of sets that overlap, greedily by the F-measure of the points of each.

    Args:
        sets: those that overlap.
        points: `set` and the points of its instances, a row per pair of instances.
    """
    counted = ("cor", "inc", "mis", "spu")
    sums = points.group_by("set").agg(pl.col(*counted).sum())
    rows = sets.pairs.join(sums, on="set", how="left")
    rows = rows.with_columns(pl.col(*counted).fill_null(0)).with_columns(f=f_measure())
    for name, side in sets.sides.items():
        rows = rows.join(side.order, left_on=name, right_on="document", suffix="_system")
    rows = rows.sort("f", "order", "order_system", descending=[True, False, False])
    rows = rows.select("reference", "system")
    return sets.with_rest(rows.filter(greedy(rows)))


# Mapping Instances


@dataclass(frozen=True)
class Mapping:
    """How a reference and a system are mapped in a mode.

    Attributes:
        sets: `set`, `reference`, `system`: documents; one is null where a set is left over.
        pairs: `pair`, `set`, `reference`, `system`, `type`, points, `f` and `choice`: every
            instance of either side but those that are removed.
        removed: `set`, `reference`: the optional instances that are mapped to nothing.
        evaluation: the points of the slots of `pairs`.
        fills: what was looked at.
        scored: the pairs with a correct point among which the greedy algorithm chose: `set`,
            `type`, `rank` (when the type was mapped), `reference`, `system`, `cor` and `f`.
    """

    sets: pl.DataFrame
    pairs: pl.DataFrame
    removed: pl.DataFrame
    evaluation: Evaluation
    fills: Candidates
    scored: pl.DataFrame


def instance_mapping(possible: Instances, mode: Mode) -> Mapping:
    """Map the instances of each set, one type after the other, by the greedy algorithm.

    Whether a pointer is correct depends on how what it points to is mapped: types that others point
    to come first, and slots that point to what is not mapped yet count only when all is mapped.
    """
    optional = possible.ours.filter("is_optional")
    optional = optional.join(possible.ranks, on=["set", "type"], how="left")
    optional = optional.select("set", "reference", rank=pl.col("rank").fill_null(-1))
    mapped, scored = pl.DataFrame(schema=_TAKEN), [pl.DataFrame(schema=_SCORED)]
    for rank in sorted(possible.ranks["rank"].unique()):
        before = optional.filter(pl.col("rank") < rank)
        removed = before.join(mapped, on=["set", "reference"], how="anti")
        # 1. All pairs with a correct point, with their F-measure.
        candidates = possible.candidates(rank, mapped, mode)
        points = evaluation(candidates, mapped, removed, mode)
        pairs = _with_points(candidates.pairs, points).filter(pl.col("cor") > 0)
        # 2. and 3. The best pair, then the best of those that are left, and so on.
        order = ["set", "type", "f", "is_optional", "reference", "system"]
        pairs = pairs.select(*_SCORED).sort(order, descending=[name == "f" for name in order])
        best = pairs.filter(greedy(pairs.select("set", "type", "reference", "system")))
        best = best.select("type", *MAPPED, choice="f")
        mapped = pl.concat([mapped, best, _rest(possible, rank, best)])
        scored.append(pairs)
    removed = optional.join(mapped, on=["set", "reference"], how="anti").select("set", "reference")
    # All instances, those that are left beside nothing.
    missing = possible.ours.join(mapped, on=["set", "reference"], how="anti").drop("is_optional")
    missing = missing.join(removed, on=["set", "reference"], how="anti")
    spurious = possible.theirs.join(mapped, on=["set", "system"], how="anti")
    final = possible.fills_of(pl.concat([mapped, missing, spurious], how="diagonal"))
    points = evaluation(final, mapped, removed, mode)
    pairs = _with_points(final.pairs, points)
    return Mapping(possible.pairs, pairs, removed, points, final, pl.concat(scored))


def _rest(possible: Instances, rank: int, best: pl.DataFrame) -> pl.DataFrame:
    """The pairs of a rank without a correct point, which are taken after the best.

    Each instance that is left could be mapped to any other that is left, so that they are mapped in
    their order.
    """
    options, group = possible.options, ["set", "type"]
    ours, theirs = possible.ranked.filter(rank=rank), possible.theirs
    if options.zero_f != "map":
        tied = pl.col("type") == options.top
        spared = ~pl.col("is_optional") if options.zero_f == "skip-optional" else pl.lit(False)
        ours = ours.filter(tied | spared)
    left, right = (
        rows.select(*group, *order)
        .join(best, on=[*group, order[-1]], how="anti")
        .sort(*group, *order)
        .with_columns(number=pl.int_range(pl.len()).over(group))
        for rows, order in ((ours, ["is_optional", "reference"]), (theirs, ["system"]))
    )
    both = left.join(right, on=[*group, "number"])
    return both.select("type", *MAPPED, choice=pl.lit(0.0))


def _with_points(pairs: pl.DataFrame, points: Evaluation) -> pl.DataFrame:
    """The pairs with the sums of the points of their slots, and their F-measure."""
    sums = points.slots.group_by("pair").agg(pl.col(*POINTS).sum())
    rows = pairs.join(sums, on="pair", how="left", maintain_order="left")
    return rows.with_columns(pl.col(*POINTS).fill_null(0)).with_columns(f=f_measure())


# Mapping Slots


class Evaluation(NamedTuple):
    """The points of pairs of instances.

    Attributes:
        slots: `pair`, `at`, `alternative` (of the reference; null where a side has none) and
            `POINTS`.
        links: the pairs of fills that gain points: `at`, `which`, `fill`, `fill_system`, `gain`.
        dropped: the pointers of the reference that are removed: `at`, `which`, `fill`, `target`.
    """

    slots: pl.DataFrame
    links: pl.DataFrame
    dropped: pl.DataFrame


def evaluation(
    candidates: Candidates, mapped: pl.DataFrame, removed: pl.DataFrame, mode: Mode
) -> Evaluation:
    """The points of pairs of instances, by what is decided about those they point to.

    Args:
        candidates: the pairs with their fills.
        mapped: `set`, `reference`, `system`: the instances that are mapped to each other.
        removed: `set`, `reference`: the optional instances that are mapped to nothing.
        mode: what single fills are compared by.
    """
    weight = 2 if mode == "both" else 1
    # Pointers to removed instances do not count; an alternative that has nothing else is none.
    gone = removed.select("set", target="reference")
    dropped = candidates.pointers.join(gone, on=["set", "target"], how="semi")
    counts = dropped.group_by("which").agg(gone=pl.len().cast(pl.Int64))
    alternatives = candidates.alternatives.join(counts, on="which", how="left")
    alternatives = alternatives.with_columns(pl.col("pointers") - pl.col("gone").fill_null(0))
    alternatives = alternatives.filter(pl.col("texts") + pl.col("pointers") > 0)
    links = _single_fills(candidates, mapped, dropped, mode)
    correct = links.group_by("which").agg(cor=pl.col("gain").sum())
    # Slots go together by name, and all fills of a kind are paired until one side has none left.
    both = alternatives.join(correct, on="which", how="left").join(
        candidates.answers.with_columns(answered=True),
        on=["pair", "at"],
        how="full",
        suffix="_system",
        coalesce=True,
    )
    counted = ("texts", "pointers", "texts_system", "pointers_system", "cor")
    both = both.with_columns(
        pl.col(*counted).fill_null(0), pl.col("slot_optional", "answered").fill_null(False)
    )
    texts = pl.min_horizontal("texts", "texts_system")
    pointers = pl.min_horizontal("pointers", "pointers_system")
    texts_left, pointers_left = weight * (pl.col("texts") - texts), pl.col("pointers") - pointers
    # Of an optional slot without an answer nothing is missing, of another no pointer.
    spared = pl.when(~pl.col("answered")).then(texts_left + pointers_left).otherwise(pointers_left)
    spared = pl.when("slot_optional").then(spared).otherwise(0)
    rows = both.select(
        *("pair", "at", "alternative", "cor", "answered"),
        inc=weight * texts + pointers - pl.col("cor"),
        mis=texts_left + pointers_left - spared,
        spu=weight * (pl.col("texts_system") - texts) + pl.col("pointers_system") - pointers,
        optional=spared,
    )
    lost = dropped.group_by("pair", "at").agg(removed=pl.col("target").n_unique())
    slots = _best_alternatives(rows).join(lost, on=["pair", "at"], how="full", coalesce=True)
    points = [pl.col(name).fill_null(0).cast(pl.Int64) for name in POINTS]
    slots = slots.select("pair", "at", "alternative", *points)
    return Evaluation(slots, links, dropped.select("at", "which", "fill", "target"))


# Mapping Fill-Alternatives


def _best_alternatives(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each slot the alternative of best F-measure.

    Of equal ones the one with fewest possible points that still has as many as the system has
    actual ones, so of a slot without an answer the cheapest; otherwise the first.
    """
    several = rows["at"].is_duplicated()
    if not several.any():
        return rows
    silent = pl.when("answered").then(0).otherwise("optional")
    right = pl.col("cor") + pl.col("inc")
    sums = {"pos": right + pl.col("mis") + silent, "act": right + pl.col("spu")}
    equal = rows.filter(several).with_columns(f=f_measure(), **sums)
    equal = equal.filter(pl.col("f") == pl.col("f").max().over("at")).sort("at", "alternative")
    short = (pl.col("pos") < pl.col("act")).first().over("at")
    first = pl.col("alternative") == pl.col("alternative").first().over("at")
    equal = equal.filter(pl.when(short).then(first).otherwise(pl.col("pos") >= pl.col("act")))
    equal = equal.sort("at", "pos", "alternative").unique("at", keep="first")
    return pl.concat([rows.filter(~several), equal.select(rows.columns)])


# Mapping Single Fills


def _single_fills(
    candidates: Candidates, mapped: pl.DataFrame, dropped: pl.DataFrame, mode: Mode
) -> pl.DataFrame:
    """The pairs of single fills that the greedy algorithm takes, as far as they gain points.

    A pair of texts has the points of its content and extent, a pair of pointers one if the
    instances that they refer to are mapped to each other.
    """
    texts = candidates.texts.select(*_LINK, gain=gain(mode), good=gain(mode))
    texts = texts.filter(pl.col("gain") > 0)
    targets = mapped.select("set", target="reference", other="system")
    pointers = candidates.pointers.join(dropped, on=["which", "fill"], how="anti")
    pointers = pointers.join(targets, on=["set", "target"]).join(
        candidates.pointers_system.drop("pair"),
        left_on=["at", "other"],
        right_on=["at", "target"],
        suffix="_system",
    )
    # Whether a text gains 1 of 2 or 2 of 2 points, or a pointer 1 of 1, orders as F does.
    most = pl.lit(2 if mode == "both" else 1, pl.Int64)
    rows = pl.concat([texts, pointers.select(*_LINK, gain=pl.lit(1, pl.Int64), good=most)])
    repeats = (pl.struct("which", name).is_duplicated() for name in ("fill", "fill_system"))
    twice = rows.select(pl.any_horizontal(repeats)).to_series()
    order = ["which", "good", "position", "position_system"]
    contested = rows.filter(twice).sort(order, descending=[name == "good" for name in order])
    best = contested.filter(greedy(contested.select("which", "fill", "fill_system")))
    links = pl.concat([rows.filter(~twice), best])
    return links.select("at", "which", "fill", "fill_system", "gain")


def gain(mode: Mode) -> pl.Expr:
    """The correct points of a pair of text fills, of its columns `content` and `extent`."""
    content, extent = (pl.col(name).cast(pl.Int64) for name in ("content", "extent"))
    return {"content": content, "extent": extent, "both": content + extent}[mode]


# Comparison of Text Fills


def compare_texts(
    pairs: pl.DataFrame, minimal: pl.DataFrame, *, fillers: Sequence[str] | None = None
) -> pl.DataFrame:
    """The tests of pairs of text fills, each pair once.

    By content, the system's string must be inside the reference's maximal string and hold one of
    its minimal strings; where none is marked, the maximal string is the minimal one as well. By
    extent, the system's must be enclosed in the reference's and overlap a minimal one; all
    comparisons of offsets include equality, so extents that touch overlap. Of strings with
    alternatives any is taken with which the tests succeed; the system's is the same in both tests
    of content.

    Args:
        pairs: `fill`, `content`, `start` and `end` of the reference, the same with `_system`;
            `whole_system` and `whole_start_system` are those with premodifiers.
        minimal: the minimal strings of the reference: `fill`, `content`, `start`, `end`; those that
            are `bare`, nothing but premodifiers, are looked for in the string with premodifiers.
        fillers: for noisy data, words that are optional in the reference besides fragments; null
            compares characters.

    Returns:
        The pairs with a Boolean column for each of `TESTS`.

    Examples:
        >>> one = {"fill": 1, "content": "the south", "start": 0, "end": 9}
        >>> other = {"content_system": "south", "start_system": 4, "end_system": 9}
        >>> other |= {"whole_system": "south", "whole_start_system": 4}
        >>> minimal = {"fill": int, "content": str, "start": int, "end": int, "bare": bool}
        >>> none = pl.DataFrame(schema=minimal)
        >>> compare_texts(pl.DataFrame([one | other]), none).select(TESTS).row(0)
        (True, False, True, True)
    """
    rows = pairs.with_row_index("number")
    for table in (_compare_contents(rows, minimal, fillers), _compare_extents(rows, minimal)):
        rows = rows.join(table, on="number", how="left", maintain_order="left")
    return rows.drop("number").with_columns(pl.col(TESTS).fill_null(False))


def _with_minimal(rows: pl.DataFrame, strings: pl.DataFrame, **columns: str) -> pl.DataFrame:
    """The rows once for each minimal string of their fill; without one, it is the maximal."""
    listed = strings.select("fill", "bare", **columns).drop_nulls()
    several = rows.join(listed, on="fill")
    own = {name: pl.col(column) for name, column in columns.items()}
    single = rows.join(listed, on="fill", how="anti").with_columns(bare=pl.lit(False), **own)
    return pl.concat([several, single.select(several.columns)])


def _compare_contents(
    rows: pl.DataFrame, minimal: pl.DataFrame, fillers: Sequence[str] | None
) -> pl.DataFrame:
    """The tests of content: `number`, `inside` and `holds`."""
    strings = _with_minimal(rows, minimal, minimal="content")
    marked = pl.col("content", "content_system", "minimal").str.contains(BEGIN, literal=True)
    strings = strings.with_columns(marked=pl.any_horizontal(marked.fill_null(False)))
    if strings["marked"].any():
        strings = strings.with_columns(pl.col("marked").any().over("number"))
    whole = pl.when(pl.col("bare") & ~pl.col("marked")).then("whole_system")
    inside = pl.col("content").str.contains(pl.col("content_system"), literal=True)
    holds = pl.coalesce(whole, "content_system").str.contains(pl.col("minimal"), literal=True)
    exact = pl.lit(fillers is None) & ~pl.col("marked")
    tests = strings.filter(exact).group_by("number").agg(inside=inside.first(), holds=holds.any())
    others = strings.filter(~exact).group_by("number", maintain_order=True)
    texts = others.agg(pl.col("content", "content_system").first(), "minimal", whole=whole)
    tested = [
        (number, *_word_tests(content, system, listed, wholes, fillers))
        for number, content, system, listed, wholes in texts.iter_rows()
    ]
    return pl.concat([tests, pl.DataFrame(tested, tests.schema, orient="row")])


def _compare_extents(rows: pl.DataFrame, minimal: pl.DataFrame) -> pl.DataFrame:
    """The tests of extent: `number`, `enclosed` and `overlaps`."""
    extents = _with_minimal(rows, minimal, low="start", high="end")
    low, high, end = pl.col("low"), pl.col("high"), pl.col("end_system")
    start = pl.when("bare").then("whole_start_system").otherwise("start_system")
    overlaps = low.is_between(start, end) | high.is_between(start, end)
    overlaps |= start.is_between(low, high) | end.is_between(low, high)
    inside = (pl.col(name).is_between("start", "end") for name in ("start_system", "end_system"))
    enclosed = pl.all_horizontal(*inside).first()
    return extents.group_by("number").agg(enclosed=enclosed, overlaps=overlaps.any())


def _word_tests(
    content: str,
    system: str,
    minimal: Sequence[str],
    whole: Sequence[str | None],
    fillers: Sequence[str] | None,
) -> tuple[bool, bool]:
    """Whether a string is inside the maximal one and holds a minimal one, for its best variant.

    Args:
        content: the maximal string.
        system: the string of the system.
        minimal: the minimal strings.
        whole: where each is looked for; null for the string of the system.
        fillers: the words that are optional in the reference; null compares characters.
    """
    best = (False, False)
    for text in variants(system):
        inside = [(text, item) for item in variants(content)]
        held = [
            (place or text, item)
            for string, place in zip(minimal, whole, strict=True)
            for item in variants(string)
        ]
        if fillers is None:
            tests = any(a in b for a, b in inside), any(b in a for a, b in held)
        else:
            tests = (
                any(tokens_match(a.split(), b.split(), fillers, inside=True) for a, b in inside),
                any(tokens_match(a.split(), b.split(), fillers, inside=False) for a, b in held),
            )
        best = max(best, tests)
    return best


def tokens_match(
    system: Sequence[str], reference: Sequence[str], fillers: Sequence[str], *, inside: bool
) -> bool:
    """Whether tokens stand together on the other side, with what is optional left out or not.

    Args:
        system: the tokens of the system.
        reference: those of the reference, of which fragments and fillers may be left out.
        fillers: the fillers.
        inside: whether the system's are looked for in the reference, and not the other way round.

    Examples:
        >>> tokens_match(["Glen", "Bunting"], ["Glen", "Buni-", "Bunting"], (), inside=True)
        True
        >>> tokens_match("a Lee Roe".split(), ["Lee", "uh", "Roe"], ["uh"], inside=False)
        True
    """
    lower, size = {word.lower() for word in fillers}, len(reference)
    optional = [word.lower() in lower or is_fragment(word) for word in reference]

    def leave_out(places: set[int]) -> set[int]:
        """The places reached from some by leaving out what is optional, themselves included."""
        reached: set[int] = set()
        for start in places:
            place = start
            while place not in reached:
                reached.add(place)
                place += place < size and optional[place]
        return reached

    places = set(range(size + 1)) if inside else set()
    for word in system:
        places = leave_out(places if inside else {*places, 0})
        if not inside and size in places:
            return True
        places = {place + 1 for place in places if place < size and reference[place] == word}
    return bool(places) if inside else size in leave_out({*places, 0})


def _plausible_pairs(left: pl.DataFrame, right: pl.DataFrame, *, keep_all: bool) -> pl.DataFrame:
    """The pairs of texts in the same slots, but those that are certainly wrong.

    These are a string of the system that is not inside the reference's, and whose extent is not
    enclosed. All pairs of one large document would take gigabytes.
    """
    several = pl.col("content").str.contains(BEGIN, literal=True).fill_null(False)
    left, right = (rows.with_columns(several=several) for rows in (left, right))
    inside = pl.col("content").str.contains(pl.col("content_system"), literal=True)
    inside |= pl.col("several") | pl.col("several_system") | pl.lit(keep_all)
    ends = (pl.col(name).is_between("start", "end") for name in ("start_system", "end_system"))
    plausible = inside.fill_null(False) | pl.all_horizontal(*ends).fill_null(False)
    part = right.group_by(_SLOT).agg(part=pl.len() / _PAIRS)
    left = left.join(part, on=_SLOT, maintain_order="left")
    left = left.with_columns(pl.col("part").cum_sum().floor())
    parts = (left.clear(), *left.partition_by("part", maintain_order=True))
    both = (part.join(right, on=_SLOT, suffix="_system") for part in parts)
    return pl.concat(pairs.filter(plausible) for pairs in both)


# The instances and fills that are looked at. A pair of instances without a correct point has the
# F-measure 0, and is mapped when nothing else is left. So only the others are candidates: those
# that have a correct text in a slot, or a correct pointer.


class Candidates(NamedTuple):
    """Pairs of instances with all that is looked at to give them points.

    Attributes:
        pairs: `pair`, `set`, `reference`, `system`, `type`.
        alternatives: of the reference: `pair`, `at`, `which`, `alternative`, `slot_optional`, and
            how many `texts` and `pointers` it has.
        answers: the slots of the system: `pair`, `at`, `texts`, `pointers`.
        texts: pairs of text fills of the same slot: `pair`, `at`, `which`, `fill`, `fill_system`,
            `position`, `position_system`, `TESTS`, and whether they are correct by `content` and
            by `extent`.
        pointers: the pointers of the reference: `pair`, `at`, `which`, `fill`, `position`, `set`,
            `target`.
        pointers_system: those of the system: `pair`, `at`, `fill`, `position`, `target`.
    """

    pairs: pl.DataFrame
    alternatives: pl.DataFrame
    answers: pl.DataFrame
    texts: pl.DataFrame
    pointers: pl.DataFrame
    pointers_system: pl.DataFrame


class Instances:
    """The instances of two sides that could be mapped, with their fills.

    Args:
        sets: the two sides.
        pairs: `set`, `reference`, `system`: the documents whose instances are mapped.
        options: the choices that the specification leaves open.

    Attributes:
        ours: the instances of the reference: `set`, `type`, `is_optional`, `reference`.
        theirs: the instances of the system: `set`, `type`, `system`.
        ranks: when each type that both sides of a set have is mapped: `set`, `type`, `rank`.
        ranked: the instances of the reference whose type the system has too, with their ranks.
        early: the slots that point to what is mapped at the same time or later.
        texts: the texts of both sides in the same slots that may be correct, by content or by
            extent, compared once for all modes.
        pointers: the pointers of the reference and of the system.
        counts: the alternatives of the reference and the slots of the system, with how many texts
            and pointers they have.
    """

    def __init__(self, sets: InstanceSets, pairs: pl.DataFrame, options: Options) -> None:
        self.sets, self.pairs, self.options = sets, pairs, options

        def with_sets(side: str, rows: pl.DataFrame) -> pl.DataFrame:
            """Rows of the documents of one side, with the number of their set."""
            members = pairs.select("set", document=side).drop_nulls("document")
            return members.join(rows, on="document", maintain_order="left_right")

        instances = [with_sets(name, side.instances) for name, side in sets.sides.items()]
        self.ours = instances[0].select("set", "type", "is_optional", reference="instance")
        self.theirs = instances[1].select("set", "type", system="instance")

        # Types that others point to are mapped before these.
        keys = ["type", "place", "target_type"]
        pointing = (
            with_sets(name, side.fills.drop_nulls("target").unique(["document", *keys]))
            for name, side in sets.sides.items()
        )
        targets = pl.concat(rows.select("set", *keys) for rows in pointing).unique()
        shared = self.ours.join(self.theirs, on=["set", "type"], how="semi", maintain_order="left")
        shared = shared.select("set", "type").unique(maintain_order=True)
        self.ranks = type_ranks(shared, targets, options.type_order)
        self.ranked = self.ours.join(self.ranks, on=["set", "type"], maintain_order="left")
        later = self.ranks.rename({"type": "target_type", "rank": "target_rank"})
        early = targets.join(self.ranks, on=["set", "type"]).join(later, on=["set", "target_type"])
        self.early = early.filter(pl.col("target_rank") >= pl.col("rank")).select(_SLOT).unique()

        columns = ("place", "fill", "position", "content", "start", "end", "whole", "whole_start")
        left, right = (
            side.fills.filter(kind="text")
            .rename({"instance": name})
            .select(name, "alternative", *columns)
            for name, side in sets.sides.items()
        )
        left, right = self.ranked.join(left, on="reference"), self.theirs.join(right, on="system")
        pairs = _plausible_pairs(left, right, keep_all=options.noisy)
        fillers = options.fillers if options.noisy else None
        self.texts = compare_texts(pairs, sets.reference.minimal, fillers=fillers).select(
            *("rank", *MAPPED, "place", "alternative", "fill", "fill_system"),
            *("position", "position_system", *TESTS),
            content=pl.all_horizontal(TESTS[:2]),
            extent=pl.all_horizontal(TESTS[2:]),
        )

        pointed = ("instance", "place", "fill", "position", "target")
        slot = ("instance", "place")
        kinds = {f"{kind}s": pl.col("kind") == kind for kind in ("text", "pointer")}
        numbers = {name: matches.sum().cast(pl.Int64) for name, matches in kinds.items()}
        ours, theirs = (side.fills for side in sets.sides.values())
        self.pointers = (
            ours.filter(kind="pointer").select(*pointed, "alternative"),
            theirs.filter(kind="pointer").select(pointed),
        )
        alternatives = ours.group_by(*slot, "alternative", maintain_order=True)
        self.counts = (
            alternatives.agg(pl.col("slot_optional").first(), **numbers),
            theirs.group_by(*slot, maintain_order=True).agg(**numbers),
        )

    def candidates(self, rank: int, mapped: pl.DataFrame, mode: Mode) -> Candidates:
        """The pairs of a rank that gain points in a mode, without slots that cannot be judged yet.

        Args:
            rank: of the types.
            mapped: `set`, `reference`, `system`: the instances of earlier types that are mapped.
            mode: what single fills are compared by.
        """
        ours = self.ranked.filter(rank=rank)
        texts = self.texts.filter(pl.col("rank") == rank, gain(mode) > 0)
        targets = mapped.select("set", target="reference", other="system")
        left = ours.join(self.pointers[0], left_on="reference", right_on="instance")
        left = left.join(targets, on=["set", "target"]).select(*_SLOT, "reference", "other")
        right = self.theirs.join(self.pointers[1], left_on="system", right_on="instance")
        pointers = left.join(right.select(*_SLOT, "system", other="target"), on=[*_SLOT, "other"])
        both = pl.concat([texts.select(*MAPPED), pointers.select(*MAPPED)]).unique()
        return self.fills_of(both.join(ours, on=["set", "reference"]), self.early)

    def fills_of(self, pairs: pl.DataFrame, early: pl.DataFrame | None = None) -> Candidates:
        """Number pairs of instances and look up their fills, but those of early slots.

        Args:
            pairs: `set`, `reference`, `system`, `type`; null where an instance is beside nothing.
            early: `set`, `type`, `place`.
        """
        pairs = pairs.with_columns(pair=pl.int_range(pl.len(), dtype=pl.Int64))
        at = pl.col("pair") * self.sets.places + pl.col("place")
        which = at * self.sets.most + pl.col("alternative")

        def with_numbers(side: str, table: pl.DataFrame) -> pl.DataFrame:
            """Rows of the instances of one side of pairs, with the numbers of slots."""
            members = pairs.select("pair", "set", instance=side).drop_nulls("instance")
            rows = members.join(table, on="instance", maintain_order="left_right")
            numbers = {"at": at} | ({"which": which} if "alternative" in table.columns else {})
            return rows.with_columns(**numbers).drop("instance", "place")

        texts = self.texts.join(pairs.select(*MAPPED, "pair"), on=[*MAPPED])
        tables = [
            with_numbers("reference", self.counts[0]),
            with_numbers("system", self.counts[1]),
            texts.with_columns(at=at, which=which).select(*_LINK, *TESTS, "content", "extent"),
            with_numbers("reference", self.pointers[0]),
            with_numbers("system", self.pointers[1]),
        ]
        if early is not None:
            slots = pairs.join(early, on=["set", "type"]).select(at=at)
            tables = [table.join(slots, on="at", how="anti") for table in tables]
        return Candidates(pairs, *tables)


def type_ranks(
    types: pl.DataFrame, pointing: pl.DataFrame, type_order: Sequence[str] = ()
) -> pl.DataFrame:
    """When each type of each set is mapped: types that others point to come first.

    Types that point to each other in a circle are mapped together.

    Args:
        types: `set`, `type`: the types that both sides have.
        pointing: `set`, `type`, `target_type`: which types point to which.
        type_order: an order to keep to; types that it does not name come before those it does.

    Returns:
        The types with `rank`, from 0.

    Examples:
        >>> types = pl.DataFrame({"set": [1, 1], "type": ["TEMPLATE", "BREAD"]})
        >>> pointing = pl.DataFrame({"set": 1, "type": "TEMPLATE", "target_type": "BREAD"})
        >>> type_ranks(types, pointing).sort("rank")["type"].to_list()
        ['BREAD', 'TEMPLATE']
    """
    if type_order:
        places = {name: place for place, name in enumerate(type_order, start=1)}
        ranks_of_types = pl.col("type").replace_strict(places, default=0, return_dtype=pl.Int64)
        return types.with_columns(rank=ranks_of_types)
    targets: dict[tuple[int, str], set[str]] = {}
    for number, source, target in pointing.select("set", "type", "target_type").iter_rows():
        targets.setdefault((number, source), set()).add(target)
    ranks: list[tuple[int, str, int]] = []
    for number, names in types.group_by("set", maintain_order=True).agg("type").iter_rows():
        left, level = set(names), 0
        while left:
            reached = {name: targets.get((number, name), set()) & left for name in left}
            for middle in left:
                for name in left:
                    if middle in reached[name]:
                        reached[name] |= reached[middle]
            # All types that one of these leads to lead back to it.
            ready = {name for name in left if all(name in reached[to] for to in reached[name])}
            ranks += [(number, name, level) for name in names if name in ready]
            left -= ready
            level += 1
    return pl.DataFrame(ranks, {**types.schema, "rank": pl.Int64}, orient="row")
