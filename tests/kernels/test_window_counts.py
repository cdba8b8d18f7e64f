from __future__ import annotations

from itertools import combinations, permutations, product

import numba
import numpy as np
import pytest

from shiftscope.kernels.window_counts import (
    MAX_BINS,
    POOLED_CELLS,
    chi_square_moments,
    evidence_bounds,
    scan_sets,
    unpack_windows,
)
from tests.kernels.twins import slow_half_deviance, slow_xlogx
from tests.kernels.window_case import arguments, drawn_lanes


@pytest.mark.parametrize("counted", [4, 15, 26])
def test_bounds_tell_which_counts_reach_a_threshold(counted: int) -> None:
    total, thresholds = 30, np.array([-1.0, 0.3, 2.0, 6.0])
    table = slow_xlogx(total)
    bounds = evidence_bounds(counted, thresholds, table)
    for level, threshold in enumerate(thresholds):
        for n in range(total + 1):
            for k in range(max(0, n + counted - total), min(n, counted) + 1):
                passes = k < bounds[level, n, 0] or k >= bounds[level, n, 1]
                assert passes == (slow_half_deviance(k, n, counted, total) >= threshold)


def test_windows_beyond_the_table_always_pass() -> None:
    bounds = evidence_bounds(15, np.array([2.0]), slow_xlogx(30))
    assert bounds.shape == (1, 32, 2)
    assert (bounds[:, -1] == 0).all()


def test_moments_of_the_pooled_chi_square_match_all_permutations() -> None:
    cells = np.array([0, 0, 0, 1, 1, 2, 2])
    held = np.bincount(cells)
    counted, total = 3, 7
    p = counted / total
    values = []
    for chosen in combinations(range(total), counted):
        k = np.bincount(cells[list(chosen)], minlength=3)
        values.append(np.sum((k - held * p) ** 2 / (held * p * (1 - p))))
    mean, variance = chi_square_moments(3, float(np.sum(1 / held)), counted, total)
    assert mean == pytest.approx(np.mean(values))
    assert variance == pytest.approx(np.var(values))


def slow_scan(
    codes: np.ndarray, labels: np.ndarray, features: tuple[int, ...], finest: int, price: np.ndarray
) -> tuple[dict[int, float], float]:
    """Evidence of every window of one set under one labelling, one by one, and the largest pooled chi-square."""
    counted, total, size = int(labels.sum()), codes.shape[1], len(features)
    windows = {}
    pooled = -np.inf
    for level in range(len(price)):
        bins = finest >> level
        binned = codes[list(features)] // (MAX_BINS // bins)
        if bins**size <= POOLED_CELLS:
            pooled = max(pooled, slow_pooled(np.ravel_multi_index(tuple(binned), (bins,) * size), labels))
        for corner in product(range(bins - 1), repeat=size):
            inside = np.all([(line >= at) & (line <= at + 1) for line, at in zip(binned, corner, strict=True)], axis=0)
            n, k = int(inside.sum()), int(labels[inside].sum())
            packed = sum(at << 8 * axis for axis, at in enumerate(corner)) + (level << 24)
            windows[packed] = slow_half_deviance(k, n, counted, total) - price[level]
    return windows, pooled


def slow_pooled(cells: np.ndarray, labels: np.ndarray) -> float:
    n, k = np.bincount(cells), np.bincount(cells, weights=labels)
    n, k = n[n > 0], k[n > 0]
    p = labels.mean()
    chi = np.sum((k - n * p) ** 2 / (n * p * (1 - p)))
    mean, variance = chi_square_moments(len(n), float(np.sum(1 / n)), int(labels.sum()), len(labels))
    ninth = variance / (9 * mean**2)
    return float(((chi / mean) ** (1 / 3) - (1 - ninth)) / np.sqrt(ninth))


@pytest.mark.parametrize(("size", "finest"), [(1, 64), (2, 16), (3, 8)])
def test_scan_agrees_with_one_window_at_a_time(size: int, finest: int) -> None:
    given = arguments(size, finest, floor=-100.0)
    labellings = drawn_lanes(150, 60)
    evidence, window, pooled = scan_sets(*given.values())
    for s, labelling in [(0, 0), (1, 0), (2, 5), (3, 63)]:
        windows, deviate = slow_scan(
            given["codes"], labellings[:, labelling], tuple(given["sets"][s]), finest, given["price"]
        )
        finest_grid = max(value for packed, value in windows.items() if packed >> 24 == 0)
        other_grids = max(value for packed, value in windows.items() if packed >> 24 > 0)
        assert evidence[:, s, labelling] == pytest.approx([finest_grid, other_grids], abs=1e-4)
        assert [windows[int(packed)] for packed in window[:, s, labelling]] == pytest.approx([finest_grid, other_grids])
        assert pooled[s, labelling] == pytest.approx(deviate, abs=1e-4)


@pytest.mark.parametrize(("size", "finest"), [(1, 64), (3, 8)])
def test_a_floor_hides_weak_windows_in_every_lane_but_the_first(size: int, finest: int) -> None:
    everything, *_ = scan_sets(*arguments(size, finest, floor=-100.0).values())
    floor = float(np.median(everything)) + 1e-3  # no window has exactly this evidence
    evidence, window, _ = scan_sets(*arguments(size, finest, floor).values())
    np.testing.assert_array_equal(evidence[..., 0], everything[..., 0])
    np.testing.assert_array_equal(evidence[..., 1:], np.maximum(everything[..., 1:], np.float32(floor)))
    assert ((window[..., 1:] == -1) == (everything[..., 1:] <= np.float32(floor))).all()


def test_no_lane_is_special_without_observed_labels() -> None:
    given = arguments(2, 16, floor=1.0)
    everything, *_ = scan_sets(*arguments(2, 16, floor=-100.0).values())
    evidence, *_ = scan_sets(*{**given, "observed": False}.values())
    np.testing.assert_array_equal(evidence, np.maximum(everything, np.float32(1.0)))


def test_wide_counters_and_one_thread_give_the_same() -> None:
    narrow = scan_sets(*arguments(3, 8, floor=0.0).values())
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        wide = scan_sets(*arguments(3, 8, floor=0.0, counter=np.uint32).values())
    finally:
        numba.set_num_threads(threads)
    for one, other in zip(narrow, wide, strict=True):
        np.testing.assert_array_equal(one, other)


def test_windows_unpack_to_level_and_corner() -> None:
    for corner in permutations((0, 7, 254), 3):
        packed = np.array([corner[0] | corner[1] << 8 | corner[2] << 16 | 5 << 24], dtype=np.int32)
        level, begin = unpack_windows(packed)
        assert level.tolist() == [5]
        assert begin.tolist() == [list(corner)]
