"""Every measure of HUB-4 on one example, and the costs of alignments, with the computation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.scoring.hub4.instance_sets import Options
from hlteval.scoring.hub4.normalizer import SpellingFilter, TextNormalizer, sections
from hlteval.scoring.hub4.text_columns import BEGIN, END, OR, Scale, Text, Words, choose, in_columns
from hlteval.scoring.hub4.word_alignment import DOCUMENT, SCLITE, Lexicon, alignments, parts
from tests.runs import score

REFERENCE = """\
<B-d-1> :=
    RIGHT: "a" ##0#1#
    OTHER_TEXT: "b" ##2#3#
    OTHER_PLACE: "c" ##4#5#
    MISSED: "m" ##6#7#
    OPEN: / "o" ##8#9#
    TO_OPTIONAL: <C-d-1>
    TO: <D-d-1>
<C-d-1> :=
    NAME: "q" ##10#11#
    OBJ_STATUS: OPTIONAL
<D-d-1> :=
    NAME: "n" ##20#21#
"""
SYSTEM = """\
<B-d-1> :=
    RIGHT: "a" ##0#1#
    OTHER_TEXT: "x" ##2#3#
    OTHER_PLACE: "c" ##14#15#
    MORE: "w" ##16#17#
    AND_MORE: "w" ##16#17#
    TO: <D-d-7>
<D-d-7> :=
    NAME: "n" ##20#21#
"""
# Correct, incorrect, missing, spurious, optional and removed points.
POINTS = {
    # RIGHT, OTHER_PLACE, TO and NAME; OTHER_TEXT; MISSED; MORE and AND_MORE; OPEN; TO_OPTIONAL
    "content": (4, 1, 1, 2, 1, 1),
    # the same with OTHER_TEXT and OTHER_PLACE exchanged
    "extent": (4, 1, 1, 2, 1, 1),
    # a text has two points, a pointer one: 2 of RIGHT, 1 of OTHER_TEXT, 1 of OTHER_PLACE, 1 of TO
    # and 2 of NAME; 1 of OTHER_TEXT, 1 of OTHER_PLACE; 2; 2 and 2; 2; 1
    "both": (7, 2, 2, 4, 2, 1),
}


def figures(cor, inc, mis, spu, optional, removed):
    pos, act = cor + inc + mis, cor + inc + spu
    recall, precision = Fraction(cor, pos), Fraction(cor, act)
    counts = {"cor": cor, "inc": inc, "mis": mis, "spu": spu}
    counts |= {"optional": optional, "removed": removed, "pos": pos, "act": act}
    return counts | {
        "rec": recall,
        "pre": precision,
        "f": 2 * precision * recall / (precision + recall),
        "und": Fraction(mis, pos),
        "ovg": Fraction(spu, act),
        "sub": Fraction(inc, cor),
        "sub_muc": Fraction(inc, cor + inc),
        "err": Fraction(inc + spu + mis, cor + inc + spu + mis),
    }


EXPECTED = {
    f"{mode}.{name}": float(value)
    for mode, points in POINTS.items()
    for name, value in figures(*points).items()
}


def test_every_measure_by_hand(tmp_path):
    (tmp_path / "reference").write_text(REFERENCE, "utf-8")
    (tmp_path / "system").write_text(SYSTEM, "utf-8")
    scores = score("hub4", str(tmp_path / "reference"), str(tmp_path / "system"), lenient=True)
    assert scores.metrics == pytest.approx(EXPECTED, abs=1e-12)


def test_f_with_another_weight_of_recall_by_hand(tmp_path):
    """(β² + 1) P R / (β² P + R) with P = 4/7, R = 4/6 and β = 2."""
    (tmp_path / "reference").write_text(REFERENCE, "utf-8")
    (tmp_path / "system").write_text(SYSTEM, "utf-8")
    scores = score(
        "hub4",
        str(tmp_path / "reference"),
        str(tmp_path / "system"),
        options={"beta": "2"},
        lenient=True,
    )
    precision, recall = 4 / 7, 4 / 6
    expected = 5 * precision * recall / (4 * precision + recall)
    assert scores.metrics["content.f"] == pytest.approx(expected)


def aligned(reference, system, costs=DOCUMENT):
    """The alignment of a pair of texts."""
    return alignments([(reference, system)], costs)[0]


ALIGNED = [
    # Deleting a b c and inserting x y z costs 6 · 3 = 18, five substitutions 5 · 4 = 20.
    ("a b c d e", "d e x y z", [0, 1, 2, 3, 4], [3, 4, 5, 6, 7]),
    ("d e x y z", "a b c d e", [3, 4, 5, 6, 7], [0, 1, 2, 3, 4]),
    # Around the common word six steps cost 18, four substitutions 16.
    ("a b c d", "d x y z", [0, 1, 2, 3], [0, 1, 2, 3]),
    # One substitution costs 4, an insertion and a deletion 6.
    ("a b c", "a x c", [0, 1, 2], [0, 1, 2]),
    # Two words that are left over are inserted or deleted, at the left of what costs the same.
    ("a c", "a b b c", [0, 3], [0, 1, 2, 3]),
    ("a b b c", "a c", [0, 1, 2, 3], [0, 3]),
    ("a", "a a", [1], [0, 1]),
    # Nothing on one side.
    ("", "a b", [], [0, 1]),
    ("a b", "", [0, 1], []),
]


@pytest.mark.parametrize(("reference", "system", "ours", "theirs"), ALIGNED)
def test_alignments_by_hand(reference, system, ours, theirs):
    pair = reference.split(), system.split()
    for found in (aligned(*pair), aligned(*pair, SCLITE), *alignments([pair, pair])):
        assert (found.reference.tolist(), found.system.tolist()) == (ours, theirs)


def test_a_word_that_breaks_off_costs_one_in_documents_and_three_in_sclite():
    # Columns of h- heart beside part: deleting h- (1) and substituting heart (4) costs 5, and so
    # does no other way: substituting h- (4) and deleting heart (3) costs 7. In sclite both cost 7,
    # and of these the pair at the end is taken.
    pair = ["h-", "heart"], ["part"]
    assert aligned(*pair).system.tolist() == [1]
    # Of x h- beside y: 4 + 1 for the pair x y, and 3 + 4 for the pair h- y; in sclite 7 and 7.
    pair = ["x", "h-"], ["y"]
    assert aligned(*pair).system.tolist() == [0]
    assert aligned(*pair, SCLITE).system.tolist() == [1]


def test_of_equally_wrong_alternatives_the_shortest_that_is_long_enough_is_taken(tmp_path):
    """One fill of the system is wrong: beside x and y one point is missing, beside z none is."""
    same = '<B-d-1> :=\n    SAME: "a" ##0#1#\n'
    other = '    NAME: "x" ##2#3#\n          "y" ##4#5#\n        / "z" ##6#7#\n'
    (tmp_path / "reference").write_text(same + other, "utf-8")
    (tmp_path / "system").write_text(same + '    NAME: "q" ##8#9#\n', "utf-8")
    scores = score("hub4", str(tmp_path / "reference"), str(tmp_path / "system"), lenient=True)
    found = [scores.metrics[f"content.{name}"] for name in ("cor", "inc", "mis", "spu")]
    assert found == [1, 1, 0, 0]


@pytest.mark.parametrize(("lost", "noted"), [(3, False), (4, True)])
def test_wrong_extents_of_a_third_of_the_right_texts_are_noted(tmp_path, lost, noted):
    """Of 12 right texts a third are four."""
    for side, away in (("reference", 0), ("system", 100)):
        begins = enumerate(3 * at + away * (at < lost) for at in range(12))
        slots = [f'    S{at}: "w{at}" ##{begin}#{begin + 2}#\n' for at, begin in begins]
        (tmp_path / side).write_text("".join(["<B-d-1> :=\n", *slots]), "utf-8")
    scores = score("hub4", str(tmp_path / "reference"), str(tmp_path / "system"), lenient=True)
    assert (scores.metrics["content.cor"], scores.metrics["extent.cor"]) == (12, 12 - lost)
    assert any("have a wrong extent" in note for note in scores.notes) == noted


def test_the_first_alternative_of_a_global_map_stands_where_the_other_text_has_none():
    places = np.arange(7)
    words = Words([BEGIN, "A", OR, "B", OR, "C", END], places, places)
    assert choose(words, ["x"]).words == ["A"]
    assert choose(words, ["x", "C"]).words == ["C"]


def test_a_slot_that_stands_twice_in_an_instance_is_compared_place_by_place(tmp_path):
    """NAME is a and then b, in the system b and then a: OTHER alone is right."""
    lines = ['NAME: "a" ##0#1#', 'OTHER: "o" ##8#9#', 'NAME: "b" ##2#3#']
    for side, slots in (("reference", lines), ("system", lines[::-1])):
        text = "".join(f"    {slot}\n" for slot in slots)
        (tmp_path / side).write_text(f"<B-d-1> :=\n{text}", "utf-8")
    scores = score("hub4", str(tmp_path / "reference"), str(tmp_path / "system"), lenient=True)
    assert [scores.metrics[f"content.{name}"] for name in ("cor", "inc")] == [1, 2]


def test_an_extent_must_lie_inside_the_maximal_one_and_overlap_a_minimal_one(tmp_path):
    """Of "old [big cat]" at 0 to 11 with the minimal extent 4 to 11."""
    reference = '<B-d-1> :=\n    SAME: "a" ##20#21#\n    NAME: "old [big cat]" ##0#11#4#11#\n'
    (tmp_path / "reference").write_text(reference, "utf-8")
    for said, place, right in (
        *(("big cat", "4#11", 1), ("old big cat", "0#11", 1), ("ig ca", "5#10", 1)),
        *(("old big cat it", "0#14", 0), ("old", "0#3", 0)),
    ):
        system = f'<B-d-1> :=\n    SAME: "a" ##20#21#\n    NAME: "{said}" ##{place}#\n'
        (tmp_path / "system").write_text(system, "utf-8")
        scores = score("hub4", str(tmp_path / "reference"), str(tmp_path / "system"), lenient=True)
        assert scores.metrics["extent.cor"] == 1 + right, place
        text = "".join([*scores.files.values(), *map(str, scores.tables["mapping"].to_dicts())])
        assert ("extent not inside the reference extent" in text) == (place == "0#14")


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("a <X> b </X> c", [(2, 12)]),
        ("a <X> b <Y> c </Y> d </X> e", [(2, 25)]),  # Y is not asked for, and ends no X
        ("<X> <Z> </Z> </X> d", [(0, 17)]),  # Z is asked for, but is inside
        ("a </X> b", [(2, 6)]),  # an end by itself, and a begin by itself
        ("a <X> b", [(2, 5)]),
        ("<x>a</X><Z>b</Z>", [(0, 8), (8, 16)]),
        ("<Y>a</Y>", []),
        ("<X> a <X> b </X> c", [(0, 16)]),  # one inside of its like does not end it
    ],
)
def test_elements_that_are_not_extracted(text, stretches):
    assert list(sections(text, {"x", "z"})) == stretches


def test_of_the_system_only_the_first_alternative_counts(tmp_path):
    """NAME is x in the reference, q or x in the system; SAME is a."""
    same = '<B-d-1> :=\n    SAME: "a" ##0#1#\n'
    (tmp_path / "reference").write_text(f'{same}    NAME: "x" ##2#3#\n', "utf-8")
    for first, second, counts in (("q", "x", [1, 1, 0, 0]), ("x", "q", [2, 0, 0, 0])):
        other = f'    NAME: "{first}" ##2#3#\n        / "{second}" ##2#3#\n'
        (tmp_path / "system").write_text(same + other, "utf-8")
        scores = score("hub4", str(tmp_path / "reference"), str(tmp_path / "system"), lenient=True)
        found = [scores.metrics[f"content.{name}"] for name in ("cor", "inc", "mis", "spu")]
        assert found == counts


def test_the_last_word_of_a_text_has_its_origin_where_a_rule_takes_the_space_after_it():
    rules = GlobalMap((Rule("ALL RIGHT ", "ALRIGHT"),))
    assert SpellingFilter(rules).words(["it's", "all", "right"]) == [
        ("IT'S", 0, 0),
        ("ALRIGHT", 1, 2),
    ]


def test_each_scale_has_the_words_of_its_own_document_however_long_the_last_one_is():
    """The second word of the other scale, at 1 to 2, whose column is 1."""
    starts, ends = [0, 1, 5], [1, 2, 20]
    one, other = (
        Scale(*map(np.array, (starts[:size], ends[:size], range(size)))) for size in (3, 2)
    )
    extents = pl.DataFrame({"document": [1], "start": [1], "end": [2]})
    assert in_columns(extents, {0: one, 1: other}).row(0) == (1, 1, 1)


@pytest.mark.parametrize(
    ("reference", "system", "identical"),
    [
        ({"d": Text("a b")}, {"d": Text("a b")}, True),
        ({"d": Text("a b")}, {"d": Text("a c")}, False),
        ({"d": Text("a b")}, {"": Text("a b\n")}, True),  # a file of all documents
        ({"d": Text("a b")}, None, False),
        (None, {"d": Text("a b")}, False),
        (None, None, False),
    ],
)
def test_texts_are_the_same_if_both_are_given_and_equal(reference, system, identical):
    options = Options(
        corpus=None if reference is None else lambda: reference,
        hyp_corpus=None if system is None else lambda: system,
    )
    assert options.identical == identical
    assert options.aligns == (system is not None and not identical)


@pytest.mark.parametrize(("reference", "system"), [("ab", "aa"), ("aa", "ab"), ("ab", "ac")])
def test_a_fill_is_right_once(tmp_path, reference, system):
    """One of two fills has its like on the other side; SAME is right."""
    for side, texts in (("reference", reference), ("system", system)):
        fills = "\n".join(
            f'          "{text}" ##{at}#{at + 1}#' for at, text in enumerate(texts, 2)
        )
        slots = f'    SAME: "s" ##0#1#\n    NAME: {fills.strip()}\n'
        (tmp_path / side).write_text(f"<B-d-1> :=\n{slots}", "utf-8")
    scores = score("hub4", str(tmp_path / "reference"), str(tmp_path / "system"), lenient=True)
    found = [scores.metrics[f"content.{name}"] for name in ("cor", "inc", "mis", "spu")]
    assert found == [2, 1, 0, 0]


def test_parts_are_divided_in_the_middle_of_words_that_both_texts_have_once():
    """Anchors have six words: the first that ends a part of 1,000 words begins at 997."""
    words = [str(number) for number in range(1500)]
    assert [*parts(words, words[1:])] == [
        (slice(0, 1000), slice(0, 999)),
        (slice(1000, 1500), slice(999, 1499)),
    ]
    more = [f"x{number}" for number in range(1000)]  # the first anchor begins the other text
    first, second = parts([*more, *words[:100]], words[:100])
    assert (first, second) == ((slice(0, 1003), slice(0, 3)), (slice(1003, 1100), slice(3, 100)))
    assert [*parts(list("abcdefg"), list("hijklmno"))] == [(slice(0, 7), slice(0, 8))]


def test_a_fragment_is_spoken_as_its_word_or_spelt_without_its_hyphen():
    lexicon = Lexicon.of([("hea", ["HH", "IY1"]), ("he", ["HH", "IY0"])])
    assert lexicon.pronunciations("hea-") == lexicon.pronunciations("he")
    assert lexicon.pronunciations("xyz-") == ("xyz",)


def test_the_f_of_each_line_of_the_mapping(tmp_path):
    """RIGHT has one correct point of one, WRONG one incorrect; both together have F 2 · 1 / 4."""
    for side, other in (("reference", "x"), ("system", "y")):
        text = f'<B-d-1> :=\n    RIGHT: "a" ##0#1#\n    WRONG: "{other}" ##2#3#\n'
        (tmp_path / side).write_text(text, "utf-8")
    scores = score(
        "hub4",
        str(tmp_path / "reference"),
        str(tmp_path / "system"),
        options={"mode": "content"},
        lenient=True,
    )
    mapping = scores.tables["mapping"]
    slots = mapping.filter(level="slot")
    assert dict(slots.select("slot", "f").rows()) == {"RIGHT": 1, "WRONG": 0}
    assert mapping.filter(level="instance")["f"].to_list() == [1 / 2]


def test_what_is_not_extracted_becomes_as_many_blanks():
    normalizer = TextNormalizer(nonextractable=("X",))
    assert normalizer.blank_out("ab <X>c</X> d <X>e") == "ab          d    e"
    assert normalizer.normalize("ab <X>c</X> d") == normalizer.normalize("ab d")


def test_instances_that_have_only_extents_in_common_are_mapped_in_every_document(tmp_path):
    """In both documents the first instance has the extent of the second on the other side."""
    for side, words, places in (("reference", "xy", (0, 5)), ("system", "qr", (5, 0))):
        text = "".join(
            f'<B-{document}-{number}> :=\n    NAME: "{word}" ##{place}#{place + 1}#\n'
            for document in ("d", "e")
            for number, (word, place) in enumerate(zip(words, places, strict=True), start=1)
        )
        (tmp_path / side).write_text(text, "utf-8")
    scores = score(
        "hub4",
        str(tmp_path / "reference"),
        str(tmp_path / "system"),
        options={"mode": "extent"},
        lenient=True,
    )
    found = [scores.metrics[f"extent.{name}"] for name in ("cor", "inc", "mis", "spu")]
    assert found == [4, 0, 0, 0]


EXAMPLES = {"hub4": EXPECTED}
