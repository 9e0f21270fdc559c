"""Every measure of LoReHLT situation frames on one example, with the computation.

Two annotators, u1 and u2, agree on d1: each of its frames occurs twice. A situation is a place and
a type; it is as grave as it has frames that are current, urgent and unresolved.

    situation      reference            system (* with confidence .5, - false)
    A  1 food      d1 d1 d2 d3          d1, d2 sufficient, d3*
    B  2 water     d1 d1 d2             d1, d2 not urgent, d3* -, d4 -
    C  3 shelter   d1 d1                d1 future
    D  4 food      d4 sufficient
    F  6 food      s1, a speech
    E  5 water                          d1* -
    G  5 food                           d2* -, not urgent
"""

from __future__ import annotations

from math import log2
from statistics import mean

import pytest

from tests.unit.situations.lorehlt_frames import corpus, gold, said, values

DOCUMENTS = {"d1": "text", "d2": "text", "d3": "text", "d4": "text", "s1": "speech"}
OF_D1 = [("food", "1"), ("water", "2"), ("shelter", "3")]
REFERENCE = [
    *(
        gold("d1", *key, annotator=name, frame=f"{name}-{key}")
        for name in ("u1", "u2")
        for key in OF_D1
    ),
    *(gold("d2", "food", "1"), gold("d2", "water", "2"), gold("d3", "food", "1")),
    gold("d4", "food", "4", resolution="sufficient"),
    gold("s1", "food", "6", status="Current"),
]
SYSTEM = [
    said("d1", "food", "1"),
    said("d2", "food", "1", resolution="sufficient"),
    said("d3", "food", "1", confidence=0.5),
    said("d1", "water", "2"),
    said("d2", "water", "2", urgent="false"),
    said("d3", "water", "2", confidence=0.5),
    said("d4", "water", "2"),
    said("d1", "shelter", "3", status="future"),
    said("d1", "water", "5", confidence=0.5),
    said("d2", "food", "5", confidence=0.5, urgent="false"),
]


def felt(doc, frame, source, value, *emotions):
    own = {name: name in emotions for name in ("fear", "anger", "joy")}
    return {"doc": doc, "frame_row": frame, "holder_kb": source, "value": value, **own}


# By document and number of the frame: C of both annotators and twice B of d2; in the system C,
# twice B of d2, and A of d1.
EXPRESSED = [
    *(felt("d1", frame, "author", -1.0, "fear", "anger") for frame in (2, 5)),
    felt("d2", 7, "author", 1.0, "joy"),
    felt("d2", 7, "77", -1.0),
]
HEARD = [
    felt("d1", 7, "author", -2.0, "fear"),
    felt("d2", 4, "author", 3.0),
    felt("d2", 4, "77", 1.0),
    felt("d1", 0, "author", -1.0),
]


def discounted(*gains):
    """Σ gain / log2(rank + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


# With high gravity from 3 and medium from 1.4: in the reference A has 3 grave frames, B 2, C and F
# 1, D none. The system has 3 of B (d1 d3 d4), 2 of A (d1 d3), 1 of E, none of C and G; of these
# two, C is first by its place, and last where less gain comes first. Gains by rank:
A_RANKING = (3, 5, 0, 1, 0)
LESS_FIRST = (3, 5, 0, 0, 1)
# Fear and anger boost: C has 1.4, B 2.2.
BOOSTED = (3, 5, 0, 3, 0)
BOOSTED_LESS_FIRST = (3, 5, 0, 0, 3)
# Of both annotators together A has 4 grave frames, B 3, C 2.
COMBINED = (5, 5, 0, 3, 0)
COMBINED_LESS_FIRST = (5, 5, 0, 0, 3)
GAINS = {
    "ndcg": (A_RANKING, LESS_FIRST, (5, 3, 1, 1, 1)),
    "ndcg_sec": (BOOSTED, BOOSTED_LESS_FIRST, (5, 3, 3, 1, 1)),
    "ndcg_text": (A_RANKING, LESS_FIRST, (5, 3, 1, 1)),  # without F
    "ndcg_sec_text": (BOOSTED, BOOSTED_LESS_FIRST, (5, 3, 3, 1)),
    "ndcg_combined": (COMBINED, COMBINED_LESS_FIRST, (5, 5, 3, 1, 1)),
}
EXPECTED = {}
for name, (order, less_first, ideal) in GAINS.items():
    EXPECTED[f"{name}.standard"] = discounted(*order) / discounted(*ideal)
    EXPECTED[f"{name}.forgiving"] = discounted(*order) / discounted(*ideal)
    EXPECTED[f"{name}.vindictive"] = discounted(*less_first) / discounted(*ideal)

# The first ones are A B C F D and B A E C G.
EXPECTED |= {"precision_at.1": 0, "precision_at.2": 1, "precision_at.3": 2 / 3}
EXPECTED |= {"precision_at.5": 3 / 5, "precision_at.high": 0, "precision_at.medium": 1}
EXPECTED |= dict.fromkeys(f"precision_at.{number}" for number in (10, 20, 50, 100))

# Right and false frames with confidence .9, and of all; of 11, of which 3 twice: 8 frames. A right
# one counts as often as it occurs.
FRAMES = {
    # right A1 A2 B1 B2 C1 and A3; false B4, and B3; others have a type that is there
    "type": ((8, 1), (9, 2), 11),
    "type,place": ((8, 1), (9, 4), 11),  # false B4, and B3 E G
    "type,place,status": ((6, 2), (7, 5), 11),  # without C, which is false
    "type,place,status,urgent": ((5, 3), (6, 6), 11),  # and without B2
    "type,place,status,resolution": ((5, 3), (6, 6), 11),  # with B2, without A2
    "type,place,status,urgent,resolution": ((4, 4), (5, 7), 11),  # without either
}
for name, ((first, beside), (right, false), expected) in FRAMES.items():
    precisions, recalls = (
        (first / (first + beside), right / (right + false)),
        (first / expected, right / expected),
    )
    EXPECTED[f"frame_precision.{name}"] = precisions[1]
    EXPECTED[f"frame_recall.{name}"] = recalls[1]
    EXPECTED[f"frame_f1.{name}"] = 2 * right / (right + false + expected)
    # a rectangle from recall 0 to the first point, and a trapezium to the second
    EXPECTED[f"auc.{name}"] = recalls[0] * precisions[0] + (recalls[1] - recalls[0]) * mean(
        precisions
    )
# Of urgent and unresolved frames alone: right A1 B1 and A3, false B4 C, and B3 E; of 10, without D.
GRAVE = "grave:type,place,status,urgent,resolution"
EXPECTED[f"auc.{GRAVE}"] = 4 / 10 * 4 / 6 + 1 / 10 * mean((4 / 6, 5 / 9))

# Average precision and recall of A, B, C, F, D. Of A 4, B 3, C 2, F and D 1 are relevant.
SITUATIONS = {
    # A: 3 right, then 4 of 4. B: 3 right and 1 false with equal confidence. C: 2 of 2.
    "type,place": ((1, 3 / 4, 1, 0, 0), (1, 1, 1, 0, 0)),
    "type,place,status": ((1, 3 / 4, 0, 0, 0), (1, 1, 0, 0, 0)),
    # B: 2 right and 2 false
    "type,place,status,urgent": ((1, 2 / 3 * 2 / 4, 0, 0, 0), (1, 2 / 3, 0, 0, 0)),
    # A: 2 right and 1 false, then 3 and 1
    "type,place,status,resolution": (
        (2 / 4 * 2 / 3 + 1 / 4 * 3 / 4, 3 / 4, 0, 0, 0),
        (3 / 4, 1, 0, 0, 0),
    ),
    "type,place,status,urgent,resolution": (
        (2 / 4 * 2 / 3 + 1 / 4 * 3 / 4, 2 / 3 * 2 / 4, 0, 0, 0),
        (3 / 4, 2 / 3, 0, 0, 0),
    ),
    # A: 2 right, then 3. B: 2 right and 1 false. Without D.
    GRAVE: ((3 / 4, 2 / 3 * 2 / 3, 0, 0), (3 / 4, 2 / 3, 0, 0)),
}
for name, (precisions, recalls) in SITUATIONS.items():
    EXPECTED |= {f"map.{name}": mean(precisions), f"mar.{name}": mean(recalls)}

# Right sentiments of C in d1 (of 1 and 1), of B in d2 (of 2 and 2), of A in d1 (of the system's 1).
SENTIMENTS = {"polarity": (1, 1), "polarity,fear": (1, 1), "polarity,anger": (0, 1)}
SENTIMENTS |= {"polarity,joy": (1, 0)}
for name, (of_c, of_b) in SENTIMENTS.items():
    EXPECTED[f"sec_precision.{name}"] = mean((of_c / 1, of_b / 2, 0 / 1))
    EXPECTED[f"sec_recall.{name}"] = mean((of_c / 1, of_b / 2))
    EXPECTED[f"sec_f1.{name}"] = mean((2 * of_c / 2, 2 * of_b / 4, 0))
EXPECTED |= dict.fromkeys(
    f"sec_{rate}.{pooled}:{key}"
    for rate in ("precision", "recall", "f1")
    for pooled in ("polarity", "sentiment", "emotion")
    for key in ("type,place", "type,place,status")
)


def test_every_measure_by_hand():
    reference = corpus(REFERENCE, EXPRESSED, DOCUMENTS)
    found = values(reference, corpus(SYSTEM, HEARD), gravity_thresholds=(3.0, 1.4))
    assert found == pytest.approx(EXPECTED, abs=1e-12)


def undiscounted_first(*gains):
    """Gain of the first rank + Σ gain / log2(rank)."""
    return gains[0] + sum(gain / log2(rank) for rank, gain in enumerate(gains[1:], start=2))


def test_the_other_discount_by_hand():
    """The gain of the first rank is whole, that of others is divided by log2(rank)."""
    reference, system = corpus(REFERENCE, EXPRESSED, DOCUMENTS), corpus(SYSTEM, HEARD)
    found = values(reference, system, gravity_thresholds=(3.0, 1.4), dcg="method0")
    for name, (order, less_first, ideal) in GAINS.items():
        most = undiscounted_first(*ideal)
        for ties, gains in (("standard", order), ("forgiving", order), ("vindictive", less_first)):
            expected = undiscounted_first(*gains) / most
            assert found[f"{name}.{ties}"] == pytest.approx(expected, abs=1e-12), (name, ties)


def test_the_pooled_rates_of_the_public_scorer_by_hand():
    """Frames of one annotator; what is found counts in the system's sentiments.

    Of four sentiments two are found: C in d1, where fear and joy are as in the reference, and B in
    d2 of the author, where fear and anger are. One of the reference is missed. Their strengths are
    1 and 2 apart.
    """
    frames = [*REFERENCE[:3], *REFERENCE[6:]]
    expressed = [
        EXPRESSED[0] | {"polarity": "negative"},
        EXPRESSED[2] | {"frame_row": 4, "polarity": "positive"},
        EXPRESSED[3] | {"frame_row": 4, "polarity": "negative"},
    ]
    found = values(corpus(frames, expressed, DOCUMENTS), corpus(SYSTEM, HEARD), "official")
    strengths = 0.97 + 0.97**2
    expected = {
        "polarity": (2 / 4, 2 / 3),
        "sentiment": (strengths / 4, strengths / 3),
        "emotion": ((2 + 2) / (3 * 4), (2 + 2) / (3 * 3)),
    }
    for name, (precision, recall) in expected.items():
        rates = [found[f"sec_{rate}.{name}:type,place"] for rate in ("precision", "recall", "f1")]
        f1 = 2 * precision * recall / (precision + recall)
        assert rates == pytest.approx([precision, recall, f1], abs=1e-12)


def test_the_gains_of_the_public_scorer_by_hand():
    """10 from 3 grave frames, 5 from 2, else 1: A B C F D have 10 5 1 1 1, of which it has B."""
    reference = corpus([*REFERENCE[:3], *REFERENCE[6:]], (), DOCUMENTS)
    system = corpus([said("d1", "water", "2"), said("d2", "water", "2")])
    found = values(reference, system, "official")["ndcg.standard"]
    expected = 5 / (10 + 5 / 1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5))
    assert found == pytest.approx(expected, abs=1e-12)


def test_ties_of_the_public_scorer_by_hand():
    """C (gain 1) and E (none) both have one grave frame; B (5) has two.

    What the system misses, A and D (10 and 1 in the reference), has no gain in its list.
    """
    reference = corpus([*REFERENCE[:3], *REFERENCE[6:9], REFERENCE[9]], (), DOCUMENTS)
    system = corpus(
        [
            *(said("d1", "water", "2"), said("d2", "water", "2")),
            *(said("d1", "shelter", "3"), said("d1", "water", "5")),
        ]
    )
    found = values(reference, system, "official")
    ideal = 10 + 5 / 1 + 1 / log2(3) + 1 / log2(4)
    assert found["ndcg.forgiving"] == pytest.approx((5 + 1 / 1) / ideal, abs=1e-12)
    assert found["ndcg.vindictive"] == pytest.approx((5 + 1 / log2(3)) / ideal, abs=1e-12)


def test_places_without_an_entry_are_last_in_the_curve_of_the_public_scorer():
    """Food is right with .9; at 0 are shelter, which is missed, and water, which has no entry.

    Precision is 1 at recall 1/2, and 2/3 at recall 1: 1/2 · 1 + 1/2 · 2/3.
    """
    nowhere = gold("d1", "water", None) | {"place": "Ent-9"}
    reference = corpus([gold("d1", "food", "1"), gold("d1", "shelter", "2"), nowhere])
    found = values(reference, corpus([said("d1", "food", "1")]), "official")
    assert found["auc.type,place"] == pytest.approx(5 / 6, abs=1e-12)


def test_emotions_that_are_not_written_are_not_felt_in_the_public_scorer():
    """Of three emotions about food anger differs: the system hears it. Water is missed."""
    unwritten = dict.fromkeys(("fear", "anger", "joy")) | {"polarity": "negative"}
    expressed = [
        felt("d1", 0, "author", -1.0) | unwritten,
        felt("d1", 1, "author", -1.0, "fear") | {"polarity": "negative"},
    ]
    reference = corpus([gold("d1", "food", "1"), gold("d1", "water", "2")], expressed)
    system = corpus([said("d1", "food", "1")], [felt("d1", 0, "author", -1.0, "anger")])
    found = values(reference, system, "official")
    assert found["sec_precision.emotion:type,place"] == pytest.approx(2 / 3, abs=1e-12)


EXAMPLES = {"lorehlt-sf": EXPECTED}
