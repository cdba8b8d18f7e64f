"""Growing boxes feature by feature, by the same greedy search for every labelling (assignment of the labels).

A box is one interval of bins per feature. Its evidence is half the deviance of the labels inside it (see
`counts.half_deviance`), signed: a box that starts as an excess of the counted sample is grown as an excess.
"""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.deviance import half_deviance

BOX_BINS = 32  # intervals begin and end at multiples of 1/32 of the rows
BIN_SLACK = 2  # bins by which an interval may later move on either side
GROWN_SHARE = 8  # boxes that, with their slack, hold more than 1/8 of the rows are not grown
_WORD = 64
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # maps a single bit to six bits that tell its position
_BIT_INDEX = np.zeros(64, np.int64)
for _position in range(64):
    _BIT_INDEX[int(_DE_BRUIJN) * 2**_position % 2**64 >> 58] = _position
_NOTHING = -1.0  # evidence of a box that was not grown
_LOW_HALF = (1 << 32) - 1


@njit(cache=True, parallel=True)
def cumulative_bits(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Rows with a code below b, as bits, for b = 0..BOX_BINS: (n, d) -> (d, BOX_BINS + 1, words)."""
    n, d = codes.shape
    bits = np.zeros((d, BOX_BINS + 1, (n + _WORD - 1) // _WORD), np.uint64)
    for f in prange(d):
        for row in range(n):
            bits[f, codes[row, f] + 1, row // _WORD] |= np.uint64(1) << np.uint64(row % _WORD)
        for b in range(BOX_BINS):
            for word in range(bits.shape[2]):
                bits[f, b + 1, word] |= bits[f, b, word]
    return bits


def grow_labellings(
    codes: NDArray[np.uint8],
    bits: NDArray[np.uint64],
    packed: NDArray[np.uint64],
    seeds: NDArray[np.int64],
    intervals: NDArray[np.int64],
    n_seeds: NDArray[np.int64],
    beam: int,
    counted: NDArray[np.int64],
    largest: int,
    xlogx: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Grow the most promising seeds of every labelling, one feature at a time.

    A seed promises the evidence of its best box with one feature more.

    Parameters
    ----------
    codes : (n, d) uint8
        Bin (0..31) of each pooled row, row by row: a box holds few rows and looks at all their features.
    bits : (d, BOX_BINS + 1, words) uint64
        Their `cumulative_bits`.
    packed : (packs, n) uint64
        Bit l of word w is one where the row belongs to the counted sample of labelling 64 w + l.
    seeds : (labellings, many, s) int64
    intervals : (labellings, many, s, 2) int64
        Features of each seed, and its first and last bin (inclusive) along each of them.
    n_seeds : (labellings,) int64
        The seeds in use.
    beam : int
        How many of them are grown to the end.
    counted : (labellings,) int64
        Rows of the counted sample in each labelling.
    largest : int
        Number of features of the largest boxes, more than s.
    xlogx : (n + 1,) float64

    Returns
    -------
    evidence : (labellings, beam, largest - s) float64
        Half deviance of the box with s + 1, s + 2, ... features grown from each seed, -1 if there is none.
    features : (labellings, beam, largest) int64
        Features in the order in which they joined.
    boxes : (labellings, beam, largest - s, largest, 2) int64
        Intervals of the box of each size.
    """
    labellings, _, size = seeds.shape
    evidence = np.full((labellings, beam, largest - size), _NOTHING)
    features = np.full((labellings, beam, largest), -1, np.int64)
    boxes = np.zeros((labellings, beam, largest - size, largest, 2), np.int64)
    _grow_all(codes, bits, packed, seeds, intervals, n_seeds, counted, xlogx, features, evidence, boxes)
    return evidence, features, boxes


@njit(cache=True, parallel=True)
def _grow_all(  # type: ignore[no-untyped-def]
    codes, bits, packed, seeds, intervals, n_seeds, counted, xlogx, features, evidence, boxes
):
    for labelling in prange(seeds.shape[0]):
        labels = _labels_of(packed[labelling // _WORD], labelling % _WORD)
        _grow_labelling(
            codes, bits, labels, seeds[labelling], intervals[labelling], n_seeds[labelling], counted[labelling], xlogx,
            features[labelling], evidence[labelling], boxes[labelling],
        )  # fmt: skip


@njit(cache=True)
def _labels_of(packed, bit):  # type: ignore[no-untyped-def]
    labels = np.empty(packed.shape[0], np.uint8)
    for row in range(packed.shape[0]):
        labels[row] = (packed[row] >> np.uint64(bit)) & np.uint64(1)
    return labels


@njit(cache=True)
def _grow_labelling(  # type: ignore[no-untyped-def]
    codes, bits, labels, seeds, intervals, n_seeds, counted, xlogx, features, evidence, boxes
):
    """Grow the seeds of one labelling that promise most."""
    room = codes.shape[0] // GROWN_SHARE + 1
    rows, words = np.empty(room, np.int32), np.empty(bits.shape[2], np.uint64)
    hits, mask = np.empty(room, np.uint8), np.empty(room, np.uint8)
    local = np.empty((features.shape[1], room), np.uint8)
    histogram = np.empty((codes.shape[1], BOX_BINS + 1), np.int64)
    promise = np.zeros(n_seeds)
    for seed in range(n_seeds):
        promise[seed] = _promise(
            codes, bits, labels, seeds[seed], intervals[seed], counted, xlogx, rows, words, hits, mask, histogram
        )
    for at in range(min(n_seeds, features.shape[0])):
        seed = int(np.argmax(promise))
        promise[seed] = _NOTHING
        for axis in range(seeds.shape[1]):
            features[at, axis] = seeds[seed, axis]
        _grow(
            codes, bits, labels, intervals[seed], counted, xlogx, rows, words, hits, mask, local, histogram,
            features[at], evidence[at], boxes[at],
        )  # fmt: skip


@njit(cache=True)
def _promise(  # type: ignore[no-untyped-def]
    codes, bits, labels, features, box, counted, xlogx, rows, words, hits, mask, histogram
):
    """Evidence of the best box that a seed becomes with one feature more, its own intervals left alone."""
    held = _rows_inside(bits, features, box, words, rows)
    if held < 0:
        return 0.0
    found = 0
    for at in range(held):
        hits[at] = labels[rows[at]]
        found += hits[at]
    mask[:held] = 1
    excess = found * (xlogx.shape[0] - 1) > held * counted
    return _best_feature(codes, rows, hits, mask, held, features, excess, counted, xlogx, histogram)[0]


@njit(cache=True)
def _grow(  # type: ignore[no-untyped-def]
    codes, bits, labels, seed, counted, xlogx, rows, words, hits, mask, local, histogram, features, evidence, boxes
):
    """Grow one seed.

    `rows` are those within the slack of the box, `hits` their labels, `local` their codes along its features;
    `words`, `mask` and `histogram` are scratch arrays.
    """
    size, largest = seed.shape[0], features.shape[0]
    box, slack = np.empty((largest, 2), np.uint8), np.empty((largest, 2), np.uint8)
    for axis in range(size):
        _set_interval(axis, seed[axis, 0], seed[axis, 1], box, slack)
    held = _rows_inside(bits, features[:size], slack, words, rows)
    if held < 0:
        return
    for axis in range(size):
        for at in range(held):
            local[axis, at] = codes[rows[at], features[axis]]
    _mark_inside(local, held, size, box, -1, mask)
    inside = found = 0
    for at in range(held):
        hits[at] = labels[rows[at]]
        inside += mask[at]
        found += mask[at] & hits[at]
    excess = found * (xlogx.shape[0] - 1) > inside * counted
    _refit(hits, local, held, size, box, slack, excess, counted, xlogx, mask)
    for step in range(largest - size):
        _mark_inside(local, held, size, box, -1, mask)
        _, feature, low, high = _best_feature(
            codes, rows, hits, mask, held, features[:size], excess, counted, xlogx, histogram
        )
        if feature < 0:
            return
        features[size] = feature
        _set_interval(size, low, high, box, slack)
        held = _join(codes, feature, slack, rows, hits, local, held, size)
        size += 1
        evidence[step] = _refit(hits, local, held, size, box, slack, excess, counted, xlogx, mask)
        for axis in range(size):
            boxes[step, axis, 0], boxes[step, axis, 1] = box[axis, 0], box[axis, 1]


@njit(cache=True)
def _set_interval(axis, low, high, box, slack):  # type: ignore[no-untyped-def]
    box[axis, 0], box[axis, 1] = low, high
    slack[axis, 0], slack[axis, 1] = max(low - BIN_SLACK, 0), min(high + BIN_SLACK, BOX_BINS - 1)


@njit(cache=True)
def _rows_inside(bits, features, box, words, rows):  # type: ignore[no-untyped-def]
    """Write the rows inside `box` to `rows`; return how many, or -1 if they do not fit."""
    words[:] = ~np.uint64(0)
    for axis in range(features.shape[0]):
        f, low, high = features[axis], box[axis, 0], box[axis, 1] + 1
        for word in range(words.shape[0]):
            words[word] &= bits[f, high, word] & ~bits[f, low, word]
    found = 0
    for word in range(words.shape[0]):
        inside = words[word]
        while inside != 0:
            if found == rows.shape[0]:
                return -1
            lowest = inside & (~inside + np.uint64(1))
            rows[found] = word * _WORD + _BIT_INDEX[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            inside ^= lowest
            found += 1
    return found


@njit(cache=True)
def _mark_inside(local, held, size, box, skipped, mask):  # type: ignore[no-untyped-def]
    """One in `mask` for the rows inside the box, whatever they are along the axis `skipped`."""
    mask[:held] = 1
    for axis in range(size):
        if axis != skipped:
            low, high = box[axis, 0], box[axis, 1]
            for at in range(held):
                mask[at] &= (local[axis, at] >= low) & (local[axis, at] <= high)


@njit(cache=True)
def _signed(k, n, excess, counted, xlogx):  # type: ignore[no-untyped-def]
    """Half deviance if the imbalance has the wanted sign, 0 otherwise."""
    if (k * (xlogx.shape[0] - 1) > n * counted) != excess:
        return 0.0
    return half_deviance(k, n, counted, xlogx)


@njit(cache=True)
def _refit(hits, local, held, size, box, slack, excess, counted, xlogx, mask):  # type: ignore[no-untyped-def]
    """Move each interval in turn to its best place within its slack; return the evidence of the box."""
    n, k = np.zeros(BOX_BINS, np.int64), np.zeros(BOX_BINS, np.int64)
    best = 0.0
    for axis in range(size - 1, -1, -1):  # the newest interval is the coarsest guess: fit it first
        _mark_inside(local, held, size, box, axis, mask)
        n[:] = 0
        k[:] = 0
        for at in range(held):
            if mask[at]:
                n[local[axis, at]] += 1
                k[local[axis, at]] += hits[at]
        best = 0.0
        for low in range(slack[axis, 0], slack[axis, 1] + 1):
            inside = found = 0
            for high in range(low, slack[axis, 1] + 1):
                inside += n[high]
                found += k[high]
                value = _signed(found, inside, excess, counted, xlogx)
                if value > best:
                    best, box[axis, 0], box[axis, 1] = value, low, high
    return best


@njit(cache=True)
def _best_feature(  # type: ignore[no-untyped-def]
    codes, rows, hits, mask, held, features, excess, counted, xlogx, histogram
):
    """Most evidence left by an interval of one more feature (widths 2, 4, 8, 16; half-overlapping), and which.

    `histogram` (d, BOX_BINS + 1) is a scratch array: rows below each bin, plus 2^32 times those that are hits.
    """
    total = xlogx.shape[0] - 1
    most = np.log(total / counted) if excess else np.log(total / (total - counted))  # evidence per row, at most
    _cumulate(codes, rows, hits, mask, held, histogram)
    best, chosen, begin, end = 0.0, -1, 0, 0
    for f in range(codes.shape[1]):
        if f in features:
            continue
        width = 2
        while width < BOX_BINS:
            for low in range(0, BOX_BINS - width + 1, width // 2):
                counts = histogram[f, low + width] - histogram[f, low]
                n = counts & _LOW_HALF
                if n * most > best:
                    value = _signed(counts >> 32, n, excess, counted, xlogx)
                    if value > best:
                        best, chosen, begin, end = value, f, low, low + width - 1
            width *= 2
    return best, chosen, begin, end


@njit(cache=True)
def _cumulate(codes, rows, hits, mask, held, histogram):  # type: ignore[no-untyped-def]
    """Rows and hits below each bin of every feature, among the rows with a mask."""
    histogram[:] = 0
    for at in range(held):
        if mask[at]:
            row, count = rows[at], 1 + (np.int64(hits[at]) << 32)
            for f in range(codes.shape[1]):
                histogram[f, codes[row, f] + 1] += count
    for f in range(codes.shape[1]):
        for code in range(BOX_BINS):
            histogram[f, code + 1] += histogram[f, code]


@njit(cache=True)
def _join(codes, feature, slack, rows, hits, local, held, size):  # type: ignore[no-untyped-def]
    """Keep the rows within the slack of a feature that joins as number `size`; return how many."""
    kept = 0
    for at in range(held):
        code = codes[rows[at], feature]
        if slack[size, 0] <= code <= slack[size, 1]:
            rows[kept], hits[kept] = rows[at], hits[at]
            for axis in range(size):
                local[axis, kept] = local[axis, at]
            local[size, kept] = code
            kept += 1
    return kept
