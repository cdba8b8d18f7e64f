from __future__ import annotations

import numpy as np
import pytest

from experiments.benchmark20d import (
    DIMENSION,
    GLOBAL_COMPONENT,
    LOCAL_COMPONENT,
    LOCAL_SCALES,
    MEANS,
    VARIANCES,
    WEIGHTS,
    background,
    global_pair,
    local_cluster,
    local_pair,
    random_rotation,
)

# The supplement's lines, typed again as they stand there.
SUPPLEMENT_MEANS = """
0.0,0.0,0.5,-0.5,0.0,0.3,0.0,0.0,0.2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
2.5,-1.0,-0.5,1.0,0.5,-0.3,0.0,0.2,-0.2,0.0,0.0,0.1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
-2.0,1.5,0.0,0.5,-1.0,0.0,0.3,-0.2,0.0,0.0,0.2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
1.0,2.0,-1.0,-1.0,0.0,0.5,-0.5,0.0,0.0,0.3,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
"""
SUPPLEMENT_VARIANCES = """
1.2,1.0,0.8,0.9,0.7,0.8,1.0,1.0,0.9,1.0,1.0,1.0,1.0,0.8,0.8,0.8,0.9,0.9,0.9,0.9
0.9,1.1,0.7,0.8,0.8,0.7,1.0,0.9,1.0,1.0,1.0,0.9,1.0,0.8,0.8,0.8,1.0,1.0,0.9,0.9
1.0,0.8,1.0,0.9,0.7,1.1,0.8,0.9,1.0,1.0,0.9,1.0,1.0,0.9,0.8,0.8,0.8,0.9,0.9,1.0
1.1,0.9,0.8,1.0,0.8,0.8,0.9,1.0,1.0,0.9,1.0,1.0,0.9,0.8,0.8,0.8,0.9,0.9,1.0,1.0
"""
SIGMAS = 5.0  # allowed deviation of an estimate, in its standard errors


def numbers(text):
    return np.array([[float(word) for word in line.split(",")] for line in text.split()])


def test_the_mixture_is_that_of_the_supplement():
    assert np.array_equal(MEANS, numbers(SUPPLEMENT_MEANS))
    assert np.array_equal(VARIANCES, numbers(SUPPLEMENT_VARIANCES))
    assert WEIGHTS.tolist() == [0.35, 0.30, 0.20, 0.15]
    assert WEIGHTS[GLOBAL_COMPONENT] == 0.30
    assert WEIGHTS[LOCAL_COMPONENT] == 0.35


def test_background_rows_have_the_moments_of_their_component():
    rows, component = background(20_000, np.random.default_rng(0))
    for m in range(4):
        mine = rows[component == m]
        error = np.sqrt(VARIANCES[m] / len(mine))
        assert np.all(np.abs(mine.mean(axis=0) - MEANS[m]) < SIGMAS * error)
        assert np.all(np.abs(mine.var(axis=0) / VARIANCES[m] - 1) < SIGMAS * np.sqrt(2 / len(mine)))
        assert abs(len(mine) / len(rows) - WEIGHTS[m]) < SIGMAS * np.sqrt(WEIGHTS[m] / len(rows))


def test_a_global_pair_displaces_one_component_along_three_coordinates():
    still, moved = global_pair(0.0, seed=3, n=2000), global_pair(0.2, seed=3, n=2000)
    assert still.support == ()
    assert not still.shifted.any()
    assert moved.support == (0, 1, 3)
    assert np.array_equal(still.reference, moved.reference)
    expected = np.zeros((2000, DIMENSION))
    expected[np.ix_(moved.shifted, [0, 1, 3])] = 0.2
    assert np.allclose(moved.current - still.current, expected)
    assert abs(moved.shifted.mean() - 0.30) < SIGMAS * np.sqrt(0.3 / 2000)


def test_a_local_pair_adds_the_cluster_to_the_current_sample_only():
    pair = local_pair(40, seed=3, n=500)
    assert pair.reference.shape == (500, DIMENSION)
    assert pair.current.shape == (540, DIMENSION)
    assert np.flatnonzero(pair.shifted).tolist() == list(range(500, 540))
    assert pair.support == (2, 4, 6, 8, 9)


def test_the_cluster_lies_where_the_supplement_puts_it():
    rows = local_cluster(20_000, np.random.default_rng(0))
    active = [2, 4, 6, 8, 9]
    deviation = np.sqrt(VARIANCES[0])
    standard = (rows - MEANS[0]) / deviation
    anchor = np.array([1.1, -0.4, 0.4, -0.2, 0.3])
    error = 0.11 / np.sqrt(len(rows))
    assert np.all(np.abs(standard[:, active].mean(axis=0) - anchor) < SIGMAS * error)
    axes = np.sqrt(np.linalg.eigvalsh(np.cov(standard[:, active].T)))[::-1]
    assert np.allclose(axes, np.sort(LOCAL_SCALES)[::-1], rtol=0.05)
    assert LOCAL_SCALES.tolist() == [0.11, 0.08, 0.04, 0.04, 0.03]
    inactive = np.setdiff1d(np.arange(DIMENSION), active)
    assert np.allclose(standard[:, inactive].std(axis=0), 0.7, rtol=0.05)


def test_rotations_are_proper():
    turn = random_rotation(5, np.random.default_rng(0))
    assert np.allclose(turn @ turn.T, np.eye(5))
    assert np.linalg.det(turn) == pytest.approx(1.0)
