"""Single fills: whether two of them say the same, by content and by extent.

By content, the system's string must be inside the reference's maximal string and hold one of its
minimal strings; where none is marked, the maximal string is the minimal one as well. By extent,
the system's must be enclosed in the reference's and overlap a minimal one; all comparisons of
offsets include equality, so extents that touch overlap. Of strings with alternatives any is taken
with which the tests succeed; the system's is the same in both tests of content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from hlteval.scoring.hub4.normalizer import BEGIN, variants

FILLERS = ("uh", "um")
#: The four tests of a pair of text fills: the first two make content, the others extent.
TESTS = ("inside", "holds", "enclosed", "overlaps")


def compared(
    pairs: pl.DataFrame, minimal: pl.DataFrame, *, fillers: Sequence[str] | None = None
) -> pl.DataFrame:
    """The tests of pairs of text fills, each pair once.

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
        >>> compared(pl.DataFrame([one | other]), none).select(TESTS).row(0)
        (True, False, True, True)
    """
    return by_extent(by_content(pairs, minimal, fillers=fillers), minimal)


def by_content(
    pairs: pl.DataFrame, minimal: pl.DataFrame, *, fillers: Sequence[str] | None = None
) -> pl.DataFrame:
    """The tests of content of `compared` alone, which need no extents."""
    rows = pairs.with_row_index("number")
    strings = minimal.select("fill", "bare", minimal="content").drop_nulls()
    found = _by_content(rows, strings, fillers).drop("number")
    return found.with_columns(pl.col(TESTS[:2]).fill_null(False))


def by_extent(pairs: pl.DataFrame, minimal: pl.DataFrame) -> pl.DataFrame:
    """The tests of extent of `compared` alone, which need no strings."""
    rows = pairs.with_row_index("number")
    extents = minimal.select("fill", "bare", low="start", high="end").drop_nulls()
    # Both extents are closed: one holds the ends of the other, or lies inside of it.
    of_minimal = _each(rows, extents, low="start", high="end").with_columns(
        start_system=pl.when("bare").then("whole_start_system").otherwise("start_system")
    )
    overlaps = _any(of_minimal, _overlap("low", "high", "start_system", "end_system"), "overlaps")
    return (
        rows.join(overlaps, on="number", how="left", maintain_order="left")
        .with_columns(
            enclosed=_within("start_system", "start", "end") & _within("end_system", "start", "end")
        )
        .with_columns(pl.col(TESTS[2:]).fill_null(False))
        .drop("number")
    )


def _by_content(
    rows: pl.DataFrame, strings: pl.DataFrame, fillers: Sequence[str] | None
) -> pl.DataFrame:
    several = pl.col("content", "content_system").str.contains(BEGIN, literal=True)
    ours = strings.filter(pl.col("minimal").str.contains(BEGIN, literal=True))
    marked = pl.any_horizontal(several.fill_null(False)) | pl.col("fill").is_in(
        ours["fill"].implode()
    )
    some = rows.filter(marked)
    if some.is_empty():
        return _single(rows, strings, fillers)
    plain = _single(rows.filter(~marked), strings, fillers)
    return pl.concat([plain, _of_variants(some, strings, fillers)]).sort("number")


def _of_variants(
    rows: pl.DataFrame, strings: pl.DataFrame, fillers: Sequence[str] | None
) -> pl.DataFrame:
    """The tests of content where strings have alternatives."""
    every = _each(rows, strings, minimal="content").group_by("number", maintain_order=True)
    columns = [pl.col("content", "content_system").first(), "minimal"]
    found = [
        (number, *_tests(system, maximal, minimal, fillers))
        for number, maximal, system, minimal in every.agg(columns).iter_rows()
    ]
    tests = pl.DataFrame(
        found, {"number": pl.UInt32, "inside": pl.Boolean, "holds": pl.Boolean}, orient="row"
    )
    return rows.join(tests, on="number", how="left", maintain_order="left")


def _tests(
    system: str, maximal: str, minimal: Sequence[str], fillers: Sequence[str] | None
) -> tuple[bool, bool]:
    """Whether a string is inside the maximal one and holds a minimal one, for its best variant."""
    best = (False, False)
    outer, inner = variants(maximal), [text for item in minimal for text in variants(item)]
    for text in variants(system):
        if fillers is None:
            tests = any(text in item for item in outer), any(item in text for item in inner)
        else:
            optional, words = frozenset(word.lower() for word in fillers), text.split()
            tests = (
                any(tokens_inside(words, Tokens(item, optional)) for item in outer),
                any(tokens_held(words, Tokens(item, optional)) for item in inner),
            )
        best = max(best, tests)
    return best


def _single(
    rows: pl.DataFrame, strings: pl.DataFrame, fillers: Sequence[str] | None
) -> pl.DataFrame:
    """The tests of content where strings have no alternatives."""
    of_minimal = _each(rows, strings, minimal="content")
    held_in = pl.when("bare").then("whole_system").otherwise("content_system")
    if fillers is None:
        inside = pl.col("content").str.contains(pl.col("content_system"), literal=True)
        holds = held_in.str.contains(pl.col("minimal"), literal=True)
        held = _any(of_minimal, holds, "holds")
        return rows.with_columns(inside=inside).join(
            held, on="number", how="left", maintain_order="left"
        )
    optional = frozenset(word.lower() for word in fillers)
    inside_of = [
        tokens_inside(system.split(), Tokens(reference, optional))
        for reference, system in rows.select("content", "content_system").iter_rows()
    ]
    holding = [
        tokens_held(system.split(), Tokens(reference, optional))
        for reference, system in of_minimal.select("minimal", held_in).iter_rows()
    ]
    held = _any(of_minimal, pl.Series("held", holding, dtype=pl.Boolean), "holds")
    found = rows.with_columns(inside=pl.Series(inside_of, dtype=pl.Boolean))
    return found.join(held, on="number", how="left", maintain_order="left")


def _each(rows: pl.DataFrame, listed: pl.DataFrame, **own: str) -> pl.DataFrame:
    """The rows once for each of what is listed of their fill; what is not listed is its own."""
    if listed.is_empty():
        return rows.with_columns(bare=pl.lit(False), **{k: pl.col(v) for k, v in own.items()})
    several = rows.join(listed, on="fill")
    alone = rows.join(listed, on="fill", how="anti").with_columns(bare=pl.lit(False))
    own_minimal = alone.with_columns(**{k: pl.col(v) for k, v in own.items()})
    return pl.concat([several, own_minimal.select(several.columns)])


def _any(rows: pl.DataFrame, test: pl.Expr | pl.Series, name: str) -> pl.DataFrame:
    return rows.with_columns(test.alias(name)).group_by("number").agg(pl.col(name).any())


def _within(one: str, low: str, high: str) -> pl.Expr:
    return (pl.col(low) <= pl.col(one)) & (pl.col(one) <= pl.col(high))


def _overlap(a: str, b: str, c: str, d: str) -> pl.Expr:
    """The specification's four conditions of (a, b) overlapping (c, d), as printed."""
    return (
        _within(c, a, b)
        | _within(d, a, b)
        | (pl.col(c).le(pl.col(a)) & pl.col(a).le(pl.col(d)))
        | (pl.col(c).le(pl.col(b)) & pl.col(b).le(pl.col(d)))
    )


class Tokens:
    """The tokens of a reference string, of which some may be left out.

    Args:
        text: the string.
        fillers: words that are optional, in small letters; words that break off are as well.
    """

    def __init__(self, text: str, fillers: Iterable[str]) -> None:
        self.words = text.split()
        listed = frozenset(fillers)
        self.optional = [
            word.lower() in listed or (len(word) > 1 and word.endswith("-")) for word in self.words
        ]

    def from_(self, places: Iterable[int]) -> set[int]:
        """The places reached from some by leaving out what is optional, themselves included."""
        reached: set[int] = set()
        for start in places:
            place = start
            while place not in reached:
                reached.add(place)
                if place < len(self.words) and self.optional[place]:
                    place += 1
        return reached

    def after(self, places: set[int], word: str) -> set[int]:
        """The places behind a word that stands at one of some places."""
        words = self.words
        return {place + 1 for place in places if place < len(words) and words[place] == word}


def tokens_inside(system: Sequence[str], reference: Tokens) -> bool:
    """Whether the system's tokens stand together in the reference, optional tokens left out.

    Examples:
        >>> tokens_inside(["Glen", "Bunting"], Tokens("Glen Buni- Bunting", ()))
        True
    """
    places = set(range(len(reference.words) + 1))
    for word in system:
        places = reference.after(reference.from_(places), word)
    return bool(places)


def tokens_held(system: Sequence[str], reference: Tokens) -> bool:
    """Whether the reference's tokens stand together in the system's, optional ones left out.

    Examples:
        >>> tokens_held("Glen Bunting the".split(), Tokens("Glen uh Bunting", ["uh"]))
        True
    """
    whole = len(reference.words)
    places: set[int] = set()
    for word in system:
        places = reference.from_({*places, 0})
        if whole in places:
            return True
        places = reference.after(places, word)
    return whole in reference.from_({*places, 0})
