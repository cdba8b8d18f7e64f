"""Search by blocks: distances and selection in one pass, nearest blocks first, no distance matrix.

Queries near each other form a group. A search of a small sample tells how far the neighbours of each query will about
be. With this guess, the blocks are visited from the nearest to the farthest; a block that lies beyond the
current bound of a query is skipped, and the search of a group ends when all remaining blocks lie beyond the bounds of
all its queries. In few dimensions this is a tree search, in many a full pass. Queries whose guess was too small are
searched again without one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.knn_blocks import Blocks, Group, take_group
from shiftscope.kernels.knn_candidates import Candidates, emit, no_candidates, prune, visit, worst_bound
from shiftscope.kernels.knn_pairs import before, select_pairs, sort_pairs
from shiftscope.kernels.knn_view import no_view


@njit(nogil=True, cache=True)
def search_groups(
    blocks: Blocks,
    sample: Blocks,
    rank: int,
    queries: NDArray[np.float64],
    own: NDArray[np.int32],
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
    sample : Blocks
        Some of the points.
    rank : int
        The `rank`-th nearest point of the sample is probably farther than all neighbours; 0 to do without.
    queries : (m, d) float64
        In the order of the groups.
    own : (m,) int32
        Their positions in the caller's table, which are never listed; -1 if they are not in it.
    groups : (g + 1,) int64
        Group i holds `queries[groups[i]:groups[i + 1]]`.
    first, last : int
    slots : (m,) int64
        Row of the output for each query.
    index : (m, k) int32, tied : (m, k) bool
        Output (see `Neighbours`).
    """
    for g in range(first, last):
        begin, end = groups[g], groups[g + 1]
        here, there = take_group(queries[begin:end], own[begin:end]), slots[begin:end]
        guess = _guess(sample, take_group(queries[begin:end], own[begin:end]), rank)
        missed = _search(blocks, here, guess, there, index, tied)
        if missed.any():
            again = np.flatnonzero(missed)
            few = take_group(here.rows[again], here.own[again])
            _search(blocks, few, np.full(len(again), np.inf), there[again], index, tied)


@njit(nogil=True, cache=True)
def _guess(sample: Blocks, group: Group, rank: int) -> NDArray[np.float64]:
    """Squared distances of the queries from their `rank`-th nearest points of the sample, or a little more."""
    nothing = np.full(len(group.own), np.inf)
    if rank == 0:
        return nothing
    group.own[:] = -1  # positions in the sample mean something else
    candidates = no_candidates(nothing, rank, sample.size)
    _collect(sample, group, candidates)
    for i in range(len(group.own)):
        prune(candidates, i, group, sample)
    bound: NDArray[np.float64] = candidates.bound
    return bound


@njit(nogil=True, cache=True)
def _search(blocks: Blocks, group: Group, guess: Any, slots: Any, index: Any, tied: Any) -> NDArray[np.bool_]:
    """Search for a group; tells which queries lie too far from their neighbours for their guess."""
    wanted = min(index.shape[1] + 1, len(blocks.rows) - (1 if group.own[0] >= 0 else 0))
    candidates = no_candidates(guess, wanted, blocks.size)
    _collect(blocks, group, candidates)
    missed = np.zeros(len(group.own), np.bool_)
    for i in range(len(group.own)):
        missed[i] = not emit(candidates, i, group, blocks, index[slots[i]], tied[slots[i]])
    return missed


@njit(nogil=True, cache=True)
def _collect(blocks: Blocks, group: Group, candidates: Candidates) -> None:
    """Visit the nearest blocks first, then those that are left within the bounds they gave."""
    view = no_view(*group.columns.shape, len(blocks.table) // len(blocks.low))
    lower, names = block_bounds(blocks, group)
    near = min(len(lower), candidates.keys.shape[1] // blocks.size + 2)
    if near < len(lower):
        select_pairs(lower, names, len(lower), near)
    sort_pairs(lower, names, near)
    for b in range(near):
        visit(candidates, group, blocks, _block_of(blocks, names[b]), view)
    kept = _keep_within(lower[near:], names[near:], candidates)
    sort_pairs(lower[near:], names[near:], kept)
    for b in range(near, near + kept):
        key, name = worst_bound(candidates)
        if before(key, name, lower[b], names[b]):
            break
        visit(candidates, group, blocks, _block_of(blocks, names[b]), view)


@njit(nogil=True, cache=True)
def block_bounds(blocks: Blocks, group: Group) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """What each block can offer at best to a group of queries.

    Returns
    -------
    (l,) float64 : squared distance between the box of the queries and the box of the block. Rounding is
        monotonous and the features are summed in the same order, so it never exceeds an exact distance.
    (l,) int32 : the least position in the block, which also names it.
    """
    count, d = blocks.low.shape
    lower = np.zeros(count)
    for f in range(d):
        low, high = group.columns[f].min(), group.columns[f].max()
        for b in range(count):
            gap = max(blocks.low[b, f] - high, low - blocks.high[b, f], 0.0)
            lower[b] += gap * gap
    return lower, blocks.first_id.copy()


@njit(nogil=True, cache=True)
def _block_of(blocks: Blocks, name: int) -> int:
    """The block that holds the point at position `name` of the caller's table."""
    return int(blocks.place[name]) // blocks.size


@njit(nogil=True, cache=True)
def _keep_within(lower: Any, names: Any, candidates: Candidates) -> int:
    """Move the blocks that may still offer something to the front and count them."""
    key, name = worst_bound(candidates)
    kept = 0
    for b in range(len(lower)):
        if not before(key, name, lower[b], names[b]):
            lower[kept], names[kept] = lower[b], names[b]
            kept += 1
    return kept
