from __future__ import annotations

import numpy as np
import pytest

from shiftscope.kernels.knn_blocks import Blocks, Group, build_blocks, take_group
from shiftscope.kernels.knn_candidates import emit, no_candidates, squared_distance, visit, worst_bound
from shiftscope.kernels.knn_estimates import STRIP, TILE, estimate_limit
from shiftscope.kernels.knn_pairs import kth_key, no_spare, select_pairs, sort_pairs, sort_spread, spread_pairs
from shiftscope.kernels.knn_search import block_bounds
from shiftscope.kernels.knn_view import box_distances, list_hits, look, no_view, shift


def taken(blocks: Blocks, places: np.ndarray) -> Group:
    return take_group(blocks.rows[places], blocks.ids[places])


def pairs(size, kind):
    rng = np.random.default_rng(size)
    keys = {
        "random": rng.standard_normal(size),
        "ties": rng.integers(0, 3, size).astype(float),
        "equal": np.zeros(size),
        "sorted": np.arange(size, dtype=float),
        "organ pipe": np.abs(np.arange(size) - size / 2),
        "outlier": np.append(rng.standard_normal(size - 1), 1e9),
        "endless": np.append(rng.standard_normal(size - 1), np.inf),
    }[kind]
    return keys, rng.permutation(size).astype(np.int32)


@pytest.mark.parametrize("kind", ["random", "ties", "equal", "sorted", "organ pipe", "outlier", "endless"])
@pytest.mark.parametrize("size", [1, 2, 16, 17, 100, 3000])
def test_sort_and_select_equal_lexsort(kind, size):
    keys, ids = pairs(size, kind)
    order = np.lexsort((ids, keys))
    expected = list(zip(keys[order], ids[order], strict=True))
    spare = no_spare(size)
    for sort in (sort_pairs, lambda *pairs: sort_spread(*pairs, spare)):
        some_keys, some_ids = keys.copy(), ids.copy()
        sort(some_keys, some_ids, size)
        assert list(zip(some_keys, some_ids, strict=True)) == expected
    for kth in {0, size // 3, size - 1}:
        some_keys, some_ids = keys.copy(), ids.copy()
        select_pairs(some_keys, some_ids, size, kth)
        held = list(zip(some_keys, some_ids, strict=True))
        assert held[kth] == expected[kth]
        assert sorted(held[:kth]) == expected[:kth]
        assert sorted(held) == expected
        spread_pairs(keys, ids, size, spare)
        assert kth_key(spare, kth) == expected[kth][0]
        assert sorted(zip(spare.keys, spare.ids, strict=True)) == expected


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize(("n", "size"), [(1, 32), (64, 32), (1000, 32), (1000, 100)])
def test_blocks_hold_every_point_once_near_its_centre(n, size, offset):
    points = np.random.default_rng(n).standard_normal((n, 6)) + offset
    blocks = build_blocks(points, size)
    np.testing.assert_array_equal(np.sort(blocks.ids), np.arange(n))
    np.testing.assert_array_equal(blocks.ids[blocks.place], np.arange(n))
    np.testing.assert_array_equal(blocks.rows, points[blocks.ids])
    strips = -(-size // STRIP)
    for b in range(len(blocks.low)):
        rows = blocks.rows[b * size : (b + 1) * size]
        np.testing.assert_array_equal(blocks.low[b], rows.min(axis=0))
        np.testing.assert_array_equal(blocks.high[b], rows.max(axis=0))
        assert blocks.first_id[b] == blocks.ids[b * size : (b + 1) * size].min()
        table = np.concatenate(blocks.table[b * strips : (b + 1) * strips], axis=1)
        relative = (rows - blocks.centre[b]) * blocks.scale
        np.testing.assert_allclose(table[:6, : len(rows)].T, relative, rtol=1e-7)
        norms = (relative**2).sum(axis=1)
        np.testing.assert_allclose(table[6, : len(rows)], norms, rtol=1e-6)
        assert np.isnan(table[6, len(rows) :]).all()
        assert blocks.radius[b] == pytest.approx(np.sqrt(norms.max()), rel=1e-6)


def squares(points, query):
    """Squared distances, features in order."""
    total = np.zeros(len(points))
    for f in range(points.shape[1]):
        total += (query[f] - points[:, f]) ** 2
    return total


def test_boxes_are_never_farther_than_a_point():
    points = np.random.default_rng(0).integers(-5, 5, (600, 3)) * 0.1
    blocks = build_blocks(points, 32)
    group = taken(blocks, np.arange(40, 60))
    lower, names = block_bounds(blocks, group)
    np.testing.assert_array_equal(names, blocks.first_id)
    nearest = np.empty(group.columns.shape[1])
    for b, bound in enumerate(lower):
        box_distances(group.columns, blocks.low[b], blocks.high[b], nearest)
        for i, query in enumerate(group.rows):
            distances = squares(blocks.rows[b * 32 : (b + 1) * 32], query)
            assert (bound <= nearest[i]) & (nearest[i] <= distances).all()
        assert (bound < nearest).any() | (bound == nearest).all()


@pytest.mark.parametrize("d", [1, 5, 40, 700])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_estimates_stay_within_their_margin(d, offset):
    rng = np.random.default_rng(d)
    points = rng.standard_normal((230, d)) * 10.0 ** rng.uniform(-3, 3, d) + offset
    blocks = build_blocks(points, 64)
    strips = 64 // STRIP
    group = taken(blocks, np.arange(0, 230, 16))
    view = no_view(*group.columns.shape, strips)
    share = 0.0
    for b in range(len(blocks.low)):
        rows = blocks.rows[b * 64 : (b + 1) * 64]
        shift(group.columns, blocks.centre[b], blocks.scale, blocks.radius[b], view.shifted, view.norm, view.margin)
        view.limit[:] = np.inf
        for i, query in enumerate(group.rows):
            first, j = i // TILE * TILE, i % TILE
            look(blocks.table, b * strips, view.shifted, view.limit, first, view.tile, view.estimates, view.within)
            estimates = view.estimates[:, j].ravel()[: len(rows)] + view.norm[i]
            exact = squares(rows, query) * blocks.scale**2
            share = max(share, np.abs(estimates - exact).max() / view.margin[i])
            found = list_hits(view.within, j, view.hits)
            np.testing.assert_array_equal(view.hits[:found], np.arange(len(rows)))
    assert 0 < share < 1


def test_hits_are_the_estimates_within_the_limit():
    rng = np.random.default_rng(0)
    blocks = build_blocks(rng.standard_normal((200, 7)), 200)
    group = taken(blocks, np.arange(2 * TILE))
    view = no_view(*group.columns.shape, len(blocks.table))
    shift(group.columns, blocks.centre[0], blocks.scale, blocks.radius[0], view.shifted, view.norm, view.margin)
    view.limit[:] = rng.normal(0, 0.1, 2 * TILE)
    view.limit[TILE + 1 : TILE + 3] = np.nan, -np.inf
    for first in (0, TILE):
        look(blocks.table, 0, view.shifted, view.limit, first, view.tile, view.estimates, view.within)
        products = view.shifted[:, first : first + TILE].T @ blocks.table[:, :7] + blocks.table[:, 7:]
        np.testing.assert_allclose(view.estimates, products, rtol=1e-4, atol=1e-6)
        for j in range(TILE):
            found = list_hits(view.within, j, view.hits)
            expected = np.flatnonzero(view.estimates[:, j].ravel() <= view.limit[first + j])
            np.testing.assert_array_equal(view.hits[:found], expected)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_one_squared_distance_is_summed_feature_by_feature(offset):
    points = np.random.default_rng(1).standard_normal((40, 9)) + offset
    for i in range(0, 40, 13):
        found = [squared_distance(points, i, points, j) for j in range(40)]
        assert found == squares(points, points[i]).tolist()


def test_no_estimate_that_may_be_within_the_bound_exceeds_the_limit():
    rng = np.random.default_rng(3)
    for bound, norm in 10.0 ** rng.uniform(-6, 6, (500, 2)):
        margin = 1e-6 * norm
        highest = bound - norm + margin  # of estimates whose squared distance may still be the bound
        limit = estimate_limit(bound, norm, margin)
        assert highest <= limit <= highest + 1e-6 * (bound + norm)


@pytest.mark.parametrize("kind", ["normal", "grid", "duplicates", "far"])
@pytest.mark.parametrize("k", [3, 60])
def test_candidates_of_all_blocks_in_any_order_hold_the_nearest(kind, k):
    """Against all distances, sorted by (distance, position); on the way no bound excludes a neighbour."""
    rng = np.random.default_rng(k)
    points = {
        "normal": rng.standard_normal((400, 4)),
        "grid": rng.integers(0, 4, (400, 3)).astype(float),
        "duplicates": np.repeat(rng.standard_normal((40, 3)), 10, axis=0),
        "far": rng.standard_normal((400, 4)) + 1e8,
    }[kind]
    blocks = build_blocks(points, 64)
    group = taken(blocks, rng.choice(400, 11, replace=False))
    view = no_view(*group.columns.shape, 64 // STRIP)
    candidates = no_candidates(np.full(11, np.inf), k + 1, 64)
    orders = []
    for own in group.own:
        order = np.lexsort((np.arange(400), squares(points, points[own])))
        orders.append(order[order != own])
    for b in rng.permutation(len(blocks.low)):
        visit(candidates, group, blocks, b, view)
        for i, own in enumerate(group.own):
            last = squares(points, points[own])[orders[i][k]]
            assert last <= candidates.bound[i]
    index, tied = np.empty(k, np.int32), np.empty(k, np.bool_)
    for i, own in enumerate(group.own):
        assert emit(candidates, i, group, blocks, index, tied)
        distance = squares(points, points[own])[orders[i]]
        np.testing.assert_array_equal(index, orders[i][:k])
        np.testing.assert_array_equal(tied, distance[:k] == distance[1 : k + 1])
    assert worst_bound(candidates) == max(zip(candidates.bound, candidates.bound_id, strict=True))
