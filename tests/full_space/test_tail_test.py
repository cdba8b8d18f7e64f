from __future__ import annotations

import numpy as np
import pytest

from shiftscope.full_space.null import ScoreNull, SimulatedNull
from shiftscope.full_space.tail_test import TailTest, tail_test

TABULATED = 0.06  # the exact tail falls in steps, which straight lines between 512 scores cut


def slow_tail(scores, test):
    """Distance and weighted excess, looked for at every observed tail score."""
    tail = [score for score in scores if score >= test.tau]
    distance = excess = 0.0
    for t in tail:
        observed = sum(score >= t for score in tail)
        expected = len(tail) * test.sf(np.array([t]))[0]
        distance = max(distance, (observed - expected) / len(tail))
        excess = max(excess, (observed - expected) / np.sqrt(expected + 1))
    return distance, excess, len(tail), max(tail, default=0.0)


@pytest.mark.parametrize("null", [ScoreNull(30, 0.4), SimulatedNull(30, 0.4, n=4000)])
@pytest.mark.parametrize("stretch", [0.5, 1.0, 1.5])
def test_tail_is_that_of_its_definition(null, stretch):
    test = TailTest(null, 0.9)
    scores = np.round(stretch * SimulatedNull(30, 0.4, n=400, random_state=9).scores, 10)
    found = test.compare(scores)
    distance, excess, count, largest = slow_tail(scores, test)
    assert found.distance == pytest.approx(distance, abs=1e-12)
    assert found.excess == pytest.approx(excess, abs=1e-12)
    assert (found.count, found.largest) == (count, largest)
    assert found.statistics() == (np.sqrt(count) * found.distance, found.excess, count, largest)


def test_an_empty_tail_is_no_excess():
    test = TailTest(ScoreNull(30, 0.5), 0.97)
    assert test.compare(np.zeros(9)).statistics() == (0, 0, 0, 0)
    assert test.formula_p_value(0.0, 0) == 1


def test_zero_is_never_in_the_tail():
    """Next to no own neighbours are expected here, so most null scores are 0: still no evidence."""
    test = TailTest(ScoreNull(5, 0.001), 0.97)
    assert test.compare(np.zeros(9)).count == 0
    assert test.compare(np.array([0.0, 7.0])).count == 1


@pytest.mark.parametrize(("k_max", "p"), [(1, 0.3), (20, 0.5), (100, 0.5), (400, 0.5), (400, 0.1), (200, 0.9)])
def test_the_tabulated_tail_is_close_to_the_exact_one(k_max, p):
    null = ScoreNull(k_max, p)
    test = TailTest(null, 0.97)
    attainable = null.values[(null.values >= test.tau) & (null.values <= null.threshold(1e-10))]
    t = attainable[:: max(1, attainable.size // 500)]
    exact = null.sf(t)
    assert test.sf(t[:1]) == pytest.approx(1.0)
    np.testing.assert_allclose(test.sf(t), exact / exact[0], rtol=0, atol=TABULATED)


def test_formula_is_the_asymptotic_one_sided_law():
    exact, simulated = TailTest(ScoreNull(40, 0.5), 0.97), TailTest(SimulatedNull(40, 0.5, n=10_000), 0.97)
    assert exact.formula_p_value(0.1, 150) == pytest.approx(np.exp(-2 * 150 * 0.1**2))
    size = np.sum(simulated._null.scores >= simulated.tau)
    assert simulated.formula_p_value(0.1, 150) == pytest.approx(np.exp(-2 * 150 * size / (150 + size) * 0.1**2))


def test_a_tail_test_is_made_once_for_a_null():
    null = ScoreNull(30, 0.4)
    assert tail_test(null, 0.9) is tail_test(null, 0.9)
    assert tail_test(null, 0.9).tau < tail_test(null, 0.99).tau
