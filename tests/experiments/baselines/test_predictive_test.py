from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, mannwhitneyu, norm

from experiments.baselines.predictive_test import FOLDS, assign_folds, forward_p_value, out_of_fold, rank_z, strongest


def mean_difference(rows, label):
    """A linear score: the direction between the sample means."""
    weights = rows[label].mean(axis=0) - rows[~label].mean(axis=0)
    return lambda part: part @ weights


def test_the_forward_test_keeps_its_level_and_the_sum_over_folds_does_not():
    pairs, level = 400, 0.05
    label = np.arange(120) >= 60
    p_values, sums = [], []
    for seed in range(pairs):
        rows = np.random.default_rng([seed, 1]).standard_normal((120, 20))
        folds = assign_folds(label, seed)
        p_values.append(forward_p_value(mean_difference, rows, label, folds, seed))
        scores = out_of_fold(mean_difference, rows, label, folds)
        sums.append(sum(rank_z(scores[folds == f], label[folds == f]) for f in range(FOLDS)) / np.sqrt(FOLDS))
    assert np.sum(np.array(p_values) <= level) <= binom.ppf(0.999, pairs, level)
    assert np.var(sums) > 1.4  # the negative control: about 2, where independent folds would give 1


def test_the_forward_test_sees_a_shift():
    rng = np.random.default_rng(0)
    label = np.arange(400) >= 200
    rows = rng.standard_normal((400, 3)) + 0.6 * label[:, None]
    assert forward_p_value(mean_difference, rows, label, assign_folds(label, 0), 0) < 0.001


def test_folds_are_even_in_both_samples():
    label = np.arange(57) >= 23
    folds = assign_folds(label, 4)
    for part in (folds[label], folds[~label]):
        sizes = np.bincount(part, minlength=FOLDS)
        assert sizes.max() - sizes.min() <= 1


def test_rank_sums_against_scipy():
    rng = np.random.default_rng(2)
    scores, label = rng.integers(0, 8, 90).astype(float), rng.random(90) < 0.4
    expected = mannwhitneyu(
        scores[label], scores[~label], alternative="greater", method="asymptotic", use_continuity=False
    )

    assert norm.sf(rank_z(scores, label)) == pytest.approx(expected.pvalue)
    assert rank_z(np.ones(10), np.arange(10) < 5) == 0.0


def test_ties_are_broken_at_random():
    order = strongest(np.array([1.0, 1, 1, 1, 2]), np.random.default_rng(0))
    assert order[0] == 4
    firsts = {int(strongest(np.ones(4), np.random.default_rng(seed))[0]) for seed in range(40)}
    assert firsts == {0, 1, 2, 3}
