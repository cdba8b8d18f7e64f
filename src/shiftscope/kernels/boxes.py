"""Growing boxes feature by feature, the same greedy search for every lane (assignment of the labels).

A box is one interval of bins per feature. Its evidence is half the deviance of the labels inside it (see
`counts.half_deviance`), signed: a box that starts as an excess of the counted sample is grown as an excess.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from shiftscope.kernels.counts import half_deviance

BOX_BINS = 32  # intervals begin and end at multiples of 1/32 of the rows
SLACK = 2  # bins by which an interval may later grow on either side
GROWN_ROWS = 16  # boxes that, with their slack, hold more than 1/16 of the rows are not grown
_NOTHING = -1.0  # evidence of a box that was not grown


@njit(cache=True, parallel=True)
def grow_lanes(
    codes: NDArray[np.uint8],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    labels: NDArray[np.uint8],
    seeds: NDArray[np.int64],
    intervals: NDArray[np.int64],
    n_seeds: NDArray[np.int64],
    counted: int,
    largest: int,
    xlogx: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Grow the seeds of every lane, one feature at a time, and keep the best box of each size.

    Parameters
    ----------
    codes : (d, n) uint8
        Bin (0..31) of each pooled row.
    order : (d, n) int32
    starts : (d, BOX_BINS + 1) int64
        Rows in the order of each feature's bins, and where each bin starts.
    labels : (lanes, n) uint8
        One where the row belongs to the counted sample of `counted` rows.
    seeds : (lanes, beam, s) int64
    intervals : (lanes, beam, s, 2) int64
        Features of each seed and its first and last bin (inclusive) along each of them.
    n_seeds : (lanes,) int64
        The seeds in use.
    largest : int
        Number of features of the largest boxes, more than s.
    xlogx : (n + 1,) float64

    Returns
    -------
    evidence : (lanes, beam, largest - s) float64
        Half deviance of the box with s + 1, s + 2, ... features grown from each seed, -1 if there is none.
    features : (lanes, beam, largest) int64
        Features in the order in which they joined.
    boxes : (lanes, beam, largest - s, largest, 2) int64
        Intervals of the box of each size.
    """
    lanes, beam, size = seeds.shape
    evidence = np.full((lanes, beam, largest - size), _NOTHING)
    features = np.full((lanes, beam, largest), -1, np.int64)
    boxes = np.zeros((lanes, beam, largest - size, largest, 2), np.int64)
    for lane in prange(lanes):
        rows = np.empty(codes.shape[1] // GROWN_ROWS + 1, np.int32)
        inside = np.empty_like(rows)
        for seed in range(n_seeds[lane]):
            features[lane, seed, :size] = seeds[lane, seed]
            _grow(
                codes, order, starts, labels[lane], intervals[lane, seed], counted, xlogx, rows, inside,
                features[lane, seed], evidence[lane, seed], boxes[lane, seed],
            )  # fmt: skip
    return evidence, features, boxes


@njit(cache=True)
def _grow(  # type: ignore[no-untyped-def]
    codes, order, starts, labels, seed, counted, xlogx, rows, inside, features, evidence, boxes
):
    size, largest = seed.shape[0], features.shape[0]
    box = np.empty((largest, 2), np.int64)
    slack = np.empty((largest, 2), np.int64)
    for axis in range(size):
        _set_interval(axis, seed[axis, 0], seed[axis, 1], box, slack)
    n_rows = _rows_inside(codes, order, starts, features[:size], slack, rows)
    if n_rows < 0:
        return
    excess = _is_excess(codes, labels, rows, n_rows, features[:size], box, counted, xlogx.shape[0] - 1)
    _refit(codes, labels, rows, n_rows, features[:size], box, slack, excess, counted, xlogx)
    while size < largest:
        n_inside = _keep_inside(codes, rows, n_rows, features[:size], box, inside)
        feature, low, high = _best_feature(codes, labels, inside, n_inside, features[:size], excess, counted, xlogx)
        if feature < 0:
            return
        features[size] = feature
        _set_interval(size, low, high, box, slack)
        size += 1
        n_rows = _keep_inside(codes, rows, n_rows, features[size - 1 : size], slack[size - 1 : size], rows)
        step = evidence.shape[0] - (largest - size) - 1
        evidence[step] = _refit(
            codes, labels, rows, n_rows, features[:size], box, slack, excess, counted, xlogx
        )
        boxes[step, :size] = box[:size]


@njit(cache=True)
def _set_interval(axis, low, high, box, slack):  # type: ignore[no-untyped-def]
    box[axis, 0], box[axis, 1] = low, high
    slack[axis, 0], slack[axis, 1] = max(low - SLACK, 0), min(high + SLACK, BOX_BINS - 1)


@njit(cache=True)
def _rows_inside(codes, order, starts, features, box, rows):  # type: ignore[no-untyped-def]
    """Write the rows inside `box` to `rows`; return how many, or -1 if they do not fit."""
    lead, fewest = 0, order.shape[1] + 1
    for axis in range(features.shape[0]):
        f = features[axis]
        held = starts[f, box[axis, 1] + 1] - starts[f, box[axis, 0]]
        if held < fewest:
            lead, fewest = axis, held
    f, found = features[lead], 0
    for at in range(starts[f, box[lead, 0]], starts[f, box[lead, 1] + 1]):
        row = order[f, at]
        if _is_inside(codes, row, features, box, lead):
            if found == rows.shape[0]:
                return -1
            rows[found] = row
            found += 1
    return found


@njit(cache=True)
def _is_inside(codes, row, features, box, skipped):  # type: ignore[no-untyped-def]
    for axis in range(features.shape[0]):
        code = codes[features[axis], row]
        if axis != skipped and (code < box[axis, 0] or code > box[axis, 1]):
            return False
    return True


@njit(cache=True)
def _keep_inside(codes, rows, n_rows, features, box, kept):  # type: ignore[no-untyped-def]
    """Write the rows inside `box` to `kept` (which may be `rows` itself); return how many."""
    found = 0
    for at in range(n_rows):
        if _is_inside(codes, rows[at], features, box, -1):
            kept[found] = rows[at]
            found += 1
    return found


@njit(cache=True)
def _is_excess(codes, labels, rows, n_rows, features, box, counted, total):  # type: ignore[no-untyped-def]
    n = k = 0
    for at in range(n_rows):
        if _is_inside(codes, rows[at], features, box, -1):
            n += 1
            k += labels[rows[at]]
    return k * total > n * counted


@njit(cache=True)
def _signed(k, n, excess, counted, xlogx):  # type: ignore[no-untyped-def]
    """Half deviance if the imbalance has the wanted sign, 0 otherwise."""
    if (k * (xlogx.shape[0] - 1) > n * counted) != excess:
        return 0.0
    return half_deviance(k, n, counted, xlogx)


@njit(cache=True)
def _refit(codes, labels, rows, n_rows, features, box, slack, excess, counted, xlogx):  # type: ignore[no-untyped-def]
    """Move each interval in turn to its best place within its slack; return the evidence of the box."""
    n, k = np.zeros(BOX_BINS, np.int64), np.zeros(BOX_BINS, np.int64)
    best = 0.0
    for axis in range(features.shape[0] - 1, -1, -1):  # the newest interval is the coarsest guess: fit it first
        n[:] = 0
        k[:] = 0
        for at in range(n_rows):
            row = rows[at]
            if _is_inside(codes, row, features, box, axis):
                code = codes[features[axis], row]
                n[code] += 1
                k[code] += labels[row]
        best = 0.0
        for low in range(slack[axis, 0], slack[axis, 1] + 1):
            held = hits = 0
            for high in range(low, slack[axis, 1] + 1):
                held += n[high]
                hits += k[high]
                value = _signed(hits, held, excess, counted, xlogx)
                if value > best:
                    best, box[axis, 0], box[axis, 1] = value, low, high
    return best


@njit(cache=True)
def _best_feature(codes, labels, rows, n_rows, features, excess, counted, xlogx):  # type: ignore[no-untyped-def]
    """The feature and interval (widths 2, 4, 8, 16; half-overlapping) that raise the evidence of a box most."""
    n, k = np.zeros(BOX_BINS + 1, np.int64), np.zeros(BOX_BINS + 1, np.int64)
    best, chosen, begin, end = 0.0, -1, 0, 0
    for f in range(codes.shape[0]):
        if np.any(features == f):
            continue
        n[:] = 0
        k[:] = 0
        for at in range(n_rows):
            code = codes[f, rows[at]] + 1
            n[code] += 1
            k[code] += labels[rows[at]]
        for code in range(BOX_BINS):
            n[code + 1] += n[code]
            k[code + 1] += k[code]
        width = 2
        while width < BOX_BINS:
            for low in range(0, BOX_BINS - width + 1, width // 2):
                held, hits = n[low + width] - n[low], k[low + width] - k[low]
                value = _signed(hits, held, excess, counted, xlogx)
                if value > best:
                    best, chosen, begin, end = value, f, low, low + width - 1
            width *= 2
    return chosen, begin, end
