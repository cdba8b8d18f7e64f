"""The two halves of `counts.scan_sets`: tables of a part of the rows, which add up, and the look at their sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.window_counts import MAX_BINS, add_to_tables, evaluate_tables, order_by_bin

_SHARD_TILE = 8  # tables filled per pass over the labels


@njit(cache=True, nogil=True)
def count_sets(
    codes: NDArray[np.uint8],
    packed: NDArray[np.uint64],
    sets: NDArray[np.int64],
    shift: int,
    tables: NDArray[Any],
    totals: NDArray[np.int64],
) -> None:
    """Add some rows to the finest cells of every set.

    Parameters
    ----------
    codes : (d, n) uint8
    packed : (n,) uint64
        Labels of 64 labellings.
    sets : (s, size) int64
        In lexicographic order.
    shift : int
        The finest grid has ``256 >> shift`` bins per feature.
    tables : (s, cells, PACK) unsigned integers
        Rows of the counted sample.
    totals : (s, cells) int64
        All rows.
    """
    (d, n), (count, size) = codes.shape, sets.shape
    bins = MAX_BINS >> shift
    begin = 0
    while begin < count:
        first, end = sets[begin, 0], begin
        while end < count and sets[end, 0] == first:
            end += 1
        order, starts = order_by_bin(codes[first], shift)
        labels = packed[order]
        others = np.empty((d, n if size > 1 else 0), np.uint8)
        for f in range(d):
            if size > 1 and np.any(sets[begin:end, 1:] == f):
                for r in range(n):
                    others[f, r] = codes[f, order[r]] >> shift
        for low in range(begin, end, _SHARD_TILE):
            high = min(low + _SHARD_TILE, end)
            add_to_tables(labels, others, starts, sets[low:high], bins, tables[low:high], totals[low:high])
        begin = end


@njit(cache=True, nogil=True)
def evaluate_sets(  # type: ignore[no-untyped-def]
    tables, totals, bins, size, counted, observed, price, bounds, xlogx, evidence, window, pooled
):
    """Fill the results of `scan_sets` for sets whose tables and totals are complete; these are used up."""
    for s in range(tables.shape[0]):
        evaluate_tables(
            tables[s], totals[s], bins, size, counted, observed, price, bounds, xlogx,
            evidence[:, s], window[:, s], pooled[s],
        )  # fmt: skip
