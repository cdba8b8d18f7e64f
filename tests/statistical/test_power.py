"""What is there is found: known truth, with the tolerance of a binomial interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from experiments.benchmark20d import LOCAL_SUPPORT, local_pair
from experiments.calibration.tail_tests import p_values
from shiftscope.full_space.equalise import equalise
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams

PARAMS = CompareParams(
    alpha=0.05,
    n_permutations=99,
    scan=None,
    max_modes=1,  # what follows a rejection is not looked at
    max_iterations=1,
    equalise=EqualiseParams(k_max=50),
    localise=LocaliseParams(epochs=1),
)
PAIRS = 30


def verdicts(injected, swap=False, n=200):
    """p-values of normal pairs in the plane, with a compact cluster of `injected` rows in one sample."""
    found = []
    for seed in range(PAIRS):
        rng = np.random.default_rng([seed, injected])
        cluster = 1 + 0.1 * rng.standard_normal((injected, 2))
        pair = rng.standard_normal((n, 2)), np.vstack([rng.standard_normal((n, 2)), cluster])
        found.append(p_values(*(pair[::-1] if swap else pair), seed, PARAMS)["verdict"])
    return np.array(found)


@pytest.mark.parametrize("swap", [False, True])
def test_a_compact_tenth_is_nearly_always_detected(swap):
    assert np.sum(verdicts(22, swap) <= 0.05) >= binom.ppf(0.001, PAIRS, 0.9)


def test_evidence_grows_with_the_excess():
    none, some, many = (np.median(verdicts(injected)) for injected in (0, 14, 30))
    assert none > 0.25 > some > many
    assert many == 0.01  # the smallest p-value of 99 permutations


def test_equalisation_removes_as_much_as_was_injected_in_the_true_coordinates():
    """The paper's localised benchmark in small, seen in its five supporting coordinates."""
    injected, n = 150, 3000
    pair = local_pair(injected, seed=1, n=n)
    columns = list(LOCAL_SUPPORT)
    params = EqualiseParams(n_permutations=99, step=3)
    result = equalise(pair.reference[:, columns], pair.current[:, columns], 100, params=params)
    assert 0.8 < result.removed_current.size / injected < 1.2
    assert np.mean(pair.shifted[result.removed_current]) > 0.9
    assert result.removed_reference.size < 0.1 * injected
