"""Half a deviance: one, many, and the table behind them, against the likelihood ratio of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import chi2_contingency

from shiftscope.kernels.deviance import half_deviance, half_deviances, xlogx
from tests.kernels.twins import slow_half_deviance, slow_xlogx


def windows(counted: int, total: int) -> list[tuple[int, int]]:
    """Every (k, n) that a window can hold."""
    return [(k, n) for n in range(total + 1) for k in range(max(0, n + counted - total), min(n, counted) + 1)]


def test_table_is_that_of_scipy() -> None:
    counts = np.arange(3001)
    np.testing.assert_allclose(xlogx(3000), xlogy(counts, counts), rtol=1e-15, atol=0)
    np.testing.assert_allclose(slow_xlogx(3000), xlogy(counts, counts), rtol=1e-15, atol=0)


@pytest.mark.parametrize(("counted", "total"), [(7, 20), (10, 20), (3, 31)])
def test_one_and_many_are_the_likelihood_ratio_of_the_two_by_two_table(counted: int, total: int) -> None:
    k, n = np.array(windows(counted, total)).T
    expected = [slow_half_deviance(int(one), int(size), counted, total) for one, size in zip(k, n, strict=True)]
    table = xlogx(total)
    single = [half_deviance(one, size, counted, table) for one, size in zip(k, n, strict=True)]
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(half_deviances(k, n, counted, total), expected, rtol=0, atol=1e-9)
    assert max(expected) > 2


def test_many_regions_of_any_shape_in_a_large_pool() -> None:
    """Sums of SciPy's xlogy over the cells, less those over the margins."""
    counted, total = 400_000, 1_000_000
    n = np.random.default_rng(0).integers(1, 5000, (4, 3, 2))
    k = np.minimum(n, (0.5 * n).astype(int) + 3)
    cells = (k, n - k, counted - k, total - n - counted + k)
    expected = sum(xlogy(cell, cell) for cell in cells) + xlogy(total, total)
    expected -= sum(xlogy(margin, margin) for margin in (n, total - n, counted, total - counted))
    found = half_deviances(k, n, counted, total)
    assert found.shape == (4, 3, 2)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


def test_the_slow_twin_is_the_known_likelihood_ratio() -> None:
    table = np.array([[9, 4], [21, 40]])
    known = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert slow_half_deviance(9, 13, 30, 74) == pytest.approx(known / 2)
