from __future__ import annotations

import numpy as np
from scipy.stats import binom

from experiments.baselines.mmd import gaussian_gram, mmd_p_value, mmd_squared


def test_mmd_against_its_definition():
    rng = np.random.default_rng(0)
    gram = rng.random((9, 9)).astype(np.float32)
    gram = gram + gram.T
    np.fill_diagonal(gram, 0.0)
    label = np.arange(9) < 4
    labellings = np.column_stack([label, rng.permutation(label)])
    expected = []
    for one in labellings.T:
        c, r = np.flatnonzero(one), np.flatnonzero(~one)
        cc = np.mean([gram[i, j] for i in c for j in c if i != j])
        rr = np.mean([gram[i, j] for i in r for j in r if i != j])
        expected.append(cc + rr - 2 * np.mean([gram[i, j] for i in c for j in r]))
    assert np.allclose(mmd_squared(gram, labellings), expected, atol=1e-6)


def test_the_gram_matrix_has_the_median_width():
    rows = np.random.default_rng(0).standard_normal((40, 3))
    distances = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    width = np.median(distances[np.triu_indices(40, 1)])
    expected = np.exp(-(distances**2) / (2 * width**2)) - np.eye(40)
    assert np.allclose(gaussian_gram(rows, np.random.default_rng(0)), expected, atol=1e-6)


def test_the_test_keeps_its_level_and_sees_a_shift():
    p_values = []
    for seed in range(60):
        reference, current = np.random.default_rng(seed).standard_normal((2, 40, 2))
        p_values.append(mmd_p_value(reference, current, seed))
    assert np.sum(np.array(p_values) <= 0.1) <= binom.ppf(0.999, 60, 0.1)
    assert mmd_p_value(reference, current + 1.5, 0) <= 0.01
