"""Correlations of the scores of frames with those of translations, by hand."""

from __future__ import annotations

import polars as pl
import pytest

from hlteval.scoring.mt.metric import correlation_tables

BLEU = (10.0, 20.0, 30.0, 40.0)


def found(mt, bleu=BLEU, **others):
    names = "abcd"[: len(bleu)]
    scores = {"mt": dict(zip(names, mt, strict=True))}
    scores |= {name: dict(zip(names, own, strict=True)) for name, own in others.items()}
    documents = pl.DataFrame({"document": list(names), "bleu": list(bleu)})
    return correlation_tables(documents, ["bleu"], scores)


def test_the_coefficients_by_hand():
    """Ranks 1 2 3 4 and 1 2 4 3: covariance 4 / 4, variances 5 / 4; five of six pairs in order."""
    row = found((0.1, 0.2, 0.4, 0.3))["sf_correlation"].row(0)
    assert row[:3] == ("bleu", "mt", 4)
    # Spearman 1 - 6 · 2 / (4 · 15), Kendall (5 - 1) / 6
    assert row[3:] == pytest.approx((4 / 5, 1 - 12 / 60, 4 / 6))


@pytest.mark.parametrize(
    ("mt", "bleu"),
    [
        ((0.5, 0.5, 0.5, 0.5), BLEU),
        ((0.1, 0.2, 0.3, 0.4), (7.0, 7.0, 7.0, 7.0)),
        ((0.1, 0.2), (10.0, 20.0)),
    ],
)
def test_equal_values_and_few_documents_have_no_correlation(mt, bleu):
    assert found(mt, bleu)["sf_correlation"].row(0)[3:] == (None, None, None)


def test_values_that_differ_by_one_have_a_correlation():
    assert found((0.0, 0.0, 1.0, 1.0), (0.0, 1.0, 0.5, 1.0))["sf_correlation"].row(0)[3] is not None


def test_the_mean_difference_by_hand():
    table = found((0.1, 0.2, 0.4, 0.3), source=(0.2, 0.4, 0.4, 0.6))["sf_performance"]
    rows = {row["input"]: row for row in table.to_dicts()}
    assert rows["mt"]["mean"] == pytest.approx(0.25)
    assert rows["source"]["difference"] == pytest.approx(0.25 - 0.4)
