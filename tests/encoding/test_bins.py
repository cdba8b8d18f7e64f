from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata

from shiftscope.encoding.bins import GAP_CODES, bin_features


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=60))
@settings(max_examples=60, deadline=None)
def test_equal_values_share_a_bin_and_order_is_kept(values: list[int]) -> None:
    points = np.array(values, dtype=float)[:, None]
    bins = bin_features(points)
    code = bins.codes[0].astype(int)
    for one, other in zip(code, points[:, 0], strict=True):
        assert (code[points[:, 0] == other] == one).all()
        assert (code[points[:, 0] > other] >= one).all()
        low, high = bins.tables.interval(0, int(one), int(one))
        assert low <= other <= high


def test_bins_hold_equal_shares_of_rows_without_ties() -> None:
    points = np.random.default_rng(0).permutation(2560).astype(float)[:, None]
    bins = bin_features(points)
    assert (np.bincount(bins.codes[0], minlength=256) == 10).all()
    assert bins.tables.interval(0, 0, 0) == (0.0, 9.0)
    assert bins.tables.interval(0, 128, 255) == (1280.0, 2559.0)


def test_a_point_mass_has_a_bin_of_its_own() -> None:
    rng = np.random.default_rng(1)
    points = np.concatenate([np.zeros(600), rng.uniform(0.1, 1, 400)])[:, None]
    codes = bin_features(points).codes[0]
    assert len(np.unique(codes[:600])) == 1
    assert codes[0] not in codes[600:]


def test_bins_see_only_the_order_of_values() -> None:
    points = np.random.default_rng(2).standard_normal((500, 3))
    np.testing.assert_array_equal(bin_features(points).codes, bin_features(np.exp(points) * 1e6).codes)


@pytest.mark.parametrize("count", [2, 255, 256, 257, 600])
def test_each_level_has_a_bin_as_far_as_there_are_bins(count):
    values = np.repeat(np.arange(float(count)), np.arange(count, 0, -1))
    codes = bin_features(values[:, None], np.array([True])).codes[0]
    assert np.all(np.diff(codes.astype(int)) >= 0)
    assert len(np.unique(codes)) == min(count, 256)
    same = codes[np.searchsorted(values, np.arange(min(count, 256)))]
    assert len(np.unique(same)) == min(count, 256)


def test_missing_numbers_have_a_bin_of_their_own_with_room():
    values = np.append(np.random.default_rng(0).normal(size=999), -np.inf)[:, None]
    bins = bin_features(values)
    assert bins.codes[0, -1] == 0
    assert bins.codes[0, :-1].min() >= GAP_CODES
    assert bins.tables.interval(0, 0, GAP_CODES - 1) == (-np.inf, -np.inf)
    mostly = bin_features(np.where(np.arange(1000)[:, None] < 900, -np.inf, values))
    assert len(np.unique(mostly.codes[0, 900:])) > 20


def test_scores_are_normal_quantiles_of_mean_mid_ranks() -> None:
    values = np.round(10 * np.random.default_rng(3).standard_normal(700))
    bins = bin_features(values[:, None])
    middle = (rankdata(values) - 0.5) / 700
    for code in np.unique(bins.codes):
        expected = ndtri(middle[bins.codes[0] == code].mean())
        assert bins.tables.scores[0, code] == pytest.approx(expected, abs=1e-6)
