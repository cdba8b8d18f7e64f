"""The best candidates of a group of queries, by float32 estimates first and by exact distance in the end.

An estimate carries a margin that covers every rounding error in it (`rounding_margin`), and candidates are dropped
only when their estimate lies beyond the bound by more than the margin: no neighbour is ever lost. What remains is
ordered by the float64 sum over the features in their order, and then by position. Should the margin not tell the
candidates apart (many ties), the query goes over to exact distances at once, where position breaks every tie.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shiftscope.kernels.knn_blocks import Blocks, block_range
from shiftscope.kernels.knn_pairs import before, select_pairs, sort_pairs

STRIP = 32  # estimates that are compared with the limit at once
FLOAT32_ROUNDING = 2.0**-24
FLOAT32_TINY = 2.0**-110  # above what underflow can do to a sum of squares of numbers below 2
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
        can be a neighbour.
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
    wanted: int


@njit(nogil=True, cache=True)
def capacity(wanted: int, size: int) -> int:
    """Candidates to hold per query: twice the wanted number, so that pruning costs O(1) each, and one block."""
    return 2 * wanted + size + ROOM


@njit(nogil=True, cache=True)
def no_candidates(m: int, wanted: int, room: int) -> Candidates:
    """Empty lists for `m` queries, with `room` (from `capacity`) each."""
    return Candidates(
        np.empty((m, room)),
        np.empty((m, room), np.int32),
        np.zeros(m, np.int64),
        np.zeros(m, np.bool_),
        np.zeros(m),
        np.full(m, np.inf),
        np.full(m, NO_ID, np.int64),
        wanted,
    )


@njit(nogil=True, cache=True)
def shift_query(query: Any, centre: Any, scale: float, shifted: Any) -> float:
    """Write -2 (query - centre) * scale into `shifted` (d,) and return the squared norm of the difference.

    With x relative to the same centre, |q - x|^2 = |q|^2 + (|x|^2 + shifted . x): the part in parentheses is
    the estimate that a block or a matrix product delivers.
    """
    norm = 0.0
    for f in range(len(query)):
        value = np.float32((query[f] - centre[f]) * scale)
        shifted[f] = np.float32(-2.0) * value
        norm += np.float64(value) ** 2
    return norm


@njit(nogil=True, cache=True)
def rounding_margin(norm: float, radius: float, d: int) -> float:
    """How far norm + estimate may be from the squared distance (scaled), whatever the order of summation.

    At most 2 d + 2 operations are rounded, on terms whose magnitudes add up to at most (|q| + radius)^2; the other
    10 cover the rounding of the coordinates themselves, float64, and the limit derived from the margin.
    """
    reach = (math.sqrt(norm) + radius) ** 2
    return (2 * d + 12) * FLOAT32_ROUNDING * reach + (d + 1) * FLOAT32_TINY


@njit(nogil=True, cache=True)
def squared_distance(a: Any, b: Any) -> float:
    """The exact squared distance: float64, features in order, symmetric to the last bit."""
    total = 0.0
    for f in range(len(a)):
        difference = a[f] - b[f]
        total += difference * difference
    return total


@njit(nogil=True, cache=True)
def estimate_limit(bound: float, norm: float, margin: float) -> np.float32:
    """The largest estimate worth a look when the (scaled) squared distance may reach `bound`, rounded up."""
    rest = bound - norm
    return np.float32(rest + margin + 4 * FLOAT32_ROUNDING * abs(rest))


@njit(nogil=True, cache=True)
def hold(
    estimates: Any, ids: Any, own: int, limit: Any, base: float, unit: float, keys: Any, names: Any, count: int
) -> int:
    """Append the points of a block whose estimate is within the limit, save the query itself.

    Parameters
    ----------
    estimates : (b,) float32
        |x|^2 + shifted . x for the points of the block.
    ids : (<= b,) int32
        Their positions in the caller's table.
    own : int
        Position of the query.
    limit : float32
    base, unit : float
        The key of a point is (estimate + base) * unit.
    keys, names : (capacity,)
        Candidates of the query; `count` are held, and there is room for a whole block.

    Returns
    -------
    int : how many are held now.
    """
    for start in range(0, len(ids), STRIP):
        stop = min(start + STRIP, len(ids))
        if not _any_within(estimates[start:stop], limit):
            continue
        for j in range(start, stop):
            if estimates[j] <= limit and ids[j] != own:
                keys[count] = (estimates[j] + base) * unit
                names[count] = ids[j]
                count += 1
    return count


@njit(nogil=True, cache=True)
def _any_within(estimates: Any, limit: Any) -> bool:
    found = False
    for j in range(len(estimates)):  # no early exit: the compiler turns this into vector instructions
        found |= estimates[j] <= limit
    return found


@njit(nogil=True, cache=True)
def hold_exact(candidates: Candidates, i: int, blocks: Blocks, member: int, b: int, estimates: Any, limit: Any) -> None:
    """Append the points of block `b` that come before the exact bound of query `i`."""
    start, stop = block_range(blocks, b)
    for place in range(start, stop):
        if estimates[place - start] > limit or place == member:
            continue
        key = squared_distance(blocks.rows[member], blocks.rows[place])
        if before(key, blocks.ids[place], candidates.bound[i], candidates.bound_id[i]):
            candidates.keys[i, candidates.held[i]] = key
            candidates.ids[i, candidates.held[i]] = blocks.ids[place]
            candidates.held[i] += 1


@njit(nogil=True, cache=True)
def prune(candidates: Candidates, i: int, blocks: Blocks, member: int) -> None:
    """Drop what cannot be a neighbour and tighten the bound of query `i`; `wanted` or more must be held."""
    keys, ids, last = candidates.keys[i], candidates.ids[i], candidates.wanted - 1
    select_pairs(keys, ids, candidates.held[i], last)
    if candidates.exact[i]:
        candidates.bound[i], candidates.bound_id[i] = keys[last], ids[last]
        candidates.held[i] = candidates.wanted
        return
    bound = min(candidates.bound[i], keys[last] + 2.0 * candidates.margin[i])
    kept = candidates.wanted
    for j in range(kept, candidates.held[i]):
        if keys[j] <= bound:
            keys[kept], ids[kept] = keys[j], ids[j]
            kept += 1
    candidates.bound[i], candidates.held[i] = bound, kept
    spare = len(keys) - blocks.table.shape[2] - candidates.wanted
    if kept > candidates.wanted + spare // 2:  # the margin does not tell them apart
        make_exact(candidates, i, blocks, member)
        prune(candidates, i, blocks, member)


@njit(nogil=True, cache=True)
def make_exact(candidates: Candidates, i: int, blocks: Blocks, member: int) -> None:
    """Replace the keys of query `i` by exact squared distances, from here on."""
    for j in range(candidates.held[i]):
        other = blocks.rows[blocks.place[candidates.ids[i, j]]]
        candidates.keys[i, j] = squared_distance(blocks.rows[member], other)
    candidates.exact[i] = True


@njit(nogil=True, cache=True)
def worst_bound(candidates: Candidates) -> tuple[float, int]:
    """The last of the queries' bounds: beyond it, no query of the group wants anything."""
    key, name = -1.0, -1
    for i in range(len(candidates.bound)):
        if before(key, name, candidates.bound[i], candidates.bound_id[i]):
            key, name = candidates.bound[i], candidates.bound_id[i]
    return key, name


@njit(nogil=True, cache=True)
def emit(candidates: Candidates, i: int, blocks: Blocks, member: int, index: Any, tied: Any) -> None:
    """Write the neighbours of query `i` into `index` (k,) and `tied` (k,)."""
    keys, ids, wanted = candidates.keys[i], candidates.ids[i], candidates.wanted
    prune(candidates, i, blocks, member)
    if not candidates.exact[i]:
        make_exact(candidates, i, blocks, member)
    sort_pairs(keys, ids, candidates.held[i])
    for j in range(len(index)):
        index[j] = ids[j]
        tied[j] = j + 1 < wanted and keys[j] == keys[j + 1]
