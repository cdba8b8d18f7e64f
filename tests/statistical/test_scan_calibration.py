"""The p-value of the scan is exact: under the null it is uniform on 1/(B+1), ..., 1, whatever the data look like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from shiftscope.params import ScanParams
from shiftscope.subspaces.scan import scan_points

PAIRS = 240
ALPHA = 0.1
PARAMS = ScanParams(n_permutations=59, n_seeds=16, beam=4)
CONFIDENCE = 1 - 1e-4

Sampler = Callable[[np.random.Generator, int], np.ndarray]


def gaussian(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_normal((n, 4))


def heavy_tailed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_cauchy((n, 4))


def integers(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.poisson(0.7, (n, 4)).astype(float)


def correlated(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_normal((n, 1)) + 0.05 * rng.standard_normal((n, 5))


def single(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_normal((n, 1))


def p_values(draw: Sampler, n_reference: int, n_current: int, shift: float = 0.0) -> np.ndarray:
    """Whole-scan p-values of many pairs; `shift` moves the first feature of the current sample."""
    found = []
    for seed in range(PAIRS):
        rng = np.random.default_rng(seed)
        points = draw(rng, n_reference + n_current)
        points[n_reference:, 0] += shift
        names = tuple(f"x{feature}" for feature in range(points.shape[1]))
        found.append(scan_points(points, n_reference, names, PARAMS, random_state=seed).p_value)
    return np.array(found)


@pytest.mark.parametrize(
    ("draw", "n_reference", "n_current"),
    [(gaussian, 200, 200), (heavy_tailed, 150, 250), (integers, 200, 200), (correlated, 200, 200), (single, 80, 60),
     (gaussian, 700, 40)],
)  # fmt: skip
def test_identical_samples_are_rejected_at_the_nominal_rate(draw: Sampler, n_reference: int, n_current: int) -> None:
    found = p_values(draw, n_reference, n_current)
    for level in (ALPHA, 0.5):
        low, high = binom.interval(CONFIDENCE, PAIRS, level)
        assert low <= np.sum(found <= level) <= high


def test_shifted_samples_are_rejected_far_more_often() -> None:
    found = p_values(gaussian, 200, 200, shift=0.5)
    assert np.mean(found <= ALPHA) > 0.8
