from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shiftscope.full_space.null import evidence_table
from shiftscope.full_space.score import nulls_for
from shiftscope.kernels.neighbour_counters import WORDS
from shiftscope.kernels.score_walk import (
    compact_lists,
    crossing_masks,
    crossing_probability,
    score_labellings,
    score_lists,
    score_sequences,
)


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
