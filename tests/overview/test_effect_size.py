"""Distances against scipy and by hand, and whether their intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, wasserstein_distance

from shiftscope.overview.effect_size import CELLS, Effect, Errors, level_effect, number_effect


@pytest.mark.parametrize("seed", range(5))
def test_distance_of_numbers_is_wassersteins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=80).round(1), rng.standard_t(3, size=133).round(1)
    found = number_effect(first, second, 2.5, Errors.drawn(seed))
    assert found.size == pytest.approx(wasserstein_distance(first, second) / 2.5)
    assert found.low <= found.size <= found.high


ERRORS = Errors.drawn(0)


def test_distance_of_levels_is_half_the_sum_of_differences() -> None:
    first, second = np.array([10, 0, 30]), np.array([10, 20, 10])
    expected = 0.5 * (abs(10 / 40 - 10 / 40) + 20 / 40 + abs(30 / 40 - 10 / 40))
    assert level_effect(first, second, ERRORS).size == pytest.approx(expected)


def test_a_sample_without_values_has_no_distance() -> None:
    found = number_effect(np.empty(0), np.arange(3.0), 1.0, ERRORS)
    assert np.isnan([found.size, found.low, found.high]).all()


def _covered(true: float, draw: object, n_sets: int = 200) -> int:
    found: list[Effect] = [draw(np.random.default_rng([7, at])) for at in range(n_sets)]  # type: ignore[operator]
    return sum(one.low <= true <= one.high for one in found)


@pytest.mark.parametrize("move", [0.0, 0.1, 0.7])
def test_intervals_of_moved_numbers_cover(move: float) -> None:
    def draw(rng: np.random.Generator) -> Effect:
        return number_effect(rng.normal(size=60), rng.normal(move, size=140), 1.0, ERRORS)

    assert _covered(move, draw) >= 184  # 95 % of 200, less two standard errors


def test_intervals_of_widened_numbers_cover() -> None:
    true = 0.5 * 2 * norm.expect(lambda x: x, lb=0)  # quantiles differ by half of |x|

    def draw(rng: np.random.Generator) -> Effect:
        return number_effect(rng.normal(size=100), 1.5 * rng.normal(size=80), 1.0, ERRORS)

    assert _covered(true, draw) >= 184


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.2, 0.3, 0.5)])
def test_intervals_of_levels_cover(shares: tuple[float, ...]) -> None:
    usual = np.array([0.5, 0.3, 0.2])
    true = 0.5 * float(np.abs(usual - np.array(shares)).sum())

    def draw(rng: np.random.Generator) -> Effect:
        return level_effect(rng.multinomial(90, usual), rng.multinomial(120, shares), ERRORS)

    assert _covered(true, draw) >= 184


def test_intervals_shrink_with_rows() -> None:
    rng = np.random.default_rng(3)
    small, large = (number_effect(rng.normal(size=n), rng.normal(0.3, size=n), 1.0, ERRORS) for n in (100, 10_000))
    assert large.high - large.low < 0.2 * (small.high - small.low)


def test_errors_are_those_of_counted_shares() -> None:
    reference, current, rng = np.array([30, 60, 10]), np.array([5, 5, 40]), np.random.default_rng(1)
    found = Errors(*rng.standard_normal((2, 20_000, CELLS))).of(reference, current)
    drawn = rng.multinomial(100, reference / 100, 20_000) / 100 - rng.multinomial(50, current / 50, 20_000) / 50
    assert np.cov(found.T) == pytest.approx(np.cov(drawn.T), abs=3e-4)
    assert found.sum(axis=1) == pytest.approx(0.0, abs=1e-12)


def test_intervals_of_very_many_levels_cover() -> None:
    shares = np.full(2 * CELLS, 0.5 / CELLS)

    def draw(rng: np.random.Generator) -> Effect:
        return level_effect(rng.multinomial(3_000, shares), rng.multinomial(4_000, shares), ERRORS)

    assert _covered(0.0, draw) >= 184
