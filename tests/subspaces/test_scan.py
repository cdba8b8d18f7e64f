from __future__ import annotations

import sys

import numpy as np
import pytest

from shiftscope.errors import ParameterError
from shiftscope.params import ScanParams
from shiftscope.subspaces.scan import scan, scan_points
from shiftscope.subspaces.scan_result import FeatureSet, ScanResult

QUICK = ScanParams(n_permutations=127)


def run(reference: np.ndarray, current: np.ndarray, params: ScanParams = QUICK, random_state: int = 0) -> ScanResult:
    points = np.vstack([reference, current])
    names = tuple(f"x{feature}" for feature in range(points.shape[1]))
    return scan_points(points, len(reference), names, params, random_state=random_state)


def test_a_local_excess_is_found_with_its_features_box_and_rows() -> None:
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((3_000, 6)), rng.standard_normal((3_000, 6))
    current[:120, [1, 4]] = [1.0, -1.0] + 0.1 * rng.standard_normal((120, 2))
    result = run(reference, current)
    best = result.sets[0]
    assert result.p_value == 1 / 128
    assert best.p_value == 1 / 128
    assert {1, 4} <= set(best.features)
    assert best.names == tuple(f"x{feature}" for feature in best.features)
    assert (best.statistic, best.side) == ("localised", "current")
    assert np.isin(best.rows_current, np.arange(120)).mean() > 0.7
    assert len(best.rows_current) > 2 * len(best.rows_reference)
    for axis, feature in enumerate(best.features):
        values = np.concatenate([reference[best.rows_reference, feature], current[best.rows_current, feature]])
        assert best.box[axis] == pytest.approx((values.min(), values.max()), abs=0.2)
    assert result.pairs[1, 4] == result.pairs[4, 1] == np.max(result.pairs)


def test_swapping_the_samples_swaps_the_sides() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.standard_normal((1_500, 4)), rng.standard_normal((900, 4))
    other[:60, [0, 2]] = 0.5 + 0.05 * rng.standard_normal((60, 2))
    forward, backward = run(one, other), run(other, one)

    seen = {(one.features, one.statistic): one for one in backward.sets}
    common = [one for one in forward.sets if (one.features, one.statistic) in seen]
    assert len(common) >= 5
    assert common[0].p_value <= 0.01
    for one in common:
        other_way = seen[one.features, one.statistic]
        assert one.side != other_way.side
        assert one.box == other_way.box
        np.testing.assert_array_equal(one.rows_reference, other_way.rows_current)
        np.testing.assert_array_equal(one.rows_current, other_way.rows_reference)


def test_the_same_seed_gives_the_same_result_and_another_seed_finds_the_same() -> None:
    rng = np.random.default_rng(2)
    reference, current = rng.standard_normal((400, 3)), rng.standard_normal((500, 3)) * [1, 1.3, 1]
    first, again, other = (run(reference, current, random_state=state) for state in (7, 7, 8))
    assert first.p_value == again.p_value
    np.testing.assert_array_equal(first.localised_null, again.localised_null)
    assert not np.array_equal(first.localised_null, other.localised_null)
    assert 1 in first.sets[0].features
    assert 1 in other.sets[0].features


@pytest.mark.parametrize("statistic", ["hole", "correlation", "three-way", "spread"])
def test_other_kinds_of_shift_are_seen(statistic: str) -> None:
    rng = np.random.default_rng(6)
    n = 4_000
    reference, current = rng.standard_normal((n, 5)), rng.standard_normal((n, 5))
    if statistic == "hole":
        inside = np.all(np.abs(current[:, [0, 3]] - 0.3) < 0.3, axis=1)
        current[inside] = rng.standard_normal((int(inside.sum()), 5))
        expected, side = {0, 3}, "reference"
    elif statistic == "correlation":
        current[:, 1] = 0.25 * current[:, 2] + np.sqrt(1 - 0.25**2) * current[:, 1]
        expected, side = {1, 2}, None
    elif statistic == "three-way":
        wrong = np.prod(np.sign(current[:, [0, 2, 4]]), axis=1) < 0
        flipped = wrong & (rng.random(n) < 0.3)
        current[flipped, 4] *= -1
        expected, side = {0, 2, 4}, None
    else:
        current[:, 3] *= 1.15
        expected, side = {3}, None
    result = run(reference, current)
    best = result.sets[0]
    assert result.p_value <= 0.01
    assert expected <= set(best.features)
    assert len(best.features) <= 3
    if side is not None:
        assert best.side == side


def test_a_three_way_interaction_shows_in_no_pair() -> None:
    rng = np.random.default_rng(7)
    reference, current = rng.standard_normal((2_000, 3)), rng.standard_normal((2_000, 3))
    current[:, 2] = np.abs(current[:, 2]) * np.sign(current[:, 0] * current[:, 1])
    result = run(reference, current)
    assert result.sets[0].features == (0, 1, 2)
    threshold = np.quantile(np.maximum(result.localised_null, result.broad_null), 0.99)
    assert np.max(result.pairs) < threshold < result.sets[0].value


def test_one_feature_and_few_rows_are_enough() -> None:
    rng = np.random.default_rng(8)
    same = run(rng.standard_normal((30, 1)), rng.standard_normal((12, 1)))
    assert 0 < same.p_value <= 1
    assert [one.features for one in same.sets] == [(0,)]
    moved = run(rng.standard_normal((30, 1)), 3 + rng.standard_normal((12, 1)))
    assert moved.p_value <= 0.01
    assert moved.pairs.shape == (1, 1)


def test_integers_with_heavy_ties_are_scanned() -> None:
    rng = np.random.default_rng(9)
    reference, current = rng.poisson(1.0, (1_500, 4)), rng.poisson(1.0, (1_500, 4))
    current[:, 2] = np.where(rng.random(1_500) < 0.15, 0, current[:, 2])
    result = run(reference.astype(float), current.astype(float))
    assert result.p_value <= 0.01
    assert 2 in result.sets[0].features


def test_beyond_the_limit_triples_grow_from_pairs() -> None:
    rng = np.random.default_rng(10)
    reference, current = rng.standard_normal((2_000, 9)), rng.standard_normal((2_000, 9))
    current[:70, [2, 5, 7]] = 0.8 + 0.08 * rng.standard_normal((70, 3))
    result = run(reference, current, ScanParams(n_permutations=127, max_triples=8, max_features=4))
    assert result.p_value <= 0.01
    assert {2, 5, 7} <= set(result.sets[0].features)
    assert max(len(one.features) for one in result.sets) == 4


def test_the_public_scan_speaks_the_users_units_and_names() -> None:
    rng = np.random.default_rng(11)
    reference, current = rng.normal(50, 10, (800, 3)), rng.normal(50, 10, (800, 3))
    current[:200, 1] = rng.uniform(70, 71, 200)
    result = scan(reference, current, QUICK)
    best = next(one for one in result.sets if one.features == (1,))
    assert isinstance(best, FeatureSet)
    assert best.names == ("x1",)
    low, high = best.box[0]
    assert 55 < low < 71 < high < 100
    inside = (current[:, 1] >= low - 1e-9) & (current[:, 1] <= high + 1e-9)
    np.testing.assert_array_equal(best.rows_current, np.flatnonzero(inside))


def test_all_faults_of_the_parameters_are_told_together() -> None:
    with pytest.raises(ParameterError, match=r"beam must be a whole number of at least 0, got -1; n_permutations"):
        ScanParams(beam=-1, n_permutations=0)


def test_blocks_of_lanes_change_nothing(monkeypatch: pytest.MonkeyPatch):
    rows = np.random.default_rng(5).standard_normal((400, 4))
    params = ScanParams(n_permutations=300, n_seeds=16, beam=4)
    whole = scan_points(rows, 200, tuple("abcd"), params)
    monkeypatch.setattr(sys.modules["shiftscope.subspaces.scan"], "_MOST_LABELLINGS", 128)
    parts = scan_points(rows, 200, tuple("abcd"), params)
    assert np.array_equal(whole.localised_null, parts.localised_null)
    assert np.allclose(whole.broad_null, parts.broad_null, atol=1e-4)  # products in single precision
    assert whole.p_value == parts.p_value
    assert [one.features for one in whole.sets] == [one.features for one in parts.sets]


def test_fixed_rows_keep_their_label():
    """With all but two rows fixed, half of the permutations are the observed labels."""
    rows = np.arange(40.0)[:, None]
    found = scan_points(rows, 39, ("x0",), ScanParams(n_permutations=199, max_features=1), fixed=38)
    assert 0.3 < found.p_value <= 1.0
