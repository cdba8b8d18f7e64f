from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from shiftscope.labellings.staged_p_value import StagedPValue, staged_p_value, stages


@pytest.mark.parametrize(
    ("level", "sizes"),
    [
        (0.5, [1]),
        (1 / 20, [19]),
        (1 / 512, [511]),
        (1 / 600, [127, 599]),
        (0.05 / 60 / 2, [127, 2399]),
        (0.01 / 100 / 2, [127, 1023, 19999]),
    ],
)
def test_stages_end_where_the_level_asks(level: float, sizes: list[int]):
    assert stages(level) == sizes


def test_the_smallest_p_value_of_the_last_stage_reaches_its_level():
    levels = [alpha / horizon / 2 for alpha in (0.01, 0.03, 0.05) for horizon in range(1, 200)]
    assert all(1 / (stages(level)[-1] + 1) <= level for level in levels)


def test_stages_stop_when_several_labellings_come_as_far():
    asked: list[int] = []

    def test(size: int) -> float:
        asked.append(size)
        return {127: 4 / 128, 1023: 5 / 1024, 19999: 1 / 20000}[size]

    assert staged_p_value(test, 1 / 20000) == StagedPValue(5 / 1024, 1023)
    assert asked == [127, 1023]


def test_staged_p_values_are_valid_at_every_level():
    """Uniform statistics among permutations: P(p <= u) <= u, and the smallest level is reached."""
    rng = np.random.default_rng(1)
    level, n = 1 / 5000, 20_000
    found = np.empty(n)
    for at in range(n):
        extreme = rng.uniform()  # true p-value
        found[at] = staged_p_value(lambda size, p=extreme: (1 + rng.binomial(size, p)) / (size + 1), level).p_value
    for u in (level, 1 / 1024, 4 / 1024, 4 / 128, 0.05, 0.5):
        assert np.sum(found <= u) <= binom.ppf(0.999, n, u)
    assert found.min() == pytest.approx(level)


def test_the_best_of_all_stages_would_be_no_p_value():
    """Negative control: drawing on until the p-value is small enough rejects too often."""
    rng = np.random.default_rng(2)
    n, level = 20_000, 1 / 128
    smallest = [
        min((1 + rng.binomial(size, p)) / (size + 1) for size in (127, 1023, 8191)) for p in rng.uniform(size=n)
    ]
    assert np.sum(np.array(smallest) <= level) > binom.ppf(0.999, n, level)
