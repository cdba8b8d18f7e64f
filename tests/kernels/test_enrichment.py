from __future__ import annotations

import numpy as np
import pytest

from shiftscope.kernels.enrichment import batch_distances, nested_neighbours, weighted_spread
from tests.kernels.twins import slow_neighbours


def test_distances_equal_the_slow_twin_in_single_precision():
    scaled = np.random.default_rng(0).standard_normal((8, 600)).astype(np.float32)
    slow = np.array([((scaled[:, [i]] - scaled) ** 2).sum(axis=0) for i in range(5)])
    slow[np.arange(5), np.arange(5)] = np.inf
    np.testing.assert_allclose(batch_distances(scaled, 5), slow, rtol=1e-5)


def test_spread_equals_the_slow_twin():
    rng = np.random.default_rng(5)
    rows, weight = rng.standard_normal((30, 5)), rng.standard_normal((4, 9))
    chosen = rng.integers(0, 30, (4, 9))
    slow = np.zeros(5)
    for i in range(4):
        for j, w in zip(chosen[i], weight[i], strict=True):
            slow += w * (rows[i] - rows[j]) ** 2
    np.testing.assert_allclose(weighted_spread(rows, chosen, weight), slow, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 7, 40])
def test_neighbours_equal_the_slow_twin_ties_included(k):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 4, (5, 60)).astype(np.float32)  # few values: many ties, exact sums
    fold = (np.arange(60) % 4).astype(np.int8)
    queries, sizes = np.array([0, 17, 59]), np.array([1, 2, 4, 5])
    fast = nested_neighbours(columns, queries, fold, sizes, k)
    np.testing.assert_array_equal(fast, slow_neighbours(columns, queries, fold, sizes, k))


def test_a_leak_would_be_seen_as_enrichment():
    # Every query has one twin, a query and target in the same fold, on a background without targets.
    # Outside the fold there is no target close by, so purity must be zero.
    rng = np.random.default_rng(2)
    pool = rng.standard_normal((200, 1)).astype(np.float32)
    queries = np.array([0, 1])
    fold = np.ones(200, np.int8)
    fold[queries] = 0
    pool[queries] = 50.0
    target = np.isin(np.arange(200), queries)
    found = nested_neighbours(np.ascontiguousarray(pool.T), queries, fold, np.array([1]), 3)
    assert not target[found].any()
