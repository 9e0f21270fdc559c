"""Rules over levels: bounds that are shared or inclusive, gaps, overlaps, coverage."""

from __future__ import annotations

import pytest

from tests.unit.ccu.ccu_rules import AUDIO, TEXT, codes, context, corpus, found, level, places


def vd(*rows, **options):
    return context("vd", corpus("ratings", rows), **options)


def levels(looked_at):
    return {code: count for code, count in codes(looked_at).items() if code.startswith("CCU6")}


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([(0, 49), (50, 99)], {}),  # inclusive ends
        ([(0, 49), (50, 100)], {}),
        ([(0, 10), (10, 35), (35, 100)], {"CCU607": 1}),  # the example of the plan
        ([(0, 10), (10, 35), (36, 100)], {"CCU603": 1, "CCU607": 1}),
        ([(0, 9), (10, 35), (35, 99)], {"CCU603": 1, "CCU607": 1}),
        ([(0, 9), (10, 35), (36, 50), (50, 99)], {"CCU604": 1}),
        ([(0, 9), (10, 19), (21, 99)], {"CCU603": 1}),
        ([(1, 49), (50, 99)], {"CCU605": 1}),
        ([(0, 49), (50, 98)], {"CCU606": 1}),
        ([(0, 100)], {}),
    ],
    ids=str,
)
def test_bounds_of_texts_are_shared_or_inclusive(bounds, expected):
    assert levels(vd(*(level(TEXT, *each) for each in bounds))) == expected


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([(0, 10), (10.019, 30)], {}),
        ([(0, 10), (10.021, 30)], {"CCU603": 1}),
        ([(0, 10), (9.99, 30)], {}),
        ([(0, 10), (9.5, 30)], {"CCU604": 1}),
        ([(0, 29.99)], {}),
        ([(0, 29)], {"CCU606": 1}),
        ([(0, 30), (5, 6)], {"CCU604": 1}),
        ([(0.5, 30)], {"CCU605": 1}),
    ],
    ids=str,
)
def test_bounds_of_recordings_may_differ_a_little(bounds, expected):
    assert levels(vd(*(level(AUDIO, *each) for each in bounds))) == expected


def test_gaps_may_be_allowed():
    rows = [level(AUDIO, 1, 5), level(AUDIO, 8, 20), level(AUDIO, 19, 22)]
    assert levels(vd(*rows)) == {"CCU603": 1, "CCU604": 1, "CCU605": 1, "CCU606": 1}
    assert levels(vd(*rows, gaps="yes")) == {"CCU604": 1}


def test_rows_need_no_order_and_documents_are_apart():
    rows = [level(AUDIO, 10, 30), level(TEXT, 0, 99), level(AUDIO, 0, 10)]
    assert levels(vd(*rows)) == {}
    rows = [level(AUDIO, 12, 30), level(TEXT, 0, 99), level(AUDIO, 0, 10)]
    assert places(found(vd(*rows), "CCU603")) == [(2, "start")]


def test_levels_go_from_1_to_1000():
    rows = [level(AUDIO, 0, 10, 0), level(AUDIO, 10, 20, 1000), level(AUDIO, 20, 30, 1001)]
    assert places(found(vd(*rows), "CCU601")) == [(2, "level"), (4, "level")]


def test_two_levels_of_one_stretch_are_no_overlap():
    looked_at = vd(level(AUDIO, 0, 30, 500), level(AUDIO, 0, 30, 501))
    assert codes(looked_at) == {"CCU506": 1}
