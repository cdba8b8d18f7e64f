"""Scores of a few anchor rows in many feature sets: what growing a subspace looks at."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit

STRIDE = 16  # every sixteenth distance tells, about, how far the K_M-th neighbour is
RANK_SLACK = 2.0  # times the rank that the neighbour would have in such a sample, and ...
LEAST = 16  # ... so many more, so that a second look is rare


@njit(parallel=True, cache=True, nogil=True)
def score_anchors(
    columns: NDArray[np.float32],
    is_current: NDArray[np.uint8],
    anchors: NDArray[np.intp],
    chosen: NDArray[np.bool_],
    table: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score of every anchor in every feature set (paper 2.1), neighbours among all rows.

    columns is (d, n), feature by feature; chosen is (sets, d); table the evidence (K_M + 1, K_M + 1) of the anchors'
    own sample; scores is (sets, anchors). The neighbours' labels ride in the lowest bit of their squared distances, so
    that one selection finds both; rows at one distance count as one step.
    """
    k_max = table.shape[0] - 1
    n = columns.shape[1]
    for task in prange(scores.size):
        chosen_set, at = task // anchors.size, task % anchors.size
        anchor = anchors[at]
        squares = np.zeros(n, np.float32)
        for feature in range(columns.shape[0]):
            if chosen[chosen_set, feature]:
                column = columns[feature]
                here = column[anchor]
                for row in range(n):
                    gap = column[row] - here
                    squares[row] += gap * gap
        keys = squares.view(np.int32)  # positive floats order like their bits
        for row in range(n):
            keys[row] = (keys[row] & ~1) | (is_current[row] & 1)
        keys[anchor] = np.iinfo(np.int32).max
        scores[chosen_set, at] = _best_evidence(_smallest(keys, k_max), k_max, is_current[anchor], table)


@njit(cache=True)
def _smallest(keys: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """The smallest keys in order, at least k + 1 of them if there are so many."""
    rank = int(RANK_SLACK * k / STRIDE) + LEAST
    if rank < keys.size // STRIDE:
        limit = np.partition(keys[::STRIDE].copy(), rank)[rank]
        near = keys[keys <= limit]
        if near.size > k:
            return np.sort(near)
    return np.sort(keys)


@njit(cache=True)
def _best_evidence(keys: NDArray[np.int32], k_max: int, own: int, table: NDArray[np.float64]) -> float:
    """Largest evidence after K = 1 .. K_M neighbours, looked at between distances only."""
    best = 0.0
    same = 0
    for k in range(min(k_max, keys.size)):
        same += (keys[k] & 1) == own
        if k + 1 == keys.size or keys[k] >> 1 != keys[k + 1] >> 1:
            best = max(best, table[k + 1, same])
    return best
