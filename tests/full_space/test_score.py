from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from shiftscope.errors import ParameterError
from shiftscope.full_space.score import score
from tests.mixed_frames import frames
from tests.pairs import encode_pair

# --- the public function against brute force --------------------------------------------------------------


def brute_force(reference, current, k_max):
    """Score, scale and neighbour memberships of every pooled row, from all distances."""
    encoded = encode_pair(reference, current)
    points, label = encoded.points, encoded.is_current
    found = []
    for row in range(len(points)):
        squares = np.zeros(len(points))
        for column in points.T:  # in the order of the features, as the engine sums
            squares += (column[row] - column) ** 2
        others = [j for j in np.argsort(squares, kind="stable") if j != row]
        p = np.mean(label == label[row])
        best, best_k = 0.0, 0
        for k in range(1, min(k_max, len(others)) + 1):
            if k < len(others) and squares[others[k]] == squares[others[k - 1]]:
                continue
            evidence = -binom.logsf(np.sum(label[others[:k]] == label[row]) - 1, k, p)
            if evidence > best + 1e-9:
                best, best_k = evidence, k
        found.append((best, best_k))
    values, scales = (np.array(one) for one in zip(*found, strict=True))
    return values, scales, label


@pytest.mark.parametrize(
    ("shape", "values", "k_max"),
    [
        ((40, 60, 3), "normal", 25),
        ((25, 20, 1), "normal", 500),
        ((50, 45, 2), "integer", 20),
        ((30, 30, 12), "integer", 59),
        ((60, 3, 4), "normal", 10),
    ],
)
def test_score_is_that_of_brute_force(shape, values, k_max):
    n_reference, n_current, d = shape
    rng = np.random.default_rng(shape)
    rows = rng.standard_normal((n_reference + n_current, d))
    if values == "integer":
        rows = np.round(rows)
    found = score(rows[:n_reference], rows[n_reference:], k_max)
    expected, scales, label = brute_force(rows[:n_reference], rows[n_reference:], k_max)
    np.testing.assert_allclose(found.reference, expected[~label], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.current, expected[label], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.scale_reference, scales[~label])
    np.testing.assert_array_equal(found.scale_current, scales[label])


def test_duplicates_are_neighbours_and_the_row_itself_is_not():
    reference, current = [[5.0], [6.0], [7.0]], [[0.0], [0.0], [0.0]]
    found = score(np.array(reference), np.array(current), 2)
    np.testing.assert_allclose(found.current, 2 * np.log(2))  # both neighbours, one step: P[B_2 >= 2] = 1/4
    np.testing.assert_array_equal(found.scale_current, 2)


def test_neighbours_at_equal_distance_are_one_step():
    """Around 0: one current and one reference row at distance 1. Their order means nothing, so K = 1 has no score."""
    reference, current = np.array([[-1.0], [9.0], [10.0]]), np.array([[0.0], [1.0], [11.0]])
    found = score(reference, current, 2)
    encoded = encode_pair(reference, current).points[:, 0]
    assert encoded[3] - encoded[0] == encoded[4] - encoded[3]
    assert found.current[0] == pytest.approx(-np.log(0.75))
    assert found.scale_current[0] == 2


def test_a_group_of_ties_beyond_the_last_scale_is_no_step():
    rows = np.vstack([np.zeros((30, 1)), [[1.0]]])
    found = score(rows[:15], rows[15:], 10)
    assert not found.reference.any()
    assert not found.scale_reference.any()


def test_putative_rows_are_those_beyond_the_threshold():
    rng = np.random.default_rng(0)
    reference = rng.standard_normal((300, 2))
    current = np.vstack([rng.standard_normal((300, 2)), 4 + 0.1 * rng.standard_normal((30, 2))])
    found = score(reference, current, 40)
    flagged = found.putative_current(1e-6)
    np.testing.assert_array_equal(flagged, np.flatnonzero(found.nulls.current.sf(found.current) <= 1e-6))
    assert set(range(300, 330)) <= set(flagged)
    assert found.putative_reference(1e-6).size == 0
    assert found.putative_current().size <= flagged.size + 30
    assert found.putative_reference(0.5).size > 0


def test_neighbourhoods_are_cut_to_the_pool():
    rows = np.random.default_rng(1).standard_normal((9, 2))
    assert score(rows[:4], rows[4:], 400).nulls.current.k_max == 8
    assert score(rows[:4], rows[4:], 8).nulls.current.p == 5 / 9


@pytest.mark.parametrize("k_max", [0, -3, 1.5])
def test_an_impossible_k_max_is_named(k_max):
    rows = np.random.default_rng(1).standard_normal((9, 2))
    with pytest.raises(ParameterError, match=r"^k_max must be a whole number of at least 1, got"):
        score(rows[:4], rows[4:], k_max)


def test_rows_in_another_order_have_their_scores_in_that_order():
    reference, current = frames("missing", n=80)
    order = np.random.default_rng(1).permutation(80)
    one, other = score(reference, current, 15), score(reference, current.iloc[order], 15)
    np.testing.assert_array_equal(one.current[order], other.current)
    np.testing.assert_array_equal(one.reference, other.reference)
