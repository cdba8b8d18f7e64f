from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numba import njit
from scipy.stats import binom

from shiftscope.errors import ParameterError
from shiftscope.full_space.null import evidence_table
from shiftscope.full_space.score import nulls_for, score
from shiftscope.kernels.neighbour_counters import ENOUGH, FEW, MOST, PLANES, WORDS, bound_masks, count_and_compare
from shiftscope.kernels.score import (
    compact_lists,
    crossing_masks,
    crossing_probability,
    score_labellings,
    score_lists,
    score_sequences,
)
from tests.pairs import encode_pair

# --- kernels and their slow twins -----------------------------------------------------------------------


def random_lists(rng, n, length, tie_share):
    """A directed graph without meaning: `length` other rows per row, with random groups of ties."""
    index = np.array([rng.permutation(np.delete(np.arange(n), row))[:length] for row in range(n)], dtype=np.int32)
    return index, rng.random((n, length)) < tie_share


def tie_groups(tied):
    """Number of the group of equal distances that each place of one list belongs to."""
    return np.append(0, np.cumsum(~tied[:-1]))


def slow_walk(index, tied, alive, label, own, table):
    """Score, scale and completeness of one list."""
    k_max = len(table) - 1
    group = tie_groups(tied)
    living = [j for j in range(len(index)) if alive[index[j]]]
    best, best_k = 0.0, 0
    for k in range(1, min(k_max, len(living)) + 1):
        last = living[k - 1]
        # The step ends where the next living neighbour is farther; at the end of the list, if its group of ties ends.
        ends = group[living[k]] != group[last] if k < len(living) else not tied[last:].all()
        if ends:
            evidence = table[k, sum(label[index[j]] == own for j in living[:k])]
            if evidence > best:
                best, best_k = evidence, k
    complete = len(living) > k_max or (len(living) == k_max and not tied[living[-1] :].all())
    return best, best_k, complete


@pytest.mark.parametrize("tie_share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("alive_share", [1.0, 0.6, 0.2])
def test_score_lists(tie_share, alive_share):
    rng = np.random.default_rng([int(10 * tie_share), int(10 * alive_share)])
    index, tied = random_lists(rng, 80, 25, tie_share)
    alive, label = rng.random(80) < alive_share, (rng.random(80) < 0.4).astype(np.uint8)
    tables = np.stack([evidence_table(12, 0.6), evidence_table(12, 0.4)])
    rows, lists = rng.permutation(80)[:60], rng.permutation(80)[:60]  # the list of rows[i] has number lists[i]
    scores, scales, complete = np.empty(60), np.empty(60, np.int32), np.empty(60, np.bool_)
    score_lists(rows, lists, index, tied, alive, label, tables, scores, scales, complete)
    expected = [
        slow_walk(index[number], tied[number], alive, label, label[row], tables[label[row]])
        for row, number in zip(rows, lists, strict=True)
    ]
    np.testing.assert_array_equal(scores, [one[0] for one in expected])
    np.testing.assert_array_equal(scales, [one[1] for one in expected])
    np.testing.assert_array_equal(complete, [one[2] for one in expected])


@pytest.mark.parametrize("tie_share", [0.0, 0.5, 1.0])
def test_compact_lists(tie_share):
    rng = np.random.default_rng(5)
    index, tied = random_lists(rng, 90, 40, tie_share)
    alive = rng.random(90) < 0.6
    living = np.flatnonzero(alive)
    position = (np.cumsum(alive) - 1).astype(np.int32)
    found, found_tied = np.empty((living.size, 15), np.int32), np.empty((living.size, 15), np.bool_)
    compact_lists(living, index, tied, alive, position, found, found_tied)
    for i, row in enumerate(living):
        group = tie_groups(tied[row])
        places = [j for j in range(40) if alive[index[row, j]]]
        np.testing.assert_array_equal(living[found[i]], index[row, places[:15]])
        np.testing.assert_array_equal(found_tied[i], [group[a] == group[b] for a, b in pairwise(places[:16])])


@njit
def counted(labels, rows, masks, steps, state):
    for step in range(rows.size):
        count_and_compare(labels, rows[step], masks, steps[step], state)


def test_count_and_compare():
    rng = np.random.default_rng(4)
    labellings = rng.random((30, 64 * WORDS)) < 0.6
    labels = np.packbits(labellings, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    rows = rng.integers(0, 30, 200)
    few, enough = np.array([0, 3, 40, 118]), np.array([MOST + 1, 12, 90, 131])
    steps = rng.integers(0, 4, 200)
    state = np.zeros((PLANES + 2, WORDS), np.uint64)
    counted(labels, rows, bound_masks(few, enough), steps, state)
    counts = np.cumsum(labellings[rows], axis=0)
    expected = np.any(counts < few[steps][:, None], axis=0), np.any(counts >= enough[steps][:, None], axis=0)
    for mark, bits in zip(expected, state[[FEW, ENOUGH]], strict=True):
        np.testing.assert_array_equal(np.unpackbits(bits.view(np.uint8), bitorder="little").astype(bool), mark)
        assert mark.any()
    planes = np.unpackbits(state[:PLANES].view(np.uint8), axis=1, bitorder="little").astype(np.int64)
    np.testing.assert_array_equal(np.left_shift(planes, np.arange(PLANES)[:, None]).sum(axis=0), counts[-1])


@pytest.mark.parametrize("tie_share", [0.0, 0.4])
def test_score_permutations(tie_share):
    rng = np.random.default_rng(11)
    index, tied = random_lists(rng, 120, 20, tie_share)
    labellings = (rng.random((120, 70)) < 0.3).astype(np.uint8)
    nulls = nulls_for(84, 36, 20)
    taus = (nulls.reference.quantile(0.7), nulls.current.quantile(0.7))
    bounds = np.vstack([nulls.reference.bounds(taus[0]), nulls.current.bounds(taus[1])])
    bits = np.zeros((120, WORDS), np.uint64)
    for labelling in range(70):
        bits[:, labelling // 64] |= labellings[:, labelling].astype(np.uint64) << np.uint64(labelling % 64)
    found = np.full((120, 70), -1.0)
    score_labellings(0, index, tied, bits, bounds, crossing_masks(bounds), nulls.tables, found[:50])
    score_labellings(50, index, tied, bits, bounds, crossing_masks(bounds), nulls.tables, found[50:])
    everyone = np.ones(120, bool)
    for row in range(120):
        for labelling in range(70):
            label, own = labellings[:, labelling], labellings[row, labelling]
            expected, _, _ = slow_walk(index[row], tied[row], everyone, label, own, nulls.tables[own])
            assert found[row, labelling] == (expected if expected >= taus[own] else 0.0)
    assert 0.05 < np.mean(found > 0) < 0.6


def test_crossing_probability():
    """Any bounds, also falling ones, against all sequences of ten trials."""
    rng = np.random.default_rng(2)
    sequences = (np.arange(2**10)[:, None] >> np.arange(10)) & 1
    counts = np.cumsum(sequences, axis=1)
    bounds = rng.integers(1, 12, (50, 11))
    found = np.empty(50)
    crossing_probability(bounds, 0.35, found)
    weights = 0.35 ** counts[:, -1] * 0.65 ** (10 - counts[:, -1])
    expected = [weights[(counts >= bound[1:]).any(axis=1)].sum() for bound in bounds]
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_score_sequences():
    memberships = np.random.default_rng(4).random((40, 15)) < 0.6
    table = evidence_table(15, 0.5)
    found = np.empty(40)
    score_sequences(memberships, table, found)
    expected = [max(table[k, sum(one[:k])] for k in range(16)) for one in memberships]
    np.testing.assert_array_equal(found, expected)


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
