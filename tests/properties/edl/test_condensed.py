"""Condensed counts of batches, merged in any steps, score as all annotations at once do."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.clusterings import MEASURES, Clusterings, weigh
from hlteval.scoring.edl.condensed import is_condensed
from hlteval.scoring.edl.measures import AGGREGATES, DEFAULT, FIELDS, FILTERS, OVERLAPS, measures
from hlteval.scoring.edl.metric import LinkMatch, Options
from tests.effort import tries

FEW = settings(max_examples=tries(60), deadline=None)
FEWER = settings(max_examples=tries(20), deadline=None)
DOCUMENTS = ("ENG_a", "ENG_b", "IL9_c", "IL9_d", "IL9_e", "x")

spans = st.tuples(st.sampled_from(DOCUMENTS), st.integers(0, 4), st.integers(-1, 4))
mentions = st.tuples(
    spans,
    st.sampled_from(("PER", "ORG")),
    st.sampled_from(("E1", "E2", "E3", "E4", "NIL1", "NIL2", "NIL", "", None)),
    st.sampled_from((1.0, 0.5, None)),
)
"""Document, start and length (a mention may end before it starts); type, entity, confidence."""


def beside(rows):
    """Mentions as they come, some of the other side's, and others of the same spans."""
    own = st.sampled_from(rows) if rows else mentions
    return mentions | own | st.builds(lambda row, other: (row[0], *other[1:]), own, mentions)


sides = st.lists(mentions, max_size=20).flatmap(
    lambda ours: st.tuples(st.just(ours), st.lists(beside(ours), max_size=20))
)
batches = st.lists(st.integers(0, 4), min_size=len(DOCUMENTS), max_size=len(DOCUMENTS))
"""The number of the batch that each document is in."""


@st.composite
def expressions(draw):
    aggregate, kept = draw(st.sampled_from(AGGREGATES)), draw(st.sampled_from(("", *FILTERS)))
    key = draw(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3, unique=True))
    if aggregate in OVERLAPS or draw(st.booleans()):
        key = dict.fromkeys(("span", *key))
    by = draw(st.sampled_from(("", "", "", ";docid=<micro>", ";docid=<macro>", ";type=<micro>")))
    return f"{aggregate}:{kept}:{'+'.join(key)}{by}"


def corpus(rows, documents):
    names = sorted({row[0][0] for row in rows} & documents)
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
                "end": start + length,
                "entity": entity,
                "confidence": confidence,
            }
            for at, ((name, start, length), label, entity, confidence) in enumerate(rows)
            if name in documents
        ],
    )


def statistics(metric, pair, documents):
    return metric.statistics(*(corpus(rows, documents) for rows in pair), alignment=False)[0]


def assert_the_same_from_batches(metric, pair, numbers):
    """In one step, and in two: totals are condensed counts as well."""
    whole = metric.total([statistics(metric, pair, set(DOCUMENTS))])
    parts = [
        {name for name, number in zip(DOCUMENTS, numbers, strict=True) if number == at}
        for at in sorted({*numbers})
    ]
    counts = [metric.condense(statistics(metric, pair, part)) for part in parts]
    counts = pickle.loads(pickle.dumps(counts))
    assert {is_condensed(part) for part in counts} == {metric.condenses}
    steps = [metric.total(counts[:2]), metric.total(counts[2:])] if counts[2:] else counts
    expected = results(metric, whole)
    assert results(metric, metric.total(counts)) == expected
    assert results(metric, metric.total(steps)) == expected


def results(metric, total):
    values, tables = metric.score(total)
    rows = {name: (table.schema, table.rows()) for name, table in tables.items()}
    return values, rows, metric.notes(total), metric.official_files(total)


@pytest.mark.long("all measures are computed of two totals of each example")
@FEWER
@given(sides, batches)
def test_all_measures_of_the_task(pair, numbers):
    metric = LinkMatch("plan", Options(measures(DEFAULT)))
    assert metric.condenses
    assert_the_same_from_batches(metric, pair, numbers)


@pytest.mark.long("up to eight measures are computed of two totals of each example")
@FEW
@given(sides, batches, st.lists(expressions(), min_size=1, max_size=4))
def test_any_expressions(pair, numbers, names):
    mergeable = [name for name in names if measures([name])[0].mergeable]
    for some in filter(None, (names, mergeable)):
        metric = LinkMatch("plan", Options(measures(some)))
        assert metric.condenses == (some == mergeable)
        assert_the_same_from_batches(metric, pair, numbers)


@FEWER
@given(sides, batches, st.sampled_from(["official", "document", "alternatives", "weights"]))
def test_annotations_stay_where_clusters_are_not_enough(pair, numbers, what):
    options = {
        "official": Options(),
        "document": Options(by="document"),
        "alternatives": Options(alternatives="eid"),
        "weights": Options(type_weights={("PER", "ORG"): 0.5}),
    }[what]
    metric = LinkMatch("official" if what == "official" else "plan", options)
    counts = statistics(metric, pair, set(DOCUMENTS))
    assert metric.condense(counts) is counts


memberships = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=16, unique=True)


@FEW
@given(memberships, memberships)
def test_weighed_items_count_as_many_items(ours, theirs):
    sides = [
        pl.DataFrame(rows, schema={"item": pl.Int64, "cluster": pl.Int64}, orient="row")
        for rows in (ours, theirs)
    ]
    weighed = Clusterings.of_weighed(weigh(*sides), group=3)
    each = Clusterings.of(*(side.with_columns(group=pl.lit(3, pl.Int64)) for side in sides))
    for name, measure in MEASURES.items():
        for one, other in ((weighed, each), (weighed.once, each.once)):
            assert measure(one).collect().to_dicts() == measure(other).collect().to_dicts(), name


def test_items_in_several_clusters_are_told_apart_across_batches():
    """The first item is in E1 and E2, that of the other batch in E1 and E3."""
    ours = [((name, 0, 2), "PER", e, None) for name, e in zip("aabb", "1213", strict=True)]
    theirs = [((name, start, 2), "PER", "X", None) for name in "ab" for start in (0, 4)]
    metric = LinkMatch("plan", Options(measures(["muc", "b_cubed", "entity_ceaf", "blanc"])))
    expected, *_ = results(metric, statistics(metric, (ours, theirs), {*"ab"}))
    counts = [metric.condense(statistics(metric, (ours, theirs), {name})) for name in "ab"]
    assert results(metric, metric.total(counts))[0] == expected
    assert expected["muc.ptp"] == 0
    assert "2 spans are in several clusters" in metric.notes(metric.total(counts))[0]


def test_counts_of_two_batches_by_hand():
    """E1 and X share two mentions of two documents, E1 and Y one; Z has one that E1 lacks."""
    ours = [((name, start, 2), "PER", "E1", None) for name in "ab" for start in (0, 4)]
    theirs = [
        (("a", 0, 2), "PER", "X", None),
        (("b", 0, 2), "PER", "X", None),
        (("b", 4, 2), "PER", "Y", None),
        (("b", 8, 2), "PER", "Z", None),
    ]
    metric = LinkMatch("plan", Options(measures(["mention_ceaf", "overlap-maxmax::span"])))
    counts = [metric.condense(statistics(metric, (ours, theirs), {name})) for name in "ab"]
    total = metric.total(counts)
    kinds = total.filter(part=":span").select("reference", "system", "count")
    assert sorted(kinds.rows(), key=str) == [
        ("=E1", "=X", 2),
        ("=E1", "=Y", 1),
        ("=E1", None, 1),
        (None, "=Z", 1),
    ]
    shares = total.filter(part="overlap-maxmax::span.ptp").select("number", "count")
    assert shares.rows() == [(2, 6)]
    assert metric.score(total)[0]["mention_ceaf.recall"] == pytest.approx(2 / 4)
    assert metric.condense(metric.total([])).equals(
        metric.total([metric.condense(metric.total([]))])
    )
