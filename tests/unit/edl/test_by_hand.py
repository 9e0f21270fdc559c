"""Every measure of entity discovery and linking on one example, with the computation.

    reference   D1: a 1-5 E1   b 11-15 E1   c 21-25 E1   d 31-35 E2
                D2: e 1-10 E2   f 21-25 NIL1   j 31-35 E1
    system      D1: a 1-5 E1   b 11-15 E1   c 21-25 E3   d 31-35 E3   i 12-24 NIL8
                D2: g 1-4 E2   h 9-10 E2   f 21-25 NIL7   j 31-35 NIL9

Both have seven and nine mentions. E1 is PER, E2 is ORG, NIL1 is GPE; b is ORG in the system.
"""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

from hlteval import tasks
from hlteval.scoring.edl.errors import _context
from tests.runs import score

REFERENCE = """
D1 1 5 E1 1 PER
D1 11 15 E1 1 PER
D1 21 25 E1 1 PER
D1 31 35 E2 1 ORG
D2 1 10 E2 1 ORG
D2 21 25 NIL1 1 GPE
D2 31 35 E1 1 PER
"""
SYSTEM = """
D1 1 5 E1 1 PER
D1 11 15 E1 1 ORG
D1 21 25 E3 1 PER
D1 31 35 E3 1 ORG
D1 12 24 NIL8 1 PER
D2 1 4 E2 1 ORG
D2 9 10 E2 1 ORG
D2 21 25 NIL7 1 GPE
D2 31 35 NIL9 1 PER
"""
# The system's i covers 13 units: of b 4 and of c 4. The reference's e has 10: g covers 4, h 2.
MOST, ALL = Fraction(4, 13), Fraction(8, 13)
E_MOST, E_ALL = Fraction(4, 10), Fraction(6, 10)

# What is right of the system and how many it has; what is right of the reference, and how many.
COUNTS = {
    "strong_mention_match": (6, 9, 6, 7),  # a b c d f j
    "strong_typed_mention_match": (5, 9, 5, 7),  # a c d f j
    # seven spans of the system but i, and six of the reference but e, are covered as a whole
    "overlap-maxmax::span": (8 + MOST, 9, 6 + E_MOST, 7),
    "overlap-maxsum::span": (8 + ALL, 9, 6 + E_MOST, 7),
    "overlap-summax::span": (8 + MOST, 9, 6 + E_ALL, 7),
    "overlap-sumsum::span": (8 + ALL, 9, 6 + E_ALL, 7),
    "strong_typed_all_match": (2, 9, 2, 7),  # a, and f, which is NIL on both sides
    "strong_typed_link_match": (1, 6, 1, 6),  # a; without f i j, and without f
    "strong_typed_nil_match": (1, 3, 1, 1),  # f; of f i j, and of f
    "entity_match": (2, 3, 2, 4),  # D1 E1, D2 E2; of D1 E1, D1 E3, D2 E2; D1 E1 E2, D2 E1 E2
    # E1 abcj is that of ab (2), E2 de that of cd (1), f that of f (1); j is left over
    "mention_ceaf": (4, 9, 4, 7),
    "typed_mention_ceaf": (3, 9, 3, 7),  # without b
    "typed_mention_ceaf_plus": (2, 9, 2, 7),  # a f: d has another link
    # in D1 ab and d, in D2 f, and j, whose cluster is that of E1 in this document
    "mention_ceaf;docid=<micro>": (5, 9, 5, 7),
    # a d, e f j against a c i, g f j: E1 aj is that of a (or j), f that of f
    "mention_ceaf:is_first:span": (2, 6, 2, 5),
    "strong_linked_mention_match": (4, 6, 4, 6),  # a b c d
    "strong_link_match": (2, 6, 2, 6),  # a b
    "strong_nil_match": (1, 3, 1, 1),  # f
    "strong_all_match": (3, 9, 3, 7),  # a b f
    # Links, one less than mentions. abcj is in the parts ab, c, j: 4 - 3 of 3; de in two: 0 of 1.
    # Of the system ab is whole: 1 of 1; c and d, g and h are apart: 0 of 1 each.
    "muc": (1, 3, 1, 4),
    # a and b share 2 of 2, c 1 of 2, d 1 of 2, f 1, j 1; of the reference 2/4 2/4 1/4 1/2 1 1/4
    "b_cubed": (5, 9, 3, 7),
    # with the link right: a and b share 2 of 2, f 1; of the reference 2/4 2/4 1
    "b_cubed_plus": (3, 9, 2, 7),
    # 2 · 2 / (4 + 2) for E1 with ab, 2 · 1 / (2 + 2) for E2 with cd, 1 for f; of six and of three
    "entity_ceaf": (Fraction(13, 6), 6, Fraction(13, 6), 3),
    "mention_ceaf_plus": (3, 9, 3, 7),  # a b f
    "pairwise": (1, 3, 1, 7),  # ab; of ab cd gh; of six pairs of abcj and of de
    # Of 36 pairs 33 and of 21 pairs 14 are apart. Of the 15 pairs of abcdfj nine are apart in the
    # reference, and of these cd is not in the system.
    "pairwise_negative::span": (8, 33, 8, 14),
}
# Means of both kinds of pairs
BLANC = {
    "precision": (Fraction(1, 3) + Fraction(8, 33)) / 2,
    "recall": (Fraction(1, 7) + Fraction(8, 14)) / 2,
    "fscore": (Fraction(2 * 1, 3 + 7) + Fraction(2 * 8, 33 + 14)) / 2,
}
NOTHING = dict.fromkeys(("ptp", "fp", "rtp", "fn"))


def figures(found, predicted, met, expected):
    precision, recall = Fraction(found) / predicted, Fraction(met) / expected
    mean = 2 * precision * recall / (precision + recall)
    counts = {"ptp": found, "fp": predicted - found, "rtp": met, "fn": expected - met}
    return {"precision": precision, "recall": recall, "fscore": mean, **counts}


EXPECTED = {
    f"{measure}.{name}": None if value is None else float(value)
    for measure, own in [
        *((measure, figures(*counts)) for measure, counts in COUNTS.items()),
        ("blanc", BLANC | NOTHING),
    ]
    for name, value in own.items()
}


@pytest.fixture
def paths(tmp_path):
    for name, text in (("reference", REFERENCE), ("system", SYSTEM)):
        (tmp_path / name).write_text(text.lstrip().replace(" ", "\t"), "utf-8")
    return str(tmp_path / "reference"), str(tmp_path / "system")


def test_every_measure_by_hand(paths):
    measures = [info.name for info in tasks.load("lorehlt-edl").measures]
    scores = score("lorehlt-edl", *paths, options={"measure": " ".join(measures)})
    assert scores.metrics == pytest.approx(EXPECTED, abs=1e-12)


def test_the_public_scorer_has_the_same(paths):
    """But for BLANC, which it has not, and spans over several others, some of which it misses."""
    measures = [name for name in COUNTS if not name.startswith("overlap")]
    options = {"measure": " ".join(measures)}
    scores = score("lorehlt-edl", *paths, profile="official", options=options)
    expected = {name: EXPECTED[name] for name in EXPECTED if name.rpartition(".")[0] in measures}
    assert scores.metrics == pytest.approx(expected, abs=1e-12)


def test_the_public_scorer_writes_whole_counts_and_fractions(paths):
    """Entities of D1: 2 · 2 / 5 of abc with ab, 2 · 1 / 3 of d with cd; of D2 f and j are 1 each.

    These are 52/15 of six clusters and of five; mentions 5 of nine and of seven.
    """
    names = [f"{name}_ceaf;docid=<micro>" for name in ("entity", "mention")]
    scores = score("lorehlt-edl", *paths, profile="official", options={"measure": " ".join(names)})
    assert [line.split("\t") for line in scores.files["evaluation.tab"].splitlines()[1:]] == [
        ["3.467", "2.533", "3.467", "1.533", "0.578", "0.693", "0.630", names[0]],
        ["5", "4", "5", "2", "0.556", "0.714", "0.625", names[1]],
    ]


def test_spans_that_share_one_unit_are_a_pair_with_another_boundary(tmp_path):
    """Of 1-5 and 5-9 unit 5 is common; 20-25 and 26-30 have none."""
    lines = {"reference": "d 1 5 E1 1 PER\nd 20 25 E2 1 PER\n"}
    lines["system"] = "d 5 9 E1 1 PER\nd 26 30 E2 1 PER\n"
    for name, text in lines.items():
        (tmp_path / name).write_text(text.replace(" ", "\t"), "utf-8")
    scores = score("lorehlt-edl", str(tmp_path / "reference"), str(tmp_path / "system"))
    rows = scores.tables["alignment"].select("status", "reference", "system").rows()
    assert rows == [("wrong", "1-5", "5-9"), ("missing", "20-25", None), ("extra", None, "26-30")]


def test_what_the_reference_lacks_follows_what_begins_where_it_begins(tmp_path):
    (tmp_path / "reference").write_text("d\t1\t5\tE1\t1\tPER\n", "utf-8")
    (tmp_path / "system").write_text("d\t1\t9\tE1\t1\tPER\nd\t1\t5\tE1\t1\tPER\n", "utf-8")
    scores = score("lorehlt-edl", str(tmp_path / "reference"), str(tmp_path / "system"))
    rows = scores.tables["alignment"].select("status", "system").rows()
    assert rows == [("correct", "1-5"), ("extra", "1-9")]


def test_of_two_spans_the_one_that_shares_more_units_is_the_pair(tmp_path):
    """10-20 shares ten units with 5-19, and one with 20-40."""
    (tmp_path / "reference").write_text("d\t10\t20\tE1\t1\tPER\n", "utf-8")
    (tmp_path / "system").write_text("d\t5\t19\tE1\t1\tPER\nd\t20\t40\tE1\t1\tPER\n", "utf-8")
    scores = score("lorehlt-edl", str(tmp_path / "reference"), str(tmp_path / "system"))
    rows = scores.tables["alignment"].select("status", "reference", "system").rows()
    assert sorted(rows, key=str) == [("extra", None, "20-40"), ("wrong", "10-20", "5-19")]


def test_the_context_of_a_mention_has_it_in_brackets():
    """Ends are exclusive; correct mentions and spans without a place in the text have none."""
    text = "Ab cd\nef"
    rows = [
        (0, 2, None, None, text, "missing", "[Ab] cd ef"),
        (None, None, 3, 5, text, "extra", "Ab [cd] ef"),
        (6, 8, 3, 5, text, "wrong", "Ab cd [ef]"),
        (0, 2, 0, 2, text, "correct", None),
        (3, 3, None, None, text, "missing", None),
        (5, 3, None, None, text, "missing", None),
        (-1, 2, None, None, text, "missing", None),
        (0, 2, None, None, None, "missing", None),
    ]
    columns = ("start", "end", "start_system", "end_system", "whole", "status", "expected")
    spans = pl.DataFrame(rows, schema=columns, orient="row")
    found = spans.select(pl.col("expected"), found=_context())
    assert found["found"].to_list() == found["expected"].to_list()


EXAMPLES = {"lorehlt-edl": EXPECTED}
