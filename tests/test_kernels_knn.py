from __future__ import annotations

import numpy as np
import pytest

from shiftscope.kernels.knn_blocks import build_blocks
from shiftscope.kernels.knn_candidates import rounding_margin, shift_query
from shiftscope.kernels.knn_fused import block_bounds
from shiftscope.kernels.knn_pairs import select_pairs, sort_pairs


def pairs(size, kind):
    rng = np.random.default_rng(size)
    keys = {
        "random": rng.standard_normal(size),
        "ties": rng.integers(0, 3, size).astype(float),
        "equal": np.zeros(size),
        "sorted": np.arange(size, dtype=float),
        "organ pipe": np.abs(np.arange(size) - size / 2),
    }[kind]
    return keys, rng.permutation(size).astype(np.int32)


@pytest.mark.parametrize("kind", ["random", "ties", "equal", "sorted", "organ pipe"])
@pytest.mark.parametrize("size", [1, 2, 16, 17, 100, 3000])
def test_sort_and_select_equal_lexsort(kind, size):
    keys, ids = pairs(size, kind)
    order = np.lexsort((ids, keys))
    expected = list(zip(keys[order], ids[order], strict=True))
    some_keys, some_ids = keys.copy(), ids.copy()
    sort_pairs(some_keys, some_ids, size)
    assert list(zip(some_keys, some_ids, strict=True)) == expected
    for kth in {0, size // 3, size - 1}:
        some_keys, some_ids = keys.copy(), ids.copy()
        select_pairs(some_keys, some_ids, size, kth)
        held = list(zip(some_keys, some_ids, strict=True))
        assert held[kth] == expected[kth]
        assert sorted(held[:kth]) == expected[:kth]
        assert sorted(held) == expected


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize(("n", "size"), [(1, 32), (64, 32), (1000, 32), (1000, 100)])
def test_blocks_hold_every_point_once_near_its_centre(n, size, offset):
    points = np.random.default_rng(n).standard_normal((n, 6)) + offset
    blocks = build_blocks(points, size)
    np.testing.assert_array_equal(np.sort(blocks.ids), np.arange(n))
    np.testing.assert_array_equal(blocks.ids[blocks.place], np.arange(n))
    np.testing.assert_array_equal(blocks.rows, points[blocks.ids])
    for b in range(len(blocks.table)):
        rows = blocks.rows[b * size : (b + 1) * size]
        np.testing.assert_array_equal(blocks.low[b], rows.min(axis=0))
        np.testing.assert_array_equal(blocks.high[b], rows.max(axis=0))
        assert blocks.first_id[b] == blocks.ids[b * size : (b + 1) * size].min()
        relative = (rows - blocks.centre[b]) * blocks.scale
        np.testing.assert_allclose(blocks.table[b, :6, : len(rows)].T, relative, rtol=1e-7)
        norms = (relative**2).sum(axis=1)
        np.testing.assert_allclose(blocks.table[b, 6, : len(rows)], norms, rtol=1e-6)
        assert blocks.radius[b] == pytest.approx(np.sqrt(norms.max()), rel=1e-6)


def test_block_bounds_never_exceed_a_distance():
    points = np.random.default_rng(0).integers(-5, 5, (600, 3)) * 0.1
    blocks = build_blocks(points, 32)
    members = np.arange(40, 60)
    lower, names = block_bounds(blocks, members)
    np.testing.assert_array_equal(names, blocks.first_id)
    for b, bound in enumerate(lower):
        for member in members:
            squares = np.zeros(len(blocks.rows[b * 32 : (b + 1) * 32]))
            for f in range(3):
                squares += (blocks.rows[member, f] - blocks.rows[b * 32 : (b + 1) * 32, f]) ** 2
            assert (bound <= squares).all()


@pytest.mark.parametrize("d", [1, 5, 40, 700])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_estimates_stay_within_their_margin(d, offset):
    rng = np.random.default_rng(d)
    points = rng.standard_normal((256, d)) * 10.0 ** rng.uniform(-3, 3, d) + offset
    blocks = build_blocks(points, 64)
    shifted = np.ones(d + 1, dtype=np.float32)
    share = 0.0
    for b in range(len(blocks.table)):
        for query in blocks.rows[::16]:
            norm = shift_query(query, blocks.centre[b], blocks.scale, shifted[:d])
            estimates = norm + (shifted @ blocks.table[b]).astype(float)
            exact = ((blocks.rows[b * 64 : (b + 1) * 64] - query) ** 2).sum(axis=1) * blocks.scale**2
            share = max(share, np.abs(estimates - exact).max() / rounding_margin(norm, blocks.radius[b], d))
    assert 0 < share < 1
