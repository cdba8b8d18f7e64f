"""Search by blocks: distances and selection in one pass, nearest blocks first, no distance matrix.

Queries of the same block form a group. The blocks are visited from the nearest to the farthest; a block that
lies beyond the current bound of a query is skipped, and the search of a group ends when all remaining blocks lie
beyond the bounds of all its queries. In few dimensions this is a tree search, in many a fused full pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shiftscope.kernels.knn_blocks import Blocks, block_range
from shiftscope.kernels.knn_candidates import (
    Candidates,
    capacity,
    emit,
    estimate_limit,
    hold,
    hold_exact,
    no_candidates,
    prune,
    rounding_margin,
    shift_query,
    worst_bound,
)
from shiftscope.kernels.knn_pairs import before, select_pairs, sort_pairs


@njit(nogil=True, cache=True)
def search_groups(
    blocks: Blocks,
    places: NDArray[np.int64],
    groups: NDArray[np.int64],
    first: int,
    last: int,
    slots: NDArray[np.int64],
    index: NDArray[np.int32],
    tied: NDArray[np.bool_],
) -> None:
    """Search for the queries of groups `first` to `last` (exclusive).

    Parameters
    ----------
    blocks : Blocks
    places : (m,) int64
        Queries as positions in `blocks.rows`, in the order of the groups.
    groups : (g + 1,) int64
        Group i holds `places[groups[i]:groups[i + 1]]`.
    first, last : int
    slots : (m,) int64
        Row of the output for each query.
    index : (m, k) int32, tied : (m, k) bool
        Output (see `Neighbours`).
    """
    n, d = blocks.rows.shape
    wanted = min(index.shape[1] + 1, n - 1)
    room = capacity(wanted, blocks.table.shape[2])
    shifted = np.empty(d, np.float32)
    estimates = np.empty(blocks.table.shape[2], np.float32)
    for g in range(first, last):
        members = places[groups[g] : groups[g + 1]]
        candidates = no_candidates(len(members), wanted, room)
        _search(blocks, members, candidates, shifted, estimates)
        for i in range(len(members)):
            slot = slots[groups[g] + i]
            emit(candidates, i, blocks, members[i], index[slot], tied[slot])


@njit(nogil=True, cache=True)
def _search(blocks: Blocks, members: Any, candidates: Candidates, shifted: Any, estimates: Any) -> None:
    """Visit the nearest blocks first, then those that are left within the bounds they gave."""
    lower, names = block_bounds(blocks, members)
    near = min(len(lower), candidates.keys.shape[1] // blocks.table.shape[2] + 2)
    if near < len(lower):
        select_pairs(lower, names, len(lower), near)
    sort_pairs(lower, names, near)
    for b in range(near):
        _visit(blocks, block_of(blocks, names[b]), members, candidates, shifted, estimates)
    kept = keep_within(lower[near:], names[near:], candidates)
    sort_pairs(lower[near:], names[near:], kept)
    for b in range(near, near + kept):
        key, name = worst_bound(candidates)
        if before(key, name, lower[b], names[b]):
            break
        _visit(blocks, block_of(blocks, names[b]), members, candidates, shifted, estimates)


@njit(nogil=True, cache=True)
def block_bounds(blocks: Blocks, members: Any) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """What each block can offer at best to a group of queries.

    Returns
    -------
    (l,) float64 : squared distance between the box of the queries and the box of the block. Rounding is
        monotonous and the features are summed in the same order, so it never exceeds an exact distance.
    (l,) int32 : the least position in the block, which also names it.
    """
    count, d = blocks.low.shape
    low, high = blocks.rows[members[0]].copy(), blocks.rows[members[0]].copy()
    for i in range(1, len(members)):
        for f in range(d):
            low[f] = min(low[f], blocks.rows[members[i], f])
            high[f] = max(high[f], blocks.rows[members[i], f])
    lower = np.empty(count)
    for b in range(count):
        lower[b] = _box_distance(low, high, blocks.low[b], blocks.high[b])
    return lower, blocks.first_id.copy()


@njit(nogil=True, cache=True)
def _box_distance(low_a: Any, high_a: Any, low_b: Any, high_b: Any) -> float:
    total = 0.0
    for f in range(len(low_a)):
        gap = max(low_b[f] - high_a[f], low_a[f] - high_b[f], 0.0)
        total += gap * gap
    return total


@njit(nogil=True, cache=True)
def block_of(blocks: Blocks, name: int) -> int:
    """The block that holds the point at position `name` of the caller's table."""
    size: int = blocks.table.shape[2]
    return int(blocks.place[name]) // size


@njit(nogil=True, cache=True)
def keep_within(lower: Any, names: Any, candidates: Candidates) -> int:
    """Move the blocks that may still offer something to the front and count them."""
    key, name = worst_bound(candidates)
    kept = 0
    for b in range(len(lower)):
        if not before(key, name, lower[b], names[b]):
            lower[kept], names[kept] = lower[b], names[b]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def _visit(blocks: Blocks, b: int, members: Any, candidates: Candidates, shifted: Any, estimates: Any) -> None:
    """Offer the points of block `b` to each query of the group."""
    start, stop = block_range(blocks, b)
    # plain arrays, taken out once: handing the tuples on costs more than the work done on a block
    rows, ids, table = blocks.rows, blocks.ids[start:stop], blocks.table[b]
    low, high, centre, scale = blocks.low[b], blocks.high[b], blocks.centre[b], blocks.scale
    keys, names, held, exact = candidates.keys, candidates.ids, candidates.held, candidates.exact
    bound, bound_id, margins = candidates.bound, candidates.bound_id, candidates.margin
    unit = 1.0 / scale**2
    for i in range(len(members)):
        query = rows[members[i]]
        if before(bound[i], bound_id[i], _box_distance(query, query, low, high), blocks.first_id[b]):
            continue
        if held[i] + stop - start > keys.shape[1]:
            prune(candidates, i, blocks, members[i])
        norm = shift_query(query, centre, scale, shifted)
        margin = rounding_margin(norm, blocks.radius[b], len(query))
        limit = estimate_limit(bound[i] / unit, norm, margin)
        _estimate(table, shifted, estimates)
        if exact[i]:
            hold_exact(candidates, i, blocks, members[i], b, estimates, limit)
        else:
            margins[i] = max(margins[i], margin * unit)
            own = blocks.ids[members[i]]
            held[i] = hold(estimates, ids, own, limit, norm - margin, unit, keys[i], names[i], held[i])


@njit(nogil=True, cache=True, fastmath={"contract"})
def _estimate(table: Any, shifted: Any, estimates: Any) -> None:
    """estimates = |x|^2 + shifted . x for every point of a block, four features a pass."""
    d = len(shifted)
    for j in range(len(estimates)):
        estimates[j] = table[d, j]
    whole = d - d % 4
    for f in range(0, whole, 4):
        q0, q1, q2, q3 = shifted[f], shifted[f + 1], shifted[f + 2], shifted[f + 3]
        x0, x1, x2, x3 = table[f], table[f + 1], table[f + 2], table[f + 3]
        for j in range(len(estimates)):
            estimates[j] = q0 * x0[j] + (q1 * x1[j] + (q2 * x2[j] + (q3 * x3[j] + estimates[j])))
    for f in range(whole, d):
        q0, x0 = shifted[f], table[f]
        for j in range(len(estimates)):
            estimates[j] += q0 * x0[j]
