"""CEAF and the partners of clusters, where items are in many clusters, beside all pairs of them."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring import clusterings
from hlteval.scoring.clusterings import (
    Clusterings,
    best_alignment,
    dice,
    fractions,
    intersections,
    sizes,
    weigh,
)
from hlteval.scoring.edl import errors
from hlteval.scoring.edl.measures import measures
from hlteval.scoring.edl.metric import LinkMatch, Options
from hlteval.scoring.edl.official import OfficialClusterings
from hlteval.scoring.matching import assign
from tests.effort import tries

SCHEMA = dict.fromkeys(("item", "cluster"), pl.Int64)
members = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=20, unique=True)
alone = st.lists(st.integers(0, 1), max_size=6).map(
    lambda items: [(item, 10 + at) for at, item in enumerate(items)]
)
side = st.builds(lambda shared, own: shared + own, members, alone)


def tables(rows):
    """Memberships in an order of their own, in one group."""
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    group = pl.lit(0, pl.Int64).alias("group")
    order = pl.int_range(pl.len(), dtype=pl.Int64).min().over("cluster").alias("order")
    return table.select(group, "item", "cluster", order, nameless=pl.lit(value=False))


def sums(table):
    return table.collect().select("ptp", "rtp", "p_den", "r_den").fill_null(0).rows()


def all_pairs(both, measure):
    """Find the sum over the best alignment of each cluster with each."""
    ours, theirs = both.matrix, both.system
    pairs = intersections(ours, theirs)
    if measure == "mention_ceaf":
        return best_alignment(pairs, "shared").collect()["shared"].sum()
    best = best_alignment(dice(pairs, sizes(ours), sizes(theirs)), "weight")
    return sum(fractions(best, "ptp").collect()["ptp"])


@settings(max_examples=tries(50), deadline=None)
@given(side, side)
def test_sums_are_those_of_all_pairs(ours, theirs):
    sides = tables(ours), tables(theirs)
    every = [
        Clusterings.of(*sides),
        Clusterings.of_weighed(weigh(*sides)),
        OfficialClusterings.of(*sides),
    ]
    for both in every:
        for measure in ("mention_ceaf", "entity_ceaf"):
            if isinstance(both, OfficialClusterings) and measure == "entity_ceaf":
                continue  # in an order of its own, of all pairs
            found = sums(clusterings.MEASURES[measure](both))
            assert [row[0] for row in found] in ([all_pairs(both, measure)], []), measure


@settings(max_examples=tries(80), deadline=None)
@given(side, side)
def test_the_table_of_clusters_is_that_of_all_pairs(ours, theirs):
    both = [tables(rows).select("group", "item", "cluster") for rows in (ours, theirs)]
    rows = pl.concat(table.with_columns(system=bool(at)) for at, table in enumerate(both))
    found = errors.clusters(rows, pl.Series([str(number) for number in range(20)]))
    pairs = intersections(*(table.with_columns(weight=1) for table in both))
    assert found["shared"].sum() == best_alignment(pairs, "shared").collect()["shared"].sum()
    for name, own, parts in (("reference", "cluster", "parts"), ("system", "other", "merged")):
        expected = pairs.group_by(own).len().rows()
        counts = found.drop_nulls(name).filter(pl.col(parts) > 0).select(name, parts).rows()
        assert {(int(cluster), count) for cluster, count in counts} == {*expected}


def test_clusters_of_one_span_are_not_compared_with_each_other(monkeypatch):
    size, compared = 400, 0
    place = {"document": 0, "origin": 0, "record": 1, "mention": "", "label": "A"}
    corpora = [
        Corpus(
            documents=[{"row": 0, "name": "d"}],
            mentions=[
                {**place, "row": at, "start": 0, "end": 4, "entity": f"E{at + first}"}
                for at in range(size)
            ],
        )
        for first in (0, size // 2)
    ]

    def counting(rows, columns, weights):
        nonlocal compared
        compared += len(rows)
        return assign(rows, columns, weights)

    monkeypatch.setattr(clusterings, "assign", counting)
    metric = LinkMatch("plan", Options(measures(["mention_ceaf", "entity_ceaf"])), ranked=False)
    counts, aligned = metric.statistics(*corpora)
    total = metric.total([counts])
    values, _ = metric.score(total)
    table = metric.error_analysis(aligned, total)[0]["clusters"]
    assert values["mention_ceaf.ptp"] == values["entity_ceaf.ptp"] == size
    assert table.select("shared", "parts", "merged").unique().rows() == [(1, size, size)]
    assert compared == 0
