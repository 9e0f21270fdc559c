"""What holds for all frames: similarities, pairings, cuts, and the two ways to read."""

from __future__ import annotations

import json
import random
import re
from itertools import permutations

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lark import UnexpectedInput

from hlteval.converters import load
from hlteval.converters.situations.appen_blocks import parse
from hlteval.grammars import load as load_grammar
from hlteval.grammars import pattern
from hlteval.representation import Corpus
from hlteval.scoring.curves import Curve, Point, cuts
from hlteval.scoring.similarity import UNIT, similarity
from hlteval.scoring.situations.official import frame_match
from hlteval.sources import open_source
from hlteval.syntax.json_text import items, strict
from hlteval.validators.situations.rules import types
from tests.effort import tries

FEW = settings(max_examples=tries(12), deadline=None)
PLACES = st.text("abc江ấ\u0301 ", max_size=6)
LABELS = st.sampled_from(types()[:3])


def by_the_formula(one: str, other: str) -> float:
    """(1) of section 2.2, by dynamic programming."""
    total = len(one) + len(other)
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            cost = before + (0 if left == right else 2)
            before, row[j] = row[j], min(cost, row[j] + 1, row[j - 1] + 1)
    return (total - row[-1]) / total if total else 1.0


@FEW
@given(PLACES, PLACES)
def test_similarity_is_the_formula_and_symmetric_and_within_0_and_1(one, other):
    found = similarity(one, other)
    assert 0 <= found <= UNIT
    assert found == similarity(other, one)
    assert found / UNIT == pytest.approx(by_the_formula(one, other), abs=1e-12)
    assert (found == UNIT) == (one == other)


@st.composite
def sides(draw, least=0, places=PLACES):
    """A reference and a system's frames, of three segments."""
    place = st.none() | places
    frame = st.tuples(st.integers(0, 2), LABELS, place)
    sure = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    reference = draw(st.lists(frame, max_size=6))
    system = draw(st.lists(st.tuples(frame, sure), min_size=least, max_size=8))
    return reference, [(*one, confidence) for one, confidence in system]


def corpus(rows) -> Corpus:
    frames = [
        {"row": row, "document": row_of[0], "origin": 0, "record": row + 1, "kind": "situation",
         "label": row_of[1], "place": row_of[2],
         "confidence": row_of[3] if len(row_of) > 3 else None}
        for row, row_of in enumerate(rows)
    ]  # fmt: skip
    return Corpus(documents=[{"row": row, "name": f"d{row}"} for row in range(3)], frames=frames)


def total(reference, system, **how) -> pl.DataFrame:
    metric = frame_match(**how)
    counts, _ = metric.statistics(corpus(reference), corpus(system))
    return metric.total([counts])


def curve(reference, system, **how) -> list[dict]:
    metric = frame_match(**how)
    return metric.score(total(reference, system, **how))[1]["curve"].to_dicts()


@FEW
@given(sides(places=st.text("ab", min_size=1, max_size=3)))
def test_true_positives_are_those_of_the_best_of_all_pairings(both):
    reference, system = both
    points = [row for row in curve(reference, system) if row["layer"] == "Type+Place"]
    assume(points)
    best = 0.0
    for document in range(3):
        ours = sorted({item for item in reference if item[0] == document and item[2]})
        theirs = sorted({item[:3] for item in system if item[0] == document and item[2]})
        short, long = sorted((ours, theirs), key=len)
        best += max(
            sum(
                by_the_formula(a[2], b[2]) * (a[1] == b[1])
                for a, b in zip(short, order, strict=False)
            )
            for order in permutations(long, len(short))
        )
    assert points[-1]["tp"] == pytest.approx(best, abs=1e-9)


@FEW
@given(sides(least=1), st.data())
def test_frames_below_a_threshold_change_no_point_at_or_above_it(both, data):
    reference, system = both
    threshold = min(item[3] for item in system)
    assume(threshold)
    added = [(*item[:3], 0.0) for item in data.draw(sides(least=1))[1]]

    def at(frames):
        rows = curve(reference, frames)
        return {
            row["layer"]: (row["tp"], row["fp"], row["fn"])
            for row in rows
            if row["threshold"] is not None and row["threshold"] == threshold
        }

    before, after = at(system), at(system + added)
    for layer in before.keys() & after.keys():
        assert after[layer] == before[layer]


@settings(max_examples=tries(15), deadline=None)
@given(sides(least=1), st.integers(1, 8))
def test_frames_below_all_others_without_a_true_positive_leave_every_area(both, count):
    """Up to the recall reached: what is right already, and all that is right, stays.

    All cuts of so few frames are taken, so that none moves.
    """
    reference, system = both
    system = [(*item[:3], (1 + item[3]) / 2) for item in system]
    labels = [label for label in types() if label not in {item[1] for item in reference}]
    document = next((number for number in range(3) if all(r[0] != number for r in reference)), None)
    added = [
        (at % 3, labels[at % len(labels)], None, 0.25 - at / 100)
        for at in range(count)
        if at % 3 in {item[0] for item in system} or at % 3 == document
    ]
    before, after = (
        frame_match().score(total(reference, item))[0] for item in (system, system + added)
    )
    kept = {name for name, value in before.items() if value is not None}
    assert kept
    areas = {name: before[name] for name in kept if "unanchored" not in name}
    assert {name: after[name] for name in areas} == pytest.approx(areas, abs=1e-12)


@settings(max_examples=tries(100), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, UNIT), st.integers(1, 3)), min_size=1, max_size=8),
    st.lists(st.integers(1, 5), max_size=4),
)
def test_points_in_vain_never_change_the_area(steps, vain):
    points, matched, frames = [Point(0, None, 0, 0)], 0, 0
    for cut, (gain, more) in enumerate(steps, start=1):
        matched, frames = matched + gain, frames + more
        points.append(Point(cut, 1 / cut, matched, frames))
    longer = list(points)
    for more in vain:
        frames += more
        longer.append(Point(len(longer), 1 / len(longer), matched, frames))
    short, long = (Curve(tuple(each), len(steps), by_rank=False) for each in (points, longer))
    assert long.area(anchored=True) == pytest.approx(short.area(anchored=True), abs=1e-12)
    beyond = short.area(anchored=False)  # undefined for fewer than two points
    assert beyond is None or long.area(anchored=False) == pytest.approx(beyond, abs=1e-12)


@FEW
@given(sides(), st.randoms(use_true_random=False))
def test_the_order_of_equal_confidences_does_not_change_the_plan(both, shuffler: random.Random):
    reference, system = both
    shuffled = list(system)
    shuffler.shuffle(shuffled)
    metric = frame_match()
    scores = [metric.score(total(reference, frames)) for frames in (system, shuffled)]
    assert scores[0][0] == scores[1][0]
    assert scores[0][1]["curve"].equals(scores[1][1]["curve"])


@FEW
@given(sides())
def test_segments_may_come_in_any_batches(both):
    reference, system = both
    metric = frame_match()
    ours, theirs = corpus(reference), corpus(system)
    parts = []
    for document in range(3):
        pair = []
        for side in (ours, theirs):
            pair.append(
                side.replace(
                    documents=side.documents.filter(row=document),
                    frames=side.frames.filter(document=document),
                )
            )
        parts.append(metric.statistics(*pair)[0])
    whole, _ = metric.statistics(ours, theirs)
    assert metric.score(metric.total(parts))[0] == metric.score(metric.total([whole]))[0]


@FEW
@given(sides(least=1))
def test_recall_never_falls_along_the_cuts_and_all_metrics_are_within_0_and_1(both):
    reference, system = both
    metrics, tables = frame_match().score(total(reference, system))
    assert all(value is None or -1e-12 <= value <= 1 + 1e-12 for value in metrics.values())
    for (_,), rows in tables["curve"].group_by("layer"):
        assert rows["cut"].to_list() == sorted(set(rows["cut"].to_list()))
        recalls = rows["recall"].drop_nulls().to_list()
        assert recalls == sorted(recalls)


@FEW
@given(st.integers(0, 200_000))
def test_cuts_begin_at_0_end_at_all_and_rise(size):
    found = cuts(size)
    assert found[0] == 0
    assert found[-1] == size
    assert found == sorted(set(found))
    assert len(found) <= 102
    inner = {round(size ** (j / 100)) for j in range(1, 101)} if size else set()
    assert set(found) - {0, size} == {cut for cut in inner if cut < size} - {0}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=tries(100), deadline=None)
@given(
    st.lists(JSON, max_size=4),
    st.integers(0, 10**6),
    st.sampled_from(list("\"{}[],:0eN\\\n .'")),
    st.booleans(),
)
def test_both_ways_to_read_json_agree_on_what_is_right(value, at, character, native):
    text = json.dumps(value, ensure_ascii=not native)
    for given_text in (text, text[: at % len(text)] + character + text[at % len(text) + 1 :]):
        try:
            data = given_text.encode()
        except UnicodeEncodeError:
            continue
        good, quick = strict(data)
        found = items(given_text)
        faultless = not found.problems and not any(
            item.problems or not item.complete for item in found.parsed
        )
        assert good == faultless
        if good and isinstance(quick, list):
            assert [item.value for item in found.parsed] == quick


@settings(max_examples=tries(75), deadline=None)
@given(st.text(max_size=200))
def test_no_text_is_too_strange_to_be_explained(text):
    found = items(text)
    assert all(0 <= fault.start <= fault.end <= len(text) for fault in found.problems)
    parse(text)


NAMES = (
    st.text("abcŠ'é江 -", min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda name: name not in {"", "n/a"})
)


@st.composite
def annotations(draw):
    """Annotation files in canonical layout."""
    blocks = []
    for _ in range(draw(st.integers(1, 3))):
        labels = draw(st.lists(st.sampled_from(types()), min_size=1, max_size=3, unique=True))
        places = draw(st.lists(NAMES, max_size=3, unique=True))
        time = draw(st.sampled_from(["Current", "Future", "Past Only", "n/a"]))
        relief = draw(st.sampled_from(["Sufficient", "No_Known_Resolution", "n/a"]))
        urgent = draw(st.sampled_from(["", "URGENCY: Urgent\n"]))
        blocks.append(
            f"TYPE: {', '.join(labels)}\nTIME: {time}\nResolution: {relief}\n"
            f"PLACE: {', '.join(places) or 'n/a'}\n{urgent}"
        )
    return "\n".join(blocks)


@settings(max_examples=tries(20), deadline=None)
@given(annotations())
def test_a_canonical_annotation_comes_back_byte_by_byte(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("appen")
    (folder / "in").mkdir()
    (folder / "in" / "D1.txt").write_text(text, "utf-8", newline="")
    form = load("appen")
    readings = list(form.read(open_source(str(folder / "in"))))
    form.write((reading.corpus for reading in readings), folder / "out")
    assert (folder / "out" / "D1.txt").read_bytes().decode() == text


@settings(max_examples=tries(20), deadline=None)
@given(
    sides(places=st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
    st.sampled_from(["native", "ascii"]),
)
@pytest.mark.parametrize("name", ["speech-sf-json", "speech-sf-tsv"])
def test_frames_come_back_as_they_were_written(tmp_path_factory, name, both, escapes):
    _, system = both
    written = corpus(system)
    form = load(name).with_settings({"escapes": escapes} if name == "speech-sf-json" else {})
    path = tmp_path_factory.mktemp("frames") / f"frames{form.suffixes[0]}"
    form.write([written], path)  # type: ignore[misc]
    (reading,) = form.read(open_source(str(path)))
    assert {finding.code for finding in reading.findings} <= {"SFJ209", "SRC203"}
    if any("\0" in (item[2] or "") for item in system) and name == "speech-sf-tsv":
        return  # a table is text, and text has no NUL
    columns = ["label", "place", "confidence"]
    assert reading.corpus.frames.select(columns).equals(written.frames.select(columns))


@settings(max_examples=tries(20), deadline=None)
@given(st.lists(st.none() | st.text("a\t\n\r\\te", max_size=4), min_size=3, max_size=3))
def test_a_table_keeps_any_text_of_a_frame(tmp_path_factory, texts):
    label, status, resolution = texts
    frame = {"label": label or "Shelter", "status": status, "resolution": resolution}
    head = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
    form, path = load("speech-sf-tsv"), tmp_path_factory.mktemp("frames") / "frames.tsv"
    form.write([Corpus(documents=[{"row": 0, "name": "d"}], frames=[head | frame])], path)
    (reading,) = form.read(open_source(str(path)))
    assert reading.corpus.frames.select(list(frame)).to_dicts() == [frame]


RULES = ("type_line", "time_line", "resolution_line", "place_line", "urgency_line")
LINES = st.sampled_from(
    [
        "TYPE: Shelter, Utilities, Energy, or Sanitation",
        "TYPE: out-of-domain",
        "TIME: Past Only",
        "Resolution: Insufficient/Unknown",
        "PLACE: Osh, Naryn",
        "URGENCY: Not urgent",
        "URGENCY: n/a",
    ]
)


@settings(max_examples=tries(150), deadline=None)
@given(LINES, st.integers(0, 60), st.integers(0, 3), st.text("TYPE:,n/a \tShelterU江", max_size=3))
def test_the_patterns_take_the_lines_that_the_grammar_takes(line, at, cut, put):
    mutated = (line[: at % len(line)] + put + line[at % len(line) + cut :]).rstrip(" \t")
    quick = any(re.fullmatch(pattern("appen", rule), mutated) for rule in RULES)
    try:
        load_grammar("appen").parse(mutated)
        slow = True
    except UnexpectedInput:
        slow = False
    assert quick == slow
