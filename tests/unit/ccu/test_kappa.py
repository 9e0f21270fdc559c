"""Cohen's kappa against its definition, with counts and with fractional weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hlteval.scoring.agreement.coefficients import kappas
from hlteval.scoring.ratios import plain
from tests.effort import tries


def kappa(pairs: np.ndarray) -> float | None:
    (value,) = plain(kappas(pairs[np.newaxis]))
    return value


@settings(max_examples=tries(50))
@given(arrays(np.int64, (3, 3), elements=st.integers(0, 9)))
def test_definition(pairs: np.ndarray) -> None:
    """Kappa is (p_o - p_e) / (1 - p_e), undefined where p_e is 1 or there are no pairs."""
    whole = pairs.sum()
    chance = (pairs.sum(0) * pairs.sum(1)).sum()
    if whole == 0 or chance == whole**2:
        assert kappa(pairs) is None
    else:
        observed, expected = pairs.trace() / whole, chance / whole**2
        assert kappa(pairs) == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)


def test_one_class_of_fractional_weight_is_undefined() -> None:
    """Rounding of weights such as seconds makes no number where the definition has none."""
    pairs = np.zeros((3, 3))
    pairs[1, 1] = sum([0.1] * 7)
    assert kappa(pairs) is None


def test_complete_agreement_and_a_single_class() -> None:
    assert kappa(np.array([[2.5, 0.0], [0.0, 1.5]])) == 1
    assert kappa(np.array([[3, 0], [0, 0]])) is None


def test_constant_rater_has_kappa_of_zero() -> None:
    """One rater who uses one class agrees as often as chance does."""
    assert kappa(np.array([[0.3, 0.0], [0.7, 0.0]])) == pytest.approx(0.0, abs=1e-12)


def test_matrices_together_as_one_by_one() -> None:
    """Several matrices give what each gives."""
    both = np.array([[[4, 1], [2, 3]], [[0, 2], [3, 0]]])
    assert kappas(both).tolist() == [kappa(both[0]), kappa(both[1])]


def test_sides_must_be_equal() -> None:
    """Classes of both raters are the same."""
    with pytest.raises(ValueError, match="equal sides"):
        kappa(np.zeros((2, 3)))
