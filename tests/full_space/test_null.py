from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from shiftscope.errors import ParameterError
from shiftscope.full_space.null import ScoreNull, SimulatedNull, evidence_table

EXACT = 1e-9


def enumerated(k_max, p):
    """Distinct scores and P(S >= score), from all 2^k_max membership sequences."""
    sequences = (np.arange(2**k_max)[:, None] >> np.arange(k_max)) & 1
    counts = np.cumsum(sequences, axis=1)
    scores = np.max(-binom.logsf(counts - 1, np.arange(1, k_max + 1), p), axis=1)
    weights = p ** counts[:, -1] * (1 - p) ** (k_max - counts[:, -1])
    scores, where = np.unique(np.round(scores, 10), return_inverse=True)
    mass = np.bincount(where, weights)
    return scores, np.cumsum(mass[::-1])[::-1]


@pytest.mark.parametrize("p", [0.02, 0.25, 0.3, 0.5, 2 / 3, 0.97])
@pytest.mark.parametrize("k_max", [1, 2, 5, 9, 14])
def test_survival_function_is_that_of_full_enumeration(k_max, p):
    scores, survival = enumerated(k_max, p)
    null = ScoreNull(k_max, p)
    np.testing.assert_allclose(null.sf(scores), survival, rtol=0, atol=EXACT)
    between = (scores[1:] + scores[:-1]) / 2
    np.testing.assert_allclose(null.sf(between), survival[1:], rtol=0, atol=EXACT)
    np.testing.assert_allclose(null.cdf(scores), 1 - np.append(survival[1:], 0), rtol=0, atol=EXACT)
    assert np.all(np.isin(np.round(scores, 9), np.round(null.values, 9)))


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_survival_function_agrees_with_simulation(p):
    null, simulated = ScoreNull(60, p), SimulatedNull(60, p, n=50_000, random_state=3)
    for level in (0.5, 0.1, 0.03, 1e-3):
        t = null.quantile(1 - level)
        low, high = binom.interval(1 - 1e-4, 50_000, float(null.sf(t)))
        assert low <= np.sum(simulated.scores >= t) <= high
        assert simulated.sf(t) == pytest.approx(np.mean(simulated.scores >= t))


@pytest.mark.parametrize(("k_max", "p"), [(1, 0.5), (12, 0.5), (60, 0.1), (60, 0.9), (400, 0.5)])
@pytest.mark.parametrize("level", [0.3, 0.03, 1e-5, 1e-12])
def test_threshold_and_quantile_are_the_smallest_attainable_scores(k_max, p, level):
    null = ScoreNull(k_max, p)
    t = null.threshold(level)
    if np.isinf(t):
        assert float(null.sf(null.values[-1])) > level
    else:
        assert t in null.values
        assert float(null.sf(t)) <= level
        assert float(null.sf(null.values[null.values < t][-1])) > level
    q = null.quantile(1 - level)
    assert q in null.values
    assert float(null.cdf(q)) >= 1 - level
    assert q == 0 or float(null.cdf(null.values[null.values < q][-1])) < 1 - level


@pytest.mark.parametrize("p", [1e-6, 0.3, 1 - 1e-6])
def test_survival_function_falls_from_one_to_zero(p):
    null = ScoreNull(100, p)
    t = np.linspace(-1, null.values[-1] * 1.01, 400)
    survival = null.sf(t)
    assert np.all(survival[t <= 0] == 1)
    assert np.all(np.diff(survival) <= 0)
    assert survival[-1] == 0
    assert float(null.sf(null.values[-1])) == pytest.approx(np.exp(-null.values[-1]), rel=1e-6)


def test_equal_evidence_at_different_scales_is_one_score():
    """P[B_1 >= 1] = P[B_3 >= 2] = P[B_5 >= 3] = 1/2: rounding must not make three scores of it."""
    null = ScoreNull(5, 0.5)
    assert np.sum(np.isclose(null.values, np.log(2), atol=1e-8)) == 1
    assert null.sf(np.log(2)) == null.sf(np.nextafter(np.log(2), 0)) == null.sf(np.nextafter(np.log(2), 1))


def test_one_neighbour_has_a_closed_form():
    null = ScoreNull(1, 0.3)
    np.testing.assert_allclose(null.sf([0, 0.1, -np.log(0.3), 1.3]), [1, 0.3, 0.3, 0])


def test_long_lists_stay_finite():
    null = ScoreNull(2000, 0.4)
    possible = np.tri(2001, dtype=bool)
    assert np.all(np.isfinite(null.table[possible]))
    assert np.all(np.isinf(null.table[~possible]))
    assert null.table[2000, 2000] == pytest.approx(-2000 * np.log(0.4), rel=1e-12)
    assert 0 < float(null.sf(30.0)) < float(null.sf(6.0)) < 1


@pytest.mark.parametrize("p", [0.001, 0.5, 0.93])
def test_evidence_is_the_binomial_tail(p):
    k, b = np.tril_indices(301)
    with np.errstate(divide="ignore"):
        expected = -binom.logsf(b - 1, k, p)
    finite = expected < 600  # beyond, SciPy's tails lose digits to underflow, then become 0
    np.testing.assert_allclose(evidence_table(300, p)[k, b][finite], expected[finite], rtol=1e-9, atol=1e-9)
    assert np.all(np.diff(evidence_table(300, p)[300]) >= 0)


def test_simulation_is_seeded_and_its_thresholds_attained():
    null = SimulatedNull(30, 0.5, n=3000, random_state=7)
    assert null.size == 3000
    np.testing.assert_array_equal(null.scores, SimulatedNull(30, 0.5, n=3000, random_state=7).scores)
    assert not np.array_equal(null.scores, SimulatedNull(30, 0.5, n=3000, random_state=8).scores)
    t = null.threshold(0.01)
    assert np.mean(null.scores >= t) <= 0.01 < np.mean(null.scores >= null.scores[null.scores < t].max())
    q = null.quantile(0.97)
    assert np.mean(null.scores <= q) >= 0.97 > np.mean(null.scores < q)
    assert null.threshold(1e-9) == np.inf


@pytest.mark.parametrize("kind", [ScoreNull, SimulatedNull])
@pytest.mark.parametrize(
    ("k_max", "p", "named"), [(0, 0.5, "k_max"), (2.5, 0.5, "k_max"), (9, 0.0, "p"), (9, 1.0, "p")]
)
def test_impossible_parameters_are_named(kind, k_max, p, named):
    with pytest.raises(ParameterError, match=rf"^{named} must"):
        kind(k_max, p)


def test_impossible_levels_are_named():
    with pytest.raises(ParameterError, match=r"^p_ext must lie strictly between 0 and 1, got 0"):
        ScoreNull(5, 0.5).threshold(0)
    with pytest.raises(ParameterError, match=r"^q must lie strictly between 0 and 1, got 1\.5"):
        ScoreNull(5, 0.5).quantile(1.5)
    with pytest.raises(ParameterError, match=r"^n must be a whole number of at least 1, got 0"):
        SimulatedNull(5, 0.5, n=0)
    with pytest.raises(ParameterError, match=r"^n must be a whole number of at least 1, got 'x'"):
        SimulatedNull(5, 0.5, n="x")
    with pytest.raises(ParameterError, match=r"^random_state must be a whole number"):
        SimulatedNull(5, 0.5, random_state=None)
