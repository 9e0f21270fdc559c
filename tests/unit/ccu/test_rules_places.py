"""Rules over places: negative, reversed, empty, beyond the end of the document."""

from __future__ import annotations

import pytest

from tests.unit.ccu.ccu_rules import (
    AUDIO,
    TEXT,
    change,
    codes,
    context,
    corpus,
    found,
    instance,
    level,
    places,
)


def nd(*rows):
    return context("nd", corpus("instances", rows))


def test_good_places_have_no_finding():
    rows = [instance(AUDIO, 0, 30), instance(TEXT, 5, 5, "002"), instance(TEXT, 99, 100)]
    assert codes(nd(*rows)) == {}


def test_negative_places():
    rows = found(nd(instance(AUDIO, -2.5, 3), instance(AUDIO, -3, -2.25)), "CCU401")
    assert places(rows) == [(2, "start"), (3, "start"), (3, "end")]
    assert [row["given"] for row in rows] == ["-2.5", "-3", "-2.25"]
    points = context("cd", corpus("changes", [change(AUDIO, -1)]))
    assert places(found(points, "CCU401")) == [(2, "at")]


def test_an_end_before_its_start_in_any_document():
    looked_at = nd(instance(AUDIO, 20, 3), instance(TEXT, 7, 6), instance("other", 2, 1))
    rows = found(looked_at, "CCU402")
    assert places(rows) == [(2, "start"), (3, "start"), (4, "start")]
    assert (rows[0]["given"], rows[0]["end"]) == ("20", "3")


def test_a_stretch_without_length_is_one_character_of_a_text():
    looked_at = nd(instance(AUDIO, 3, 3), instance(TEXT, 7, 7), instance("other", 2, 2))
    assert places(found(looked_at, "CCU403")) == [(2, "start")]


@pytest.mark.parametrize(
    ("doc", "end", "code"),
    [
        (AUDIO, 30, None),
        (AUDIO, 30.5, "CCU404"),
        (AUDIO, 31, "CCU404"),
        (AUDIO, 31.01, "CCU405"),
        (TEXT, 110, "CCU404"),
        (TEXT, 111, "CCU405"),
        ("other", 999, None),
    ],
)
def test_beyond_the_end_by_little_and_by_much(doc, end, code):
    looked_at = nd(instance(doc, 1, end))
    assert {name for name in codes(looked_at) if name.startswith("CCU4")} == {code} - {None}
    if code:
        assert places(found(looked_at, code)) == [(2, "end")]


def test_a_stretch_beyond_the_end_is_one_finding():
    (row,) = found(nd(instance(AUDIO, 40, 50)), "CCU405")
    assert (row["field"], row["given"], row["most"], row["unit"]) == ("end", "50", "30", "seconds")
    (row,) = found(context("cd", corpus("changes", [change(TEXT, 400)])), "CCU405")
    assert (row["what"], row["unit"]) == ("timestamp", "characters")


def test_parts_of_characters():
    looked_at = nd(instance(TEXT, 1.5, 2), instance(AUDIO, 1.5, 2))
    assert places(found(looked_at, "CCU406")) == [(2, "start")]


def test_only_rows_of_the_task_are_judged():
    other = level(AUDIO, 9, 2, kind="arousal")
    looked_at = context("vd", corpus("ratings", [other, level(AUDIO, 8, 4)]))
    assert places(found(looked_at, "CCU402")) == [(3, "start")]
