"""Measures of coreference, by hand."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.generic.clusters import Coreference, Options
from hlteval.scoring.generic.official_conll import OfficialCoreference
from tests.effort import tries


def corpus(*documents: str) -> Corpus:
    """A corpus of documents: the entities of their mentions, a letter each, `-` for none."""
    rows = [
        {"document": document, "origin": 0, "record": 1, "mention": f"T{at}", "label": ""}
        | {"start": at, "end": at + 1, "entity": entity}
        for document, entities in enumerate(documents)
        for at, entity in enumerate(entities)
        if entity != "-"
    ]
    names = [{"row": at, "name": f"d{at}"} for at in range(len(documents))]
    return Corpus(documents=names, mentions=[{**row, "row": at} for at, row in enumerate(rows)])


def score(
    reference: Corpus, system: Corpus, *, official: bool = False, **options: Any
) -> dict[str, float | None]:
    kind = OfficialCoreference if official else Coreference
    metric = kind("official" if official else "plan", Options(**options))
    counts, _ = metric.statistics(reference, system)
    return metric.score(metric.total([counts]))[0]


def rates(values: dict[str, Any], name: str) -> list[Any]:
    return [values[f"{name}.{rate}"] for rate in ("recall", "precision")]


def test_counts_are_summed_over_documents_before_they_are_divided() -> None:
    values = score(corpus("aaaa", "aa"), corpus("aaaa", "ab"))
    assert rates(values, "muc") == [3 / 4, 1.0]
    assert rates(values, "b_cubed") == [5 / 6, 1.0]


def test_without_links_muc_is_undefined_and_left_out_of_the_average() -> None:
    metric = Coreference()
    counts, _ = metric.statistics(corpus("abc"), corpus("abc"))
    values, _ = metric.score(total := metric.total([counts]))
    assert values["muc.f1"] is None
    assert values["conll_average.f1"] == 1.0
    assert metric.notes(total) == (
        "conll_average is that of b_cubed and entity_ceaf: the rest is undefined",
    )
    official = score(corpus("abc"), corpus("abc"), official=True)
    assert official["muc.f1"] == 0.0
    assert official["conll_average.f1"] == pytest.approx(2 / 3)


def test_singletons_can_be_removed_on_both_sides() -> None:
    reference, system = corpus("aab"), corpus("aac")
    assert score(reference, system, singletons="remove")["b_cubed.f1"] == 1.0
    reference = corpus("aa-")
    assert score(reference, system)["b_cubed.precision"] == 2 / 3
    assert score(reference, system, singletons="remove")["b_cubed.precision"] == 1.0


def test_singletons_count_for_lea_only_if_both_sides_have_them() -> None:
    assert rates(score(corpus("ab"), corpus("ab")), "lea") == [1.0, 1.0]
    assert rates(score(corpus("ab"), corpus("aa")), "lea") == [0.0, 0.0]


def test_documents_of_the_system_only_count_but_not_for_the_scorer() -> None:
    reference, system = corpus("aa"), corpus("aa", "aaa")
    assert score(reference, system)["b_cubed.precision"] == 2 / 5
    assert score(reference, system, official=True)["b_cubed.precision"] == 1.0


def test_equivalent_mentions_are_an_entity_and_others_are_alone() -> None:
    plain = corpus("...").mentions.with_columns(entity=pl.lit(None, pl.String))
    groups = [
        {"row": at, "document": 0, "origin": 0, "record": 1, "group": "*1", "kind": "Equiv"}
        | {"member": f"T{at}"}
        for at in range(2)
    ]
    documents = [{"row": 0, "name": "d0"}]
    system = Corpus(documents=documents, mentions=plain, groups=groups)
    values = score(corpus("aab"), system)
    assert (values["muc.f1"], values["b_cubed.f1"]) == (1.0, 1.0)


def test_the_alignment_has_a_row_per_mention() -> None:
    _, rows = Coreference().statistics(corpus("aab-"), corpus("xyy z".replace(" ", "")[:3] + "z"))
    assert rows is not None
    assert rows.select("start", "reference", "system", "outcome").rows() == [
        (0, "a", "x", "correct"),
        (1, "a", "y", "wrong label"),
        (2, "b", "y", "correct"),
        (3, None, "z", "extra"),
    ]


def test_repeated_mentions_count_once_and_many_stop_the_scorer() -> None:
    system = corpus("aabb")
    again = system.mentions.head(1).with_columns(row=pl.lit(9, pl.Int64), entity=pl.lit("b"))
    repeated = system.replace(mentions=system.mentions.vstack(again))
    metric = Coreference()
    counts, _ = metric.statistics(corpus("aabb"), repeated)
    values, _ = metric.score(total := metric.total([counts]))
    assert values["b_cubed.f1"] == 1.0
    assert metric.notes(total) == (
        "1 mention of the system in a further entity: only the first counts",
    )
    three = system.mentions.head(3).with_columns(row=pl.col("row") + 9)
    many = system.replace(mentions=system.mentions.vstack(three))
    values = score(corpus("aabb"), many, official=True)
    # three for each of MUC, B³ and CEAFm are nine, with CEAFe they are twelve
    assert values["mention_ceaf.f1"] == 1.0
    assert values["entity_ceaf.f1"] is None
    assert values["conll_average.f1"] is None


def brute_force(reference: str, system: str) -> dict[str, list[float]]:
    """Links counted one by one: numerators of recall and precision by measure."""
    sides = []
    for entities in (reference, system):
        places = [at for at, entity in enumerate(entities) if entity != "-"]
        pairs = {*combinations(places, 2)}
        linked = {(i, j) for i, j in pairs if entities[i] == entities[j]}
        sides.append((linked, pairs - linked))
    (ours, apart), (theirs, others) = sides
    return {
        "linked": [len(ours & theirs), len(ours), len(theirs)],
        "unlinked": [len(apart & others), len(apart), len(others)],
    }


ENTITIES = st.text("ab-", min_size=5, max_size=5) | st.text("abc-", min_size=5, max_size=5)


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.tuples(ENTITIES, ENTITIES), min_size=1, max_size=3))
def test_links_are_those_counted_one_by_one(pairs: list[tuple[str, str]]) -> None:
    metric = Coreference()
    sides = [corpus(*(pair[side] for pair in pairs)) for side in (0, 1)]
    total = metric.total([metric.statistics(*sides, alignment=False)[0]])
    for kind in ("linked", "unlinked"):
        each = [brute_force(*pair)[kind] for pair in pairs]
        found = [total[f"{kind}.{part}"].item() for part in ("rtp", "r_den", "p_den")]
        assert found == [sum(column) for column in zip(*each, strict=True)]


def spans(*mentions: tuple[int, int, str]) -> Corpus:
    """A document with mentions: start, end and entity."""
    place = {"document": 0, "origin": 0, "record": 1, "mention": "", "label": ""}
    rows = [
        {**place, "row": at, "start": start, "end": end, "entity": entity}
        for at, (start, end, entity) in enumerate(mentions)
    ]
    return Corpus(documents=[{"row": 0, "name": "d"}], mentions=rows)


@pytest.mark.parametrize(
    ("system", "recalls"),
    [
        # more words, fewer words, another last word
        ([(0, 3, "x"), (6, 8, "x")], {"exact": 0, "head": 1, "partial": 1 / 2}),
        ([(2, 3, "x"), (5, 9, "x")], {"exact": 0, "head": 1 / 2, "partial": 1 / 2}),
        # the own span goes first, whatever the order, and is in another entity
        ([(2, 3, "x"), (1, 3, "y"), (7, 8, "x")], {"exact": 1 / 2, "head": 1 / 2}),
        # of two that are as near, the first
        ([(6, 8, "y"), (2, 3, "x"), (4, 8, "x")], {"head": 1, "partial": 1 / 2}),
    ],
)
def test_mentions_are_the_same_by_their_heads(system: Any, recalls: dict[str, float]) -> None:
    reference = spans((1, 3, "a"), (5, 8, "a"))
    for span, recall in recalls.items():
        found = score(reference, spans(*system), span=span, measures=("mention_ceaf",))
        assert found["mention_ceaf.recall"] == recall, span


PLACES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 3), st.sampled_from("ab")).map(
        lambda one: (one[0], one[0] + one[1], one[2])
    ),
    max_size=5,
    unique_by=lambda one: one[:2],
)


@given(ours=PLACES, theirs=PLACES, within=st.booleans())
@settings(max_examples=tries(60), deadline=None)
def test_matched_mentions_are_those_of_a_greedy_search(
    ours: Any, theirs: Any, within: bool
) -> None:
    """The pairs one after the other: of the same end, the least difference of beginnings first."""
    every = [
        (abs(a[0] - b[0]), a[0], a[1], b[0], a, b)
        for a in ours
        for b in theirs
        if a[1] == b[1] and (not within or b[0] >= a[0])
    ]
    own, used = {}, set()
    for *_, a, b in sorted(every):
        if a not in used and b not in own:
            own[b], _ = a, used.add(a)
    renamed = [(*own.get(b, b)[:2], b[2]) for b in theirs]
    expected = score(spans(*ours), spans(*renamed))
    span = "partial" if within else "head"
    assert score(spans(*ours), spans(*theirs), span=span) == pytest.approx(expected)
