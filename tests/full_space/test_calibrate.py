from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2

from shiftscope.full_space import calibrate as stage
from shiftscope.full_space.calibrate import calibrate
from shiftscope.full_space.neighbours import neighbours
from shiftscope.full_space.null import ScoreNull, SimulatedNull
from shiftscope.full_space.score import nulls_for, score_graph
from shiftscope.full_space.tail_test import TailTest
from shiftscope.labellings.labellings import random_labels
from shiftscope.labellings.p_values import smallest_p_value

TABULATED = 0.06  # the exact tail falls in steps, which straight lines between 512 scores cut


def graph_of(n_reference=70, n_current=50, k_max=20, seed=0, ties=False):
    points = np.random.default_rng(seed).standard_normal((n_reference + n_current, 2))
    points = np.round(points) if ties else points
    return neighbours(points, k_max), np.arange(len(points)) >= n_reference


def calibrated(graph, is_current, **options):
    scores = score_graph(graph, is_current)
    options = {"q_tail": 0.9, "n_permutations": 39, "random_state": 5} | options
    return calibrate(graph, is_current, np.concatenate([scores.reference, scores.current]), **options)


# --- the tail against its null ----------------------------------------------------------------------------


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


# --- permutations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
def test_permuted_statistics_are_those_of_rescoring_each_labelling(ties):
    graph, is_current = graph_of(ties=ties)
    found = calibrated(graph, is_current)
    nulls = nulls_for(70, 50, 20)
    tests = TailTest(nulls.reference, 0.9), TailTest(nulls.current, 0.9)
    labels = random_labels(is_current, range(39), 5)
    assert np.all(labels.sum(axis=0) == 50)
    for permutation, label in enumerate(labels.T.astype(bool)):
        scores = score_graph(graph, label)
        expected = tests[0].compare(scores.reference), tests[1].compare(scores.current)
        np.testing.assert_array_equal(found.permuted_reference[permutation], expected[0].statistics())
        np.testing.assert_array_equal(found.permuted_current[permutation], expected[1].statistics())
    both = np.hstack([found.permuted_reference, found.permuted_current])
    observed = np.array(found.reference.statistics() + found.current.statistics())
    assert found.p_value == smallest_p_value(observed, both)


def test_every_labelling_is_equally_likely():
    """All 15 choices of 2 rows among 6, by a chi-square with 14 degrees of freedom."""
    labels = random_labels(np.arange(6) >= 4, range(6000), 3)
    assert np.all(labels.sum(axis=0) == 2)
    _, counts = np.unique(labels.T @ (1 << np.arange(6)), return_counts=True)
    assert counts.size == 15
    assert chi2.sf(np.sum((counts - 400) ** 2 / 400), 14) > 1e-4


def test_shape_p_value_counts_labellings_with_as_much_distance_or_excess():
    graph, is_current = graph_of(seed=3)
    found = calibrated(graph, is_current)
    for tail, permuted, current in (
        (found.reference, found.permuted_reference, False),
        (found.current, found.permuted_current, True),
    ):
        as_much = [sum(permuted[:, i] >= tail.statistics()[i]) for i in (0, 1)]
        assert found.shape_p_value(tail, current=current) == (1 + min(as_much)) / 40


def test_batches_threads_and_chunks_do_not_matter(monkeypatch, threads):
    graph, is_current = graph_of()
    whole = calibrated(graph, is_current)
    monkeypatch.setattr(stage, "WALKED_TOGETHER", 5)
    monkeypatch.setattr(stage, "CHUNK_ROWS", 70)
    threads(1)
    parts = calibrated(graph, is_current)
    np.testing.assert_array_equal(whole.permuted_reference, parts.permuted_reference)
    np.testing.assert_array_equal(whole.permuted_current, parts.permuted_current)
    assert whole.p_value == parts.p_value
    fewer = calibrated(graph, is_current, n_permutations=20)
    np.testing.assert_array_equal(whole.permuted_current[:20], fewer.permuted_current)


def test_the_seed_chooses_the_labellings():
    graph, is_current = graph_of()
    same, other = calibrated(graph, is_current), calibrated(graph, is_current, random_state=6)
    np.testing.assert_array_equal(same.permuted_current, calibrated(graph, is_current).permuted_current)
    assert not np.array_equal(same.permuted_current, other.permuted_current)
    assert (same.reference, same.current) == (other.reference, other.current)


def test_progress_ends_at_one():
    graph, is_current = graph_of()
    seen: list[float] = []
    calibrated(graph, is_current, progress=seen.append)
    assert seen[-1] == 1
    assert seen == sorted(seen)


# --- the smallest of several p-values -----------------------------------------------------------------------


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
