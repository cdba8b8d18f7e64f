from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from shiftscope.encoding.encode import encode_pair
from shiftscope.modes.mode import Direction
from shiftscope.modes.describe import _interval, _interval_given_found, directions, excess_mass


def planted(injected=100, n=900, seed=0, spread=0.05):
    """Pool of two normal samples of `n` rows in a plane; the last `injected` rows are a cluster of current's."""
    rng = np.random.default_rng(seed)
    points = np.vstack([rng.standard_normal((2 * n, 2)), 1 + spread * rng.standard_normal((injected, 2))])
    return points, np.arange(2 * n + injected) >= n, np.arange(2 * n, 2 * n + injected)


def test_the_interval_covers_the_injected_share():
    covered = 0
    for seed in range(60):
        points, is_current, rows = planted(seed=seed)
        found = excess_mass(points, is_current, rows, random_state=seed)
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
        found = excess_mass(points, is_current, rows, enough=0.9)
        low, high = found.interval
        assert low < high
        assert high > 0.0


def test_far_from_the_limit_the_interval_is_the_ordinary_one():
    assert _interval_given_found(10.0, 1.0, 2.0) == pytest.approx((10 - 1.96, 10 + 1.96), abs=1e-3)


def test_rows_of_no_excess_have_none():
    """Negative control: rows picked at random from one of two equal samples."""
    points, is_current, _ = planted(injected=0)
    rows = np.random.default_rng(3).choice(np.flatnonzero(is_current), 60, replace=False)
    found = excess_mass(points, is_current, rows)
    assert abs(found.share) < 0.06
    assert found.purity < 0.15


def test_either_sample_may_hold_the_excess():
    points, is_current, rows = planted()
    assert excess_mass(points, ~is_current, rows) == excess_mass(points, is_current, rows)


def test_purity_is_the_share_of_the_region_that_is_in_excess():
    points, is_current, rows = planted()
    assert excess_mass(points, is_current, rows).purity > 0.9
    points, is_current, rows = planted(injected=300, spread=0.25)  # among about 60 background rows of either sample
    assert 0.5 < excess_mass(points, is_current, rows).purity < 0.95


def test_identical_rows_are_an_excess_too():
    points, is_current, rows = planted()
    points[rows] = 1.0
    found = excess_mass(points, is_current, rows)
    assert found.share == pytest.approx(0.1)
    assert found.purity == 1


@pytest.mark.parametrize("size", [1, 2, 6])
def test_few_rows_still_give_an_interval(size):
    points, is_current, rows = planted()
    found = excess_mass(points, is_current, rows[:size])
    assert -1 <= found.interval[0] <= found.share <= found.interval[1] <= 1


def test_two_rows_in_the_other_sample_are_enough():
    for seed in range(8):
        points, is_current, rows = planted(n=2, injected=50, seed=seed)
        found = excess_mass(points, is_current, rows, random_state=seed)
        assert 0 < found.share <= 1


def test_directions_are_in_the_units_of_the_data():
    rng = np.random.default_rng(0)
    reference = rng.normal((100, -5, 3), (10, 1, 1), (500, 3))
    current = rng.normal((100, -5, 3), (10, 1, 1), (500, 3))
    current[:50] = rng.normal((120, -5, 1), (1, 0.1, 1), (50, 3))
    encoded = encode_pair(reference, current)
    found = directions(encoded, True, np.arange(500, 550), (2, 0, 1))
    assert [(one.feature, one.word) for one in found] == [("x2", "lower"), ("x0", "higher"), ("x1", "narrower")]
    assert found[1].median == pytest.approx(np.median(current[:50, 0]))
    assert found[1].other_median == pytest.approx(np.median(reference[:, 0]))
    assert found[1].shift == pytest.approx((found[1].median - found[1].other_median) / encoded.scale[0])
    quartiles = [np.subtract(*np.quantile(rows, (0.75, 0.25))) for rows in (current[:50, 1], reference[:, 1])]
    assert found[2].spread_ratio == pytest.approx(quartiles[0] / quartiles[1])
    assert str(found[1]).startswith("x0 higher: median 120")


def test_directions_of_the_largest_numbers_are_finite():
    reference = pl.DataFrame({"v": [1.7e308, -1.7e308] * 10})
    current = pl.DataFrame({"v": [1.6e308, 1.7e308] * 10})
    encoded = encode_pair(reference, current)
    (found,) = directions(encoded, True, np.arange(20, 40), (0,))
    small = encode_pair(reference / 2.0**900, current / 2.0**900)
    (expected,) = directions(small, True, np.arange(20, 40), (0,))
    assert found.median == expected.median * 2.0**900
    assert found.other_median == expected.other_median * 2.0**900
    assert found.shift == pytest.approx(expected.shift)
    assert found.spread_ratio == pytest.approx(expected.spread_ratio)


def test_a_constant_column_of_the_other_sample_has_no_spread_to_compare():
    reference, current = np.zeros((20, 2)), np.random.default_rng(0).standard_normal((20, 2))
    reference[:, 1] = np.arange(20)
    found = directions(encode_pair(reference, current), True, np.arange(20, 40), (0,))
    assert found[0].spread_ratio == np.inf


@pytest.mark.parametrize(
    ("shift", "spread_ratio", "word"),
    [
        (0.3, 0.1, "higher"),
        (-0.3, 9, "lower"),
        (0.1, 0.5, "narrower"),
        (-0.1, 2, "wider"),
        (-0.1, 1, "lower"),
        (0.05, 1, "alike"),
    ],
)
def test_the_most_telling_word(shift, spread_ratio, word):
    assert Direction("x", 1.0, 0.0, shift, spread_ratio).word == word


@pytest.mark.parametrize("of_current", [True, False])
def test_shares_go_from_the_reference_to_the_current_sample(of_current):
    """Whichever sample has the excess of level b, the arrow points from reference to current."""
    rich, poor = np.array(["b"] * 40 + ["a"] * 60), np.array(["a"] * 100)
    reference, current = (poor, rich) if of_current else (rich, poor)
    encoded = encode_pair(pl.DataFrame({"x": reference}), pl.DataFrame({"x": current}))
    rows = np.arange(40) + (100 if of_current else 0)
    told = directions(encoded, of_current, rows, (0,))[0]
    assert told.change == ("= b: 0 % -> 40 %" if of_current else "= b: 40 % -> 0 %")
