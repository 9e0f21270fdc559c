"""Measures of entity discovery and linking beside definitions that can be read off the page."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.edl.measures import FIGURES, OVERLAPS, WrongMeasure, measures
from hlteval.scoring.edl.metric import LinkMatch, Options
from hlteval.scoring.metric import Metric
from tests.effort import tries

FEW = settings(max_examples=tries(15), deadline=None)
FEWER = settings(max_examples=tries(5), deadline=None)
DOCUMENTS, TYPES = ("ENG_a", "ENG_b", "IL9_c"), ("PER", "ORG")
ENTITIES = ("E1", "E2", "E3", "NIL1", "NIL2", None)

spans = st.tuples(st.sampled_from(DOCUMENTS), st.integers(0, 6), st.integers(1, 4))
mentions = st.builds(
    lambda span, label, entity: (span[0], span[1], span[1] + span[2] - 1, label, entity),
    spans,
    st.sampled_from(TYPES),
    st.sampled_from(ENTITIES),
)
"""Document, first and last offset, type and entity."""


def near(rows):
    """Mentions as they come, and those of some rows, of the same and of other entities."""
    if not rows:
        return mentions
    own = st.sampled_from(rows)
    return mentions | own | st.builds(lambda row, entity: (*row[:4], entity), own, entities)


entities = st.sampled_from(ENTITIES)
sides = st.lists(mentions, max_size=7).flatmap(
    lambda ours: st.tuples(st.just(ours), st.lists(near(ours), max_size=7))
)


def corpus(rows):
    names = sorted({row[0] for row in rows})
    return Corpus(
        documents=[{"row": at, "name": name} for at, name in enumerate(names)],
        mentions=[
            {
                "row": at,
                "document": names.index(name),
                "origin": 0,
                "record": at + 1,
                "mention": "",
                "label": label,
                "start": start,
                "end": last + 1,
                "entity": entity,
            }
            for at, (name, start, last, label, entity) in enumerate(rows)
        ],
    )


def measured(pair, *names, profile="plan", by="", batches=None):
    metric = LinkMatch(profile, Options(measures(names), by=by))
    parts = batches or [pair]
    counts = [metric.statistics(corpus(one), corpus(two))[0] for one, two in parts]
    return metric.score(metric.total(counts))[0]


def figures(found, name):
    return tuple(found[f"{name}.{part}"] for part in ("ptp", "fp", "rtp", "fn"))


def clusters(rows, key=lambda row: row[:3]):
    """Sets of keys by entity."""
    found = {}
    for row in rows:
        found.setdefault(row[4], set()).add(key(row))
    return found


def partition(rows, key=lambda row: row[:3]):
    """The same with every key in one of its clusters: the last by its name."""
    last = {}
    for row in rows:
        last[key(row)] = max(last.get(key(row), ""), row[4] or "")
    found = {}
    for item, entity in last.items():
        found.setdefault(entity, set()).add(item)
    return found


def best(ours, theirs, worth):
    """The greatest sum over all one-to-one alignments."""
    few, many = sorted([list(ours.values()), list(theirs.values())], key=len)
    return max(
        (
            sum(worth(one, other) for one, other in zip(few, order, strict=True))
            for order in permutations(many, len(few))
        ),
        default=0,
    )


KEYS = {
    "span": lambda row: row[:3],
    "span+type": lambda row: row[:4],
    "span+type+kbid": lambda row: (*row[:4], kbid(row)),
    "docid+kbid": lambda row: (row[0], kbid(row)),
}


def kbid(row):
    return None if (row[4] or "NIL").startswith("NIL") else row[4]


FILTERS = {"": lambda _: True, "is_linked": kbid, "is_nil": lambda row: not kbid(row)}


SETS = {f"sets:{kept}:{key}": (kept, key) for kept in FILTERS for key in KEYS}


@FEW
@given(sides)
def test_sets(pair):
    found = measured(pair, *SETS)
    for name, (kept, key) in SETS.items():
        ours, theirs = ({KEYS[key](row) for row in side if FILTERS[kept](row)} for side in pair)
        both = len(ours & theirs)
        expected = (both, len(theirs) - both, both, len(ours) - both)
        assert figures(found, name) == expected, name


def units(row):
    return set(range(row[1], row[2] + 1))


def share(row, others, mode):
    met = [units(row) & units(other) for other in others if other[0] == row[0]]
    if mode == "max":
        return max(map(len, met), default=0) / len(units(row))
    return len(set().union(*met)) / len(units(row))


@FEW
@given(sides)
def test_overlaps_are_exact_where_spans_nest_and_repeat(pair):
    found = measured(pair, *(f"{name}::span" for name in OVERLAPS))
    ours, theirs = pair
    for name in OVERLAPS:
        x, y = name[-6:-3], name[-3:]
        ptp = sum(share(row, ours, y) for row in theirs)
        rtp = sum(share(row, theirs, x) for row in ours)
        expected = (ptp, len(theirs) - ptp, rtp, len(ours) - rtp)
        assert figures(found, f"{name}::span") == pytest.approx(expected, abs=1e-12)


OF_SPANS = ("span", "span+type", "span+type+kbid")
CEAF = [f"{level}_ceaf::{key}" for level in ("mention", "entity") for key in OF_SPANS]


@FEW
@given(sides)
def test_ceaf_is_the_best_alignment(pair):
    found = measured(pair, *CEAF)
    for key in OF_SPANS:
        ours, theirs = (clusters(side, KEYS[key]) for side in pair)
        total = best(ours, theirs, lambda one, other: len(one & other))
        sizes = [sum(map(len, side.values())) for side in (ours, theirs)]
        expected = (total, sizes[1] - total, total, sizes[0] - total)
        assert figures(found, f"mention_ceaf::{key}") == expected, key
        total = best(ours, theirs, lambda one, two: 2 * len(one & two) / (len(one) + len(two)))
        expected = (total, len(theirs) - total, total, len(ours) - total)
        assert figures(found, f"entity_ceaf::{key}") == pytest.approx(expected, abs=1e-12), key


def cluster_of(item, side):
    return next((cluster for cluster in side.values() if item in cluster), set())


@FEW
@given(sides)
def test_b_cubed(pair):
    ours, theirs = (partition(side) for side in pair)
    items = [set().union(*side.values()) for side in (ours, theirs)]

    def shares(side, other, these):
        each = ((cluster_of(item, side), cluster_of(item, other)) for item in these)
        return sum(len(one & two) / len(one) for one, two in each)

    ptp, rtp = shares(theirs, ours, items[1]), shares(ours, theirs, items[0])
    expected = (ptp, len(items[1]) - ptp, rtp, len(items[0]) - rtp)
    assert figures(measured(pair, "b_cubed"), "b_cubed") == pytest.approx(expected, abs=1e-12)


@FEW
@given(sides)
def test_muc_counts_the_links_that_are_there_when_the_other_side_cuts(pair):
    ours, theirs = (partition(side) for side in pair)

    def kept(side, other):
        parts = []
        for cluster in side.values():
            pieces = {frozenset(cluster_of(item, other)) or item for item in cluster}
            parts.append(len(cluster) - len(pieces))
        return sum(parts)

    needed = [sum(len(cluster) - 1 for cluster in side.values()) for side in (ours, theirs)]
    found = measured(pair, "muc")
    assert kept(ours, theirs) == kept(theirs, ours)
    total = kept(ours, theirs)
    assert figures(found, "muc") == (total, needed[1] - total, total, needed[0] - total)


def links(side):
    linked = {frozenset(two) for cluster in side.values() for two in combinations(cluster, 2)}
    every = set().union(*side.values())
    return linked, {frozenset(two) for two in combinations(every, 2)} - linked


@FEW
@given(sides)
def test_pairs_and_blanc(pair):
    ours, theirs = (links(partition(side)) for side in pair)
    found = measured(pair, "pairwise", "pairwise_negative::span", "blanc")
    names = ("pairwise", "pairwise_negative::span")
    scores = []
    for name, one, two in zip(names, ours, theirs, strict=True):
        both = len(one & two)
        assert figures(found, name) == (both, len(two) - both, both, len(one) - both)
        if one or two:
            scores.append(2 * both / (len(one) + len(two)))
    blanc = sum(scores) / len(scores) if scores else None
    assert found["blanc.fscore"] == (None if blanc is None else pytest.approx(blanc, abs=1e-12))


ALL = ("plan", "all", "blanc", "pairwise_negative::span")


EACH = ("strong_typed_all_match", "overlap-maxsum::span", "entity_ceaf", "b_cubed", "muc", "blanc")
"""One measure of each kind."""


@FEWER
@given(sides, st.randoms(), st.sampled_from(["", "document", "type", "language"]))
def test_scores_depend_neither_on_the_order_of_rows_nor_on_batches(pair, random, by):
    whole = measured(pair, *EACH, by=by)
    mixed = [random.sample(side, len(side)) for side in pair]
    assert measured(mixed, *EACH, by=by) == whole
    apart = [tuple([row for row in side if row[0] == name] for side in mixed) for name in DOCUMENTS]
    assert measured(pair, *EACH, by=by, batches=apart) == whole


@FEWER
@given(sides)
def test_the_names_of_nil_clusters_say_nothing(pair):
    renamed = [(*row[:4], {"NIL1": "NIL77", "NIL2": "NIL3"}.get(row[4], row[4])) for row in pair[1]]
    unique = len({row[:3] for row in pair[1]}) == len(pair[1])
    found, again = measured(pair, *EACH), measured((pair[0], renamed), *EACH)
    for name in ("strong_typed_all_match", "entity_ceaf", *(["b_cubed", "muc"] if unique else [])):
        assert figures(again, name) == pytest.approx(figures(found, name), abs=1e-12)


@FEWER
@given(st.lists(mentions, min_size=1, max_size=7))
def test_a_side_scores_all_with_itself(rows):
    found = measured((rows, rows), *ALL)
    for name in (*measures(ALL),):
        score = found[f"{name.name}.fscore"]
        assert score is None or score == pytest.approx(1, abs=1e-12)


def disjoint(rows):
    """Of each document the mentions that overlap none before them, each with an entity."""
    kept = []
    for row in sorted(rows, key=lambda row: row[:3]):
        if row[4] and not any(row[0] == item[0] and units(row) & units(item) for item in kept):
            kept.append(row)
    return kept


@FEWER
@given(sides)
def test_where_nothing_overlaps_on_a_side_both_profiles_agree(pair):
    pair = tuple(map(disjoint, pair))
    plan, official = (measured(pair, *ALL[:2], profile=item) for item in ("plan", "official"))
    names = [name for name in plan if "docid" not in name]
    assert [official[name] for name in names] == pytest.approx(
        [plan[name] or 0 for name in names], abs=1e-12
    )


def swept_by_hand(pair):
    """The two stacks of the public scorer, as the page describes them."""
    found = set()
    for name in DOCUMENTS:
        stacks = [
            sorted((row for row in side if row[0] == name), key=lambda row: (row[1], -row[2]))
            for side in pair
        ]
        ours, theirs = ([(row, at) for at, row in enumerate(stack)] for stack in stacks)
        while ours and theirs:
            one, two = ours[-1], theirs[-1]
            if units(one[0]) & units(two[0]):
                found.add((one, two))
            later = (two[0][1], -two[0][2]) > (one[0][1], -one[0][2])
            (theirs if later else ours).pop()
    return found


@FEW
@given(sides)
def test_official_finds_the_overlaps_that_the_sweep_finds(pair):
    pairs = swept_by_hand(pair)
    found = measured(pair, "overlap-summax::span", profile="official")
    rtp = ptp = 0.0
    for one in {one for one, _ in pairs}:
        others = [other[0] for mine, other in pairs if mine == one]
        rtp += share(one[0], others, "sum")
    for two in {two for _, two in pairs}:
        others = [mine[0] for mine, other in pairs if other == two]
        ptp += share(two[0], others, "max")
    expected = (ptp, len(pair[1]) - ptp, rtp, len(pair[0]) - rtp)
    assert figures(found, "overlap-summax::span") == pytest.approx(expected, abs=1e-12)


ADDED = (
    *("strong_typed_all_match", "strong_nil_match", "entity_match", "sets:is_first:docid+type"),
    *(f"{entry}::span" for entry in OVERLAPS),
    "mention_ceaf;docid=<micro>",
)


@FEWER
@given(sides, st.sampled_from(["plan", "official"]), st.lists(st.integers(0, 3), min_size=3))
def test_sums_of_documents_are_the_scores_of_their_copies(pair, profile, times):
    metric = LinkMatch(profile, Options(measures(ADDED)))
    counts = metric.statistics(*map(corpus, pair))[0]
    names = list(DOCUMENTS)
    weights = np.array([times[:3]])
    (part,) = metric.decompose()
    assert part.additive
    summed = part.replicates(counts, names, weights)
    copied = Metric.replicates(metric, counts, names, weights)
    for name, values in summed.items():
        assert values == pytest.approx(copied[name], nan_ok=True), name


def test_a_measure_is_summed_where_its_counts_add_and_no_name_is_lost():
    metric = LinkMatch("plan")
    parts = metric.decompose()
    assert [part.additive for part in parts] == [True, False]
    given = [measure.name for part in parts for measure in part.all_measures]
    assert sorted(given) == sorted(measure.name for measure in metric.all_measures)
    (alone,) = metric.decompose(["muc.fscore"])
    assert list(alone.score(alone.total([]))[0]) == [f"muc.{figure}" for figure in FIGURES]
    with pytest.raises(WrongMeasure, match=r"muc\.fscore"):
        metric.decompose(["muc"])


def linked(clusters, items):
    """The pairs of some items that a cluster holds, each once."""
    kept = (sorted(set(members) & items) for members in clusters.values())
    return {pair for members in kept for pair in combinations(members, 2)}


clusterings = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=8)
"""Items, each with one of its clusters."""


@settings(max_examples=tries(25), deadline=None)
@given(clusterings, clusterings)
def test_officially_pairs_that_several_clusters_link_are_one_pair(ours, theirs):
    """No count is below 0, also where spans are in several clusters."""
    both = [[("ENG_a", item, item, "PER", f"E{c}") for item, c in side] for side in (ours, theirs)]
    found = measured(both, "pairwise_negative::span", profile="official")
    parts, items = [], [{item for item, _ in side} for side in (ours, theirs)]
    for side in (ours, theirs):
        parts.append({c: {item for item, own in side if own == c} for _, c in side})
    common = items[0] & items[1]
    agreed = {*combinations(sorted(common), 2)}
    agreed -= linked(parts[0], common) | linked(parts[1], common)
    every = [len(own) * (len(own) - 1) // 2 for own in items]
    gold, system = (
        n - len(linked(part, own)) for n, part, own in zip(every, parts, items, strict=True)
    )
    counts = {"ptp": len(agreed), "rtp": len(agreed)}
    counts |= {"fp": system - len(agreed), "fn": gold - len(agreed)}
    name = "pairwise_negative::span"
    assert {key: found[f"{name}.{key}"] for key in counts} == counts
    assert min(counts.values()) >= 0
