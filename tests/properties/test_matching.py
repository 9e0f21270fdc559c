"""Pairing: optimal against every possibility, greedy against its definition."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.scoring.matching import Candidates, Pair, components, gains, optimal
from hlteval.scoring.seedev.event_pairs import UNIT
from tests.effort import tries

# The similarities that occur: 1, one half, thirds, and so on; many are equal, so that ties abound.
WEIGHTS = st.sampled_from(
    [UNIT, UNIT // 2, UNIT // 3, UNIT // 4, UNIT // 6, 2 * UNIT // 3, 3 * UNIT // 4, 1, 2, 3]
)


def candidates(most: int) -> st.SearchStrategy[list[Pair]]:
    items = st.integers(0, most - 1)
    listed = st.dictionaries(st.tuples(items, items), WEIGHTS, max_size=most * most)
    return listed.map(lambda found: [Pair(*items, weight) for items, weight in found.items()])


def possible(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """Every one-to-one pairing that candidates allow."""
    if not pairs:
        yield []
        return
    first, *rest = pairs
    yield from possible(rest)
    apart = [p for p in rest if p.reference != first.reference and p.system != first.system]
    for chosen in possible(apart):
        yield [first, *chosen]


def greedy(pairs: list[Pair]) -> list[Pair]:
    """The greedy pairing, of candidates that come in two parts."""
    size = 1 + max((max(pair.reference, pair.system) for pair in pairs), default=0)
    found = Candidates(size, size, UNIT)
    for part in (pairs[::2], pairs[1::2]):
        columns = np.array(part, np.int64).reshape(len(part), 3)
        found.add(columns[:, 0], columns[:, 1], columns[:, 2])
    return found.best_first()


def worth(chosen: list[Pair]) -> tuple[int, int]:
    return sum(pair.weight for pair in chosen), len(chosen)


def one_to_one(chosen: list[Pair]) -> bool:
    references, systems = ({pair[side] for pair in chosen} for side in (0, 1))
    return len(references) == len(systems) == len(chosen)


@given(candidates(4))
@settings(max_examples=tries(80), deadline=None)
def test_optimal_is_the_best_of_all_and_of_these_one_with_most_pairs(pairs: list[Pair]) -> None:
    chosen = optimal(pairs)
    assert set(chosen) <= set(pairs)
    assert one_to_one(chosen)
    assert worth(chosen) == max(map(worth, possible(pairs)))


@given(candidates(4))
@settings(max_examples=tries(80), deadline=None)
def test_gains_sum_to_the_best_of_the_first_systems(pairs: list[Pair]) -> None:
    total = 0
    for system, gain in gains(pairs):
        total += gain
        first = [pair for pair in pairs if pair.system <= system]
        assert total == max(map(worth, possible(first)))[0]
    assert [system for system, _ in gains(pairs)] == sorted({pair.system for pair in pairs})


@pytest.mark.parametrize("size", [3, 150])
def test_small_and_large_tables_are_solved_alike(size: int) -> None:
    """Cyclic weights, in which no pair decides alone; either table side may be the longer one."""
    wide = [Pair(r, s, 1 + (r * s) % 7) for r in range(size) for s in range(size + 5)]
    high = [Pair(pair.system, pair.reference, pair.weight) for pair in wide]
    for pairs in (wide, high):
        chosen = optimal(pairs)
        assert one_to_one(chosen)
        assert worth(chosen) == (sum(gain for _, gain in gains(pairs)), size)


def test_equal_sums_are_decided_by_the_number_of_pairs() -> None:
    pairs = [Pair(1, 1, 2), Pair(1, 2, 1), Pair(2, 1, 1)]
    assert optimal(pairs) == [Pair(1, 2, 1), Pair(2, 1, 1)]


def test_ties_are_decided_in_every_group() -> None:
    """Of each four candidates, the two of 1 are worth as much as the one of 2, and are more."""
    size = 60
    pairs = [Pair(at, at, 2) for at in range(0, size, 2)]
    pairs += [Pair(at, at + 1, 1) for at in range(0, size, 2)]
    pairs += [Pair(at + 1, at, 1) for at in range(0, size, 2)]
    assert worth(optimal(pairs)) == (size, size)


@given(candidates(5))
@settings(max_examples=tries(80), deadline=None)
def test_greedy_takes_reciprocal_best_pairs_until_there_is_none(pairs: list[Pair]) -> None:
    chosen = greedy(pairs)
    assert one_to_one(chosen)
    left = list(pairs)
    for pair in sorted(chosen, key=lambda pair: (-pair.weight, pair)):
        rivals = [p for p in left if p.reference == pair.reference or p.system == pair.system]
        assert pair in rivals
        assert pair.weight == max(rival.weight for rival in rivals)
        left = [p for p in left if p not in rivals]
    assert left == []


@given(candidates(5))
@settings(max_examples=tries(40), deadline=None)
def test_greedy_takes_ties_in_the_order_of_the_documents(pairs: list[Pair]) -> None:
    """The first pair taken is the heaviest; of those, the first reference and its first system."""
    if pairs:
        first = min(pairs, key=lambda pair: (-pair.weight, pair.reference, pair.system))
        assert first in greedy(pairs)
    assert greedy(pairs[::-1]) == greedy(pairs)


@given(candidates(5))
@settings(max_examples=tries(40), deadline=None)
def test_greedy_is_never_better_and_never_below_half(pairs: list[Pair]) -> None:
    best, taken = worth(optimal(pairs))[0], worth(greedy(pairs))[0]
    assert best / 2 <= taken <= best


@given(candidates(6))
@settings(max_examples=tries(40), deadline=None)
def test_components_share_no_item(pairs: list[Pair]) -> None:
    groups = components(pairs)
    assert sorted(pair for group in groups for pair in group) == sorted(pairs)
    for side in (0, 1):
        items = [item for group in groups for item in {pair[side] for pair in group}]
        assert len(items) == len(set(items))
    for group in groups:  # each hangs together: from its first pair, all are reached
        reached, waiting = [group[0]], group[1:]
        while near := [p for p in waiting if any(p[0] == r[0] or p[1] == r[1] for r in reached)]:
            reached, waiting = reached + near, [p for p in waiting if p not in near]
        assert waiting == []


def test_greedy_of_many_candidates_is_by_its_definition() -> None:
    draw, size = random.Random(4), 90
    pairs = [
        Pair(at, other, draw.choice((1, 2, 3, UNIT))) for at in range(size) for other in range(size)
    ]
    left, expected = sorted(pairs, key=lambda pair: (-pair.weight, pair)), []
    while left:
        first = left[0]
        expected.append(first)
        left = [p for p in left if p.reference != first.reference and p.system != first.system]
    assert greedy(pairs) == sorted(expected)
