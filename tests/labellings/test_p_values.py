from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from shiftscope.labellings.p_values import critical_value, p_values, smallest_p_value, upper_rank
from tests.labellings.twins import slow_smallest_p_value

# --- one statistic


def test_p_values_count_the_permutations_that_reach_a_value() -> None:
    null = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(p_values(np.array([0.0, 2.0, 2.5, 9.0]), null), [1.0, 0.75, 0.5, 0.25])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.lists(st.integers(-1, 6), min_size=1, max_size=5))
def test_p_values_and_ranks_against_a_count(null, values):
    law, asked = np.array(null, dtype=float), np.array(values, dtype=float)
    expected = [(1 + sum(one >= value for one in null)) / (1 + len(null)) for value in values]
    np.testing.assert_allclose(p_values(asked, law), expected, rtol=1e-15)
    np.testing.assert_allclose(upper_rank(law), [sum(v >= one for v in null) / len(null) for one in null])


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), st.sampled_from([0.01, 0.05, 0.1, 1 / 3, 0.5, 0.99]))
def test_just_the_values_beyond_the_critical_one_reach_the_level(null, level):
    law = np.array(null, dtype=float)
    beyond = critical_value(law, level)
    for value in (-1.0, *np.unique(law), *(np.unique(law) + 0.5)):
        assert (value > beyond) == (p_values(np.array([value]), law)[0] <= level + 1e-9)


def test_a_level_out_of_reach_has_an_infinite_critical_value():
    null = np.arange(19.0)
    assert critical_value(null, 0.0499) == np.inf
    assert critical_value(null, 0.05) == 18.0  # one labelling of twenty: the observed one alone
    assert critical_value(null, 0.15) == 16.0
    assert critical_value(null, 1.0) == -np.inf


# --- the smallest of several


@pytest.mark.parametrize("ties", [False, True])
def test_the_smallest_p_value_is_its_twin(ties):
    rng = np.random.default_rng(3)
    for _ in range(40):
        statistics = rng.standard_normal((12, 3)) * [1.0, 10.0, 0.0 if ties else 5.0]
        statistics = np.round(statistics) if ties else statistics
        assert smallest_p_value(*split(statistics)) == pytest.approx(slow_smallest_p_value(*split(statistics)))


def simulated_p_values(draw, trials=2000, permutations=19):
    rng = np.random.default_rng(12)
    return np.array([smallest_p_value(*split(draw(rng, permutations + 1))) for _ in range(trials)])


def split(statistics):
    return statistics[0], statistics[1:]


def correlated(rng, size):
    common = rng.standard_normal((size, 1))
    return common + rng.standard_normal((size, 4))


@pytest.mark.parametrize("level", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("draw", [lambda rng, size: rng.standard_normal((size, 1)), correlated])
def test_the_smallest_p_value_is_uniform_for_exchangeable_statistics(draw, level):
    low, high = binom.interval(0.999, 2000, level)
    assert low <= np.sum(simulated_p_values(draw) <= level + 1e-12) <= high


@pytest.mark.parametrize("level", [0.05, 0.1, 0.5])
def test_ties_make_it_conservative(level):
    found = simulated_p_values(lambda rng, size: rng.poisson(0.7, (size, 3)).astype(float))
    assert np.sum(found <= level + 1e-12) <= binom.ppf(0.999, 2000, level)
    assert smallest_p_value(np.ones(3), np.ones((19, 3))) == 1


def test_separate_tests_without_the_correction_reject_too_often():
    """Negative control: the plain minimum of four p-values is not a p-value."""
    rng = np.random.default_rng(12)
    statistics = rng.standard_normal((2000, 20, 4))
    plain = np.min(np.mean(statistics >= statistics[:, :1], axis=1), axis=1)
    assert np.sum(plain <= 0.05) > binom.ppf(0.999, 2000, 0.05)


def test_data_that_lead_one_side_only_reach_the_smallest_p_value():
    """On the other side four different labellings lead a statistic each; they must not be ranked level."""
    rng = np.random.default_rng(1)
    permuted = rng.standard_normal((99, 8))
    observed = np.array([9.0, 9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 0.0])
    assert smallest_p_value(observed, permuted) == 0.01
