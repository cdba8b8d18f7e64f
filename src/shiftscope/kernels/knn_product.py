"""Search by matrix products: for hundreds of features the estimates of many queries come from one product."""

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
from shiftscope.kernels.knn_fused import block_bounds, block_of
from shiftscope.kernels.knn_pairs import before, sort_pairs


def search_product(
    blocks: Blocks,
    places: NDArray[np.int64],
    slots: NDArray[np.int64],
    index: NDArray[np.int32],
    tied: NDArray[np.bool_],
) -> None:
    """Search for a group of queries, block after block, nearest blocks first.

    Parameters
    ----------
    blocks : Blocks
    places : (m,) int64
        Queries as positions in `blocks.rows`.
    slots : (m,) int64
        Row of the output for each query.
    index : (., k) int32, tied : (., k) bool
        Output (see `Neighbours`).
    """
    n, d = blocks.rows.shape
    size = blocks.table.shape[2]
    wanted = min(index.shape[1] + 1, n - 1)
    candidates = no_candidates(len(places), wanted, capacity(wanted, size))
    shifted = np.ones((len(places), d + 1), dtype=np.float32)  # the last column adds the norms of the points
    norms = np.empty(len(places))
    estimates = np.empty((len(places), size), dtype=np.float32)
    lower, names = block_bounds(blocks, places)
    sort_pairs(lower, names, len(names))
    for bound, name in zip(lower, names, strict=True):
        if before(*worst_bound(candidates), bound, name):
            break
        b = block_of(blocks, name)
        shift_queries(blocks, places, b, shifted, norms)
        np.matmul(shifted, blocks.table[b], out=estimates)
        hold_products(candidates, blocks, places, b, norms, estimates)
    emit_all(candidates, blocks, places, slots, index, tied)


@njit(nogil=True, cache=True)
def shift_queries(blocks: Blocks, places: Any, b: int, shifted: Any, norms: Any) -> None:
    """Queries relative to the centre of block `b` (see `shift_query`)."""
    d = blocks.rows.shape[1]
    for i in range(len(places)):
        norms[i] = shift_query(blocks.rows[places[i]], blocks.centre[b], blocks.scale, shifted[i, :d])


@njit(nogil=True, cache=True)
def hold_products(candidates: Candidates, blocks: Blocks, places: Any, b: int, norms: Any, estimates: Any) -> None:
    """Offer the points of block `b` to each query, row by row of the product."""
    start, stop = block_range(blocks, b)
    ids, unit = blocks.ids[start:stop], 1.0 / blocks.scale**2
    for i in range(len(places)):
        if candidates.held[i] + stop - start > candidates.keys.shape[1]:
            prune(candidates, i, blocks, places[i])
        margin = rounding_margin(norms[i], blocks.radius[b], blocks.rows.shape[1])
        limit = estimate_limit(candidates.bound[i] / unit, norms[i], margin)
        if candidates.exact[i]:
            hold_exact(candidates, i, blocks, places[i], b, estimates[i], limit)
        else:
            candidates.margin[i] = max(candidates.margin[i], margin * unit)
            keys, names, count = candidates.keys[i], candidates.ids[i], candidates.held[i]
            own, base = blocks.ids[places[i]], norms[i] - margin
            candidates.held[i] = hold(estimates[i], ids, own, limit, base, unit, keys, names, count)


@njit(nogil=True, cache=True)
def emit_all(candidates: Candidates, blocks: Blocks, places: Any, slots: Any, index: Any, tied: Any) -> None:
    """Write the neighbours of every query."""
    for i in range(len(places)):
        emit(candidates, i, blocks, places[i], index[slots[i]], tied[slots[i]])
