"""The best candidates of a group of queries, by float32 estimates first and by exact distance in the end.

An estimate carries a margin that covers every rounding error in it (`rounding_margin`), and candidates are dropped
only when their estimate lies beyond the bound by more than the margin: no neighbour is ever lost. What remains is
ordered by the float64 sum over the features in their order, and then by position. Should the margin not tell the
candidates apart (many ties), the query goes over to exact distances at once, where position breaks every tie.

The first bound may be a guess. All points within it are held, so the neighbours are right if they lie within it,
and `emit` tells if they do not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.knn_blocks import Blocks, Group, block_range, first_strip
from shiftscope.kernels.knn_estimates import STRIP, TILE, estimate_limit
from shiftscope.kernels.knn_pairs import Spare, before, kth_key, no_spare, select_pairs, sort_spread, spread_pairs
from shiftscope.kernels.knn_view import View, box_distances, list_hits, look, shift

ROOM = 64  # so that searches of few neighbours are not pruned all the time
NO_ID = np.iinfo(np.int32).max


class Candidates(NamedTuple):
    """Up to `capacity` candidates for each of `m` queries.

    Attributes
    ----------
    keys : (m, capacity) float64
        Squared distances: lower bounds from the estimates, or exact ones where `exact`.
    ids : (m, capacity) int32
        Positions of the points in the caller's table.
    held : (m,) int64
        How many there are.
    exact : (m,) bool
        Whether the keys of this query are exact.
    margin : (m,) float64
        Largest margin of the estimates held.
    bound : (m,) float64
    bound_id : (m,) int64
        A pair (squared distance, position) that at least `wanted` candidates do not exceed: nothing beyond it
        can be a neighbour. Until there are as many, the guess.
    guess : (m,) float64
        The bound at the start; infinite when nothing is known.
    spare : Spare
        Room for one of the lists.
    wanted : int
        Neighbours to deliver, including the one that only serves to tell a tie.
    """

    keys: NDArray[np.float64]
    ids: NDArray[np.int32]
    held: NDArray[np.int64]
    exact: NDArray[np.bool_]
    margin: NDArray[np.float64]
    bound: NDArray[np.float64]
    bound_id: NDArray[np.int64]
    guess: NDArray[np.float64]
    spare: Spare
    wanted: int


@njit(nogil=True, cache=True)
def no_candidates(guess: NDArray[np.float64], wanted: int, size: int) -> Candidates:
    """Empty lists for as many queries as there are guesses, to be filled from blocks of `size`."""
    m, room = len(guess), 2 * wanted + size + ROOM  # twice as many as wanted, so that pruning costs O(1) each
    return Candidates(
        np.empty((m, room)),
        np.empty((m, room), np.int32),
        np.zeros(m, np.int64),
        np.zeros(m, np.bool_),
        np.zeros(m),
        guess.copy(),
        np.full(m, NO_ID, np.int64),
        guess,
        no_spare(room),
        wanted,
    )


@njit(nogil=True, cache=True)
def visit(candidates: Candidates, group: Group, blocks: Blocks, b: int, view: View) -> None:
    """Hold the points of block `b` that are near enough to the queries of a group."""
    if not _set_limits(candidates, group, blocks, b, view):
        return
    # plain arrays, taken out once: handing tuples on costs as much as the work
    keys, ids, held, exact = candidates.keys, candidates.ids, candidates.held, candidates.exact
    estimates, within, hits = view.estimates, view.within, view.hits
    limit, shifted, tile = view.limit, view.shifted, view.tile
    names, own, table = blocks.ids, group.own, blocks.table
    start, strip, unit = block_range(blocks, b)[0], first_strip(blocks, b), blocks.scale**-2
    for first in range(0, len(own), TILE):
        if np.isnan(limit[first : first + TILE]).all():
            continue
        look(table, strip, shifted, limit, first, tile, estimates, within)
        for i in range(first, min(first + TILE, len(own))):
            found = list_hits(within, i - first, hits)
            if exact[i]:
                _hold_exact(candidates, group, i, blocks, start, hits[:found])
                continue
            base, size = view.norm[i] - view.margin[i], held[i]
            for point in hits[:found]:
                keys[i, size] = (estimates[point // STRIP, i - first, point % STRIP] + base) * unit
                ids[i, size] = names[start + point]
                size += names[start + point] != own[i]  # no branch: the query itself is overwritten
            held[i] = size


@njit(nogil=True, cache=True)
def _set_limits(candidates: Candidates, group: Group, blocks: Blocks, b: int, view: View) -> bool:
    """See which queries block `b` may concern: compute their limits and make room for a whole block."""
    bound, bound_id, nearest, first_id = candidates.bound, candidates.bound_id, view.nearest, blocks.first_id[b]
    box_distances(group.columns, blocks.low[b], blocks.high[b], nearest)
    concerned = False
    for i in range(len(group.own)):
        if not before(bound[i], bound_id[i], nearest[i], first_id):
            concerned = True
            if candidates.held[i] + blocks.size > candidates.keys.shape[1]:
                prune(candidates, i, group, blocks)
    if not concerned:
        return False
    scale, unit = blocks.scale, blocks.scale**-2
    shift(group.columns, blocks.centre[b], scale, blocks.radius[b], view.shifted, view.norm, view.margin)
    view.limit[:] = np.nan
    for i in range(len(group.own)):
        if not before(bound[i], bound_id[i], nearest[i], first_id):
            view.limit[i] = estimate_limit(bound[i] / unit, view.norm[i], view.margin[i])
            candidates.margin[i] = max(candidates.margin[i], view.margin[i] * unit)
    return True


@njit(nogil=True, cache=True)
def _hold_exact(candidates: Candidates, group: Group, i: int, blocks: Blocks, start: int, hits: Any) -> None:
    """Hold the points of a block that come before the exact bound of query `i`."""
    for point in hits:
        name, key = blocks.ids[start + point], squared_distance(group.rows, i, blocks.rows, start + point)
        if name != group.own[i] and before(key, name, candidates.bound[i], candidates.bound_id[i]):
            candidates.keys[i, candidates.held[i]], candidates.ids[i, candidates.held[i]] = key, name
            candidates.held[i] += 1


@njit(nogil=True, cache=True)
def squared_distance(a: Any, i: int, b: Any, j: int) -> float:
    """The exact squared distance of a[i] and b[j]: float64, features in order, symmetric to the last bit."""
    total = 0.0
    for f in range(a.shape[1]):
        difference = a[i, f] - b[j, f]
        total += difference * difference
    return total


@njit(nogil=True, cache=True)
def prune(candidates: Candidates, i: int, group: Group, blocks: Blocks) -> None:
    """Drop what cannot be a neighbour and tighten the bound of query `i`; `wanted` or more must be held."""
    keys, ids, held, wanted = candidates.keys[i], candidates.ids[i], candidates.held[i], candidates.wanted
    if candidates.exact[i]:
        select_pairs(keys, ids, held, wanted - 1)
        candidates.bound[i], candidates.bound_id[i] = keys[wanted - 1], ids[wanted - 1]
        candidates.held[i] = wanted
        return
    spare = candidates.spare
    spread_pairs(keys, ids, held, spare)
    bound = min(candidates.bound[i], kth_key(spare, wanted - 1) + 2.0 * candidates.margin[i])
    kept = 0
    for j in range(held):
        keys[kept], ids[kept] = spare.keys[j], spare.ids[j]
        kept += spare.keys[j] <= bound
    candidates.bound[i], candidates.held[i] = bound, kept
    room = len(keys) - blocks.size
    if 2 * kept > room + wanted:  # the margin does not tell them apart
        make_exact(candidates, i, group, blocks)
        prune(candidates, i, group, blocks)


@njit(nogil=True, cache=True)
def make_exact(candidates: Candidates, i: int, group: Group, blocks: Blocks) -> None:
    """Replace the keys of query `i` by exact squared distances, from here on."""
    keys, ids, place, held = candidates.keys, candidates.ids, blocks.place, candidates.held[i]
    whole = held - held % 4
    for j in range(0, whole, 4):  # four at once: the rows are far apart in memory
        here = place[ids[i, j]], place[ids[i, j + 1]], place[ids[i, j + 2]], place[ids[i, j + 3]]
        keys[i, j], keys[i, j + 1], keys[i, j + 2], keys[i, j + 3] = _four(group.rows, i, blocks.rows, here)
    for j in range(whole, held):
        keys[i, j] = squared_distance(group.rows, i, blocks.rows, place[ids[i, j]])
    candidates.exact[i] = True


@njit(nogil=True, cache=True)
def _four(a: Any, i: int, b: Any, places: Any) -> tuple[float, float, float, float]:
    p0, p1, p2, p3 = places
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    for f in range(a.shape[1]):
        x = a[i, f]
        d0, d1, d2, d3 = x - b[p0, f], x - b[p1, f], x - b[p2, f], x - b[p3, f]
        t0 += d0 * d0
        t1 += d1 * d1
        t2 += d2 * d2
        t3 += d3 * d3
    return t0, t1, t2, t3


@njit(nogil=True, cache=True)
def worst_bound(candidates: Candidates) -> tuple[float, int]:
    """The last of the queries' bounds: beyond it, no query of the group wants anything."""
    key, name = -1.0, -1
    for i in range(len(candidates.bound)):
        if before(key, name, candidates.bound[i], candidates.bound_id[i]):
            key, name = candidates.bound[i], candidates.bound_id[i]
    return key, name


@njit(nogil=True, cache=True)
def emit(candidates: Candidates, i: int, group: Group, blocks: Blocks, index: Any, tied: Any) -> bool:
    """Write the neighbours of query `i` into `index` (k,) and `tied` (k,); False if the guess was too small."""
    keys, ids, wanted = candidates.keys[i], candidates.ids[i], candidates.wanted
    if candidates.held[i] >= wanted:
        prune(candidates, i, group, blocks)
    if candidates.held[i] < wanted:
        return False
    if not candidates.exact[i]:
        make_exact(candidates, i, group, blocks)
    sort_spread(keys, ids, candidates.held[i], candidates.spare)
    for j in range(len(index)):
        index[j] = ids[j]
        tied[j] = j + 1 < wanted and keys[j] == keys[j + 1]
    return bool(keys[wanted - 1] <= candidates.guess[i])
