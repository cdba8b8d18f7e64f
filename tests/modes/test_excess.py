from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from shiftscope.modes.excess import _interval, _interval_given_found, excess_mass
from shiftscope.params import ModeParams

PARAMS = ModeParams()


def planted(injected=100, n=900, seed=0, spread=0.05):
    """Pool of two normal samples of `n` rows in a plane; the last `injected` rows are a cluster of current's."""
    rng = np.random.default_rng(seed)
    points = np.vstack([rng.standard_normal((2 * n, 2)), 1 + spread * rng.standard_normal((injected, 2))])
    return points, np.arange(2 * n + injected) >= n, np.arange(2 * n, 2 * n + injected)


def test_the_interval_covers_the_injected_share():
    covered = 0
    for seed in range(60):
        points, is_current, rows = planted(seed=seed)
        found = excess_mass(points, is_current, rows, PARAMS, random_state=seed)
        assert found.interval[0] < found.share < found.interval[1]
        covered += found.interval[0] <= 0.1 <= found.interval[1]
    assert covered >= binom.ppf(0.001, 60, 0.95)


@pytest.mark.parametrize("mean", [0.5, 2.0, 3.0, 6.0])
def test_the_interval_covers_among_the_estimates_that_were_found(mean):
    limit = 2.5
    drawn = np.random.default_rng(0).normal(mean, 1.0, 60_000)
    found = drawn[drawn >= limit][:300]
    intervals = np.array([_interval_given_found(estimate, 1.0, limit) for estimate in found])
    covered = np.sum((intervals[:, 0] <= mean) & (mean <= intervals[:, 1]))
    low, high = binom.ppf((0.001, 0.999), found.size, 0.95)
    assert low <= covered <= high


@pytest.mark.parametrize("enough", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("estimate", [-0.02, 0.0, 1e-4, 0.01, 0.2])
def test_an_interval_has_its_ends_in_order(estimate, enough):
    low, high = _interval(estimate, 0.01, enough)
    assert -1.0 <= low < high <= 1.0
    if estimate <= 0 or enough == 0:
        assert (low, high) == pytest.approx((estimate - 0.0196, estimate + 0.0196), abs=1e-5)
    else:
        assert (low >= 0.0) == (_interval_given_found(estimate, 0.01, enough * estimate)[1] > 0)


def test_rows_without_excess_have_an_interval_around_none():
    rng = np.random.default_rng(4)
    points, is_current = rng.standard_normal((4000, 2)), np.arange(4000) >= 2000
    for _ in range(12):
        rows = np.sort(rng.choice(2000, 40, replace=False)) + 2000
        found = excess_mass(points, is_current, rows, PARAMS, enough=0.9)
        low, high = found.interval
        assert low < high
        assert high > 0.0


def test_far_from_the_limit_the_interval_is_the_ordinary_one():
    assert _interval_given_found(10.0, 1.0, 2.0) == pytest.approx((10 - 1.96, 10 + 1.96), abs=1e-3)


def test_rows_of_no_excess_have_none():
    """Negative control: rows picked at random from one of two equal samples."""
    points, is_current, _ = planted(injected=0)
    rows = np.random.default_rng(3).choice(np.flatnonzero(is_current), 60, replace=False)
    found = excess_mass(points, is_current, rows, PARAMS)
    assert abs(found.share) < 0.06
    assert found.purity < 0.15


def test_either_sample_may_hold_the_excess():
    points, is_current, rows = planted()
    assert excess_mass(points, ~is_current, rows, PARAMS) == excess_mass(points, is_current, rows, PARAMS)


def test_purity_is_the_share_of_the_region_that_is_in_excess():
    points, is_current, rows = planted()
    assert excess_mass(points, is_current, rows, PARAMS).purity > 0.9
    points, is_current, rows = planted(injected=300, spread=0.25)  # among about 60 background rows of either sample
    assert 0.5 < excess_mass(points, is_current, rows, PARAMS).purity < 0.95


def test_identical_rows_are_an_excess_too():
    points, is_current, rows = planted()
    points[rows] = 1.0
    found = excess_mass(points, is_current, rows, PARAMS)
    assert found.share == pytest.approx(0.1)
    assert found.purity == 1


@pytest.mark.parametrize("size", [1, 2, 6])
def test_few_rows_still_give_an_interval(size):
    points, is_current, rows = planted()
    found = excess_mass(points, is_current, rows[:size], PARAMS)
    assert -1 <= found.interval[0] <= found.share <= found.interval[1] <= 1


def test_two_rows_in_the_other_sample_are_enough():
    for seed in range(8):
        points, is_current, rows = planted(n=2, injected=50, seed=seed)
        found = excess_mass(points, is_current, rows, PARAMS, random_state=seed)
        assert 0 < found.share <= 1
