"""The verdict keeps its level: the study of experiments/calibration/tail_tests.py in small."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from experiments.calibration.tail_tests import null_pair, p_values
from shiftscope.full_space.score import score
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams

PAIRS, N, D, K_MAX = 60, 300, 5, 100
PARAMS = CompareParams(
    alpha=0.05,
    n_permutations=99,
    scan=None,
    max_modes=1,  # what follows a rejection is not looked at
    max_iterations=1,
    equalise=EqualiseParams(k_max=K_MAX),
    localise=LocaliseParams(epochs=1),
)
CERTAINTY = 0.999


@pytest.fixture(scope="module")
def null_results():
    return [p_values(*null_pair(N, D, seed), seed, PARAMS) for seed in range(PAIRS)]


@pytest.mark.parametrize("level", [0.05, 0.2, 0.5])
def test_the_verdict_rejects_equal_samples_as_often_as_it_says(null_results, level):
    low, high = binom.interval(CERTAINTY, PAIRS, level)
    assert low <= sum(one["verdict"] <= level for one in null_results) <= high


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_equalisation_starts_no_more_often_than_twice_its_level(null_results, level):
    """A side is pruned if one of two statistics rejects at `level`."""
    started = sum(p <= level for one in null_results for p in one["shape"])
    assert started <= binom.ppf(CERTAINTY, 2 * PAIRS, 2 * level)


def test_scores_taken_as_independent_reject_far_too_often():
    """Negative control: the number of tail scores, were they independent, would be binomial."""
    rejected = 0
    for seed in range(PAIRS):
        found = score(*null_pair(N, D, seed), K_MAX)
        for scores, null in ((found.reference, found.nulls.reference), (found.current, found.nulls.current)):
            tau = null.quantile(0.97)
            rejected += binom.sf(np.sum(scores >= tau) - 1, N, float(null.sf(tau))) <= 0.01
    assert rejected > binom.ppf(CERTAINTY, 2 * PAIRS, 0.01)


def test_a_real_shift_is_rejected():
    """Negative control: half a standard deviation in each feature."""
    pairs = [null_pair(N, D, seed) for seed in range(5)]
    found = [p_values(reference, current + 0.5, params=PARAMS) for reference, current in pairs]
    assert all(one["verdict"] <= 0.05 for one in found)
