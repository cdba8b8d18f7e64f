"""Kernels of neighbour-enriched localisation: soft neighbourhoods of a batch, hard ones of nested subsets.

Each iteration of a parallel loop writes its own part of the results only, so that the outcome does not
depend on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from shiftscope.kernels.compiling import njit

# Columns per block of the distance kernel: a block of a few hundred features stays in the second-level cache.
QUERY_BLOCK = 256
LINES = 4


@njit(cache=True)
def batch_distances(scaled, n_queries):  # type: ignore[no-untyped-def]
    """Squared distances of the first rows of a batch to all of its rows (Supp. S3).

    Parameters
    ----------
    scaled : (d, b) array
        The batch, one contiguous line per feature, already multiplied by the effective weights; d is a
        multiple of `LINES`, padded with lines of zeros.
    n_queries : int
        The first `n_queries` rows of the batch ask for neighbours.

    Returns
    -------
    (n_queries, b) array
        Infinite where a row would be its own neighbour.
    """
    d, b = scaled.shape
    distance = np.zeros((n_queries, b), scaled.dtype)
    for low in range(0, b, QUERY_BLOCK):
        high = min(low + QUERY_BLOCK, b)
        for i in range(n_queries):
            line = distance[i, low:high]
            for f in range(0, d, LINES):  # four lines a pass: one load and store of `line` for the four
                v0, v1 = scaled[f, low:high], scaled[f + 1, low:high]
                v2, v3 = scaled[f + 2, low:high], scaled[f + 3, low:high]
                o0, o1, o2, o3 = scaled[f, i], scaled[f + 1, i], scaled[f + 2, i], scaled[f + 3, i]
                for j in range(line.size):
                    g0, g1, g2, g3 = o0 - v0[j], o1 - v1[j], o2 - v2[j], o3 - v3[j]
                    line[j] += (g0 * g0 + g1 * g1) + (g2 * g2 + g3 * g3)
    for i in range(n_queries):
        distance[i, i] = np.inf
    return distance


@njit(cache=True)
def weighted_spread(rows, chosen, weight):  # type: ignore[no-untyped-def]
    """Weighted squared gaps between queries and their neighbours, summed per feature (Supp. S4).

    Parameters
    ----------
    rows : (b, d) array
        The batch, unscaled; its first q rows are the queries.
    chosen : (q, k) array of int
        Neighbours of each query, positions in the batch.
    weight : (q, k) array
        Weight of each neighbour.

    Returns
    -------
    (d,) float64 array
        ``sum_i sum_s weight_is (z_i - z_chosen_is)**2``.
    """
    spread = np.zeros(rows.shape[1])
    for i in range(chosen.shape[0]):
        for s in range(chosen.shape[1]):
            add_weighted_squares(spread, rows[i], rows[chosen[i, s]], np.float64(weight[i, s]))
    return spread


@njit(cache=True)
def add_weighted_squares(total, one, other, weight):  # type: ignore[no-untyped-def]
    """Add ``weight * (one - other)**2`` to `total`, in place."""
    for f in range(total.size):
        gap = np.float64(one[f] - other[f])
        total[f] += weight * gap * gap


@njit(cache=True, parallel=True)
def nested_neighbours(columns, queries, fold, sizes, k):  # type: ignore[no-untyped-def]
    """Nearest rows of each query outside its own fold, in the first 1, 2, ... features (Supp. S5).

    Distances grow feature by feature and are never recomputed.

    Parameters
    ----------
    columns : (d, n) array
        One contiguous line per feature, strongest feature first.
    queries : (q,) array of int
        Rows that ask.
    fold : (n,) array of int
        Fold of each row: rows of the asking row's fold, hence the row itself, are never its neighbours.
    sizes : (s,) array of int
        Numbers of leading features, ascending.
    k : int
        At most the number of rows outside any fold.

    Returns
    -------
    (q, s, k) array of int32
        Rows by increasing distance, equal distances by position.
    """
    n = columns.shape[1]
    found = np.empty((queries.size, sizes.size, k), np.int32)
    for i in prange(queries.size):
        row = queries[i]
        distance = np.zeros(n, columns.dtype)
        for j in range(n):
            if fold[j] == fold[row]:
                distance[j] = np.inf
        heap = np.empty(k, columns.dtype)
        used = 0
        for s in range(sizes.size):
            for f in range(used, sizes[s]):
                add_squares(distance, columns[f], columns[f, row])
            used = sizes[s]
            nearest(distance, heap, found[i, s])
    return found


@njit(cache=True)
def add_squares(distance, values, own):  # type: ignore[no-untyped-def]
    """Add the squared gaps between `own` and each of `values` to `distance`, in place."""
    for j in range(distance.size):
        gap = own - values[j]
        distance[j] += gap * gap


@njit(cache=True)
def nearest(distance, heap, index):  # type: ignore[no-untyped-def]
    """Positions of the smallest finite distances, nearest first, equal ones in order of position.

    `heap` and `index`, of length k, are overwritten; the result is in `index`.
    """
    heap[:] = np.inf
    index[:] = -1
    for j in range(distance.size):
        if distance[j] < heap[0]:
            sift_down(heap, index, heap.size, distance[j], j)
    for last in range(heap.size - 1, 0, -1):  # heap sort: the farthest goes to the end
        far, far_index = heap[0], index[0]
        sift_down(heap, index, last, heap[last], index[last])
        heap[last], index[last] = far, far_index


@njit(cache=True)
def sift_down(heap, index, size, value, position):  # type: ignore[no-untyped-def]
    """Replace the root of the max-heap made of the first `size` entries, ordered by (value, position)."""
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (heap[other] > heap[child] or (heap[other] == heap[child] and index[other] > index[child])):
            child = other
        if heap[child] < value or (heap[child] == value and index[child] < position):
            break
        heap[slot] = heap[child]
        index[slot] = index[child]
        slot = child
    heap[slot] = value
    index[slot] = position
