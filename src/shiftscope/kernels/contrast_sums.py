"""Sums behind the broad contrasts, in whole numbers or in one fixed order: the same to the last bit on any machine.

No matrix library has a part in them: the last digits of its products change with its threads.
"""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.labels import PACK

TERM_UNIT = 2.0**16  # a term counts in units of 2**-16
_ROWS = 128  # rows summed in 32 bits: three normal scores of a billion rows multiply to less than 2**8
_TERMS = 32  # terms that share the unpacked labels
_ROWS_ADDED = 8  # rows added at once


@njit(cache=True, parallel=True, nogil=True)
def add_term_sums(
    start: int,
    stop: int,
    codes: NDArray[np.uint8],
    scores: NDArray[np.float32],
    packed: NDArray[np.uint64],
    terms: NDArray[np.int64],
    counted: NDArray[np.int64],
    total: NDArray[np.int64],
) -> None:
    """Add the terms of some rows, each rounded to whole units, to their sums.

    Parameters
    ----------
    start, stop : int
        The rows.
    codes : (d, n) uint8
    scores : (d, 256) float32
        Normal score of each code.
    packed : (packs, n) uint64
        Labels: bit l of pack w is that of labelling 64 w + l.
    terms : (t, 3) int64
        Features multiplied, d standing for the constant 1.
    counted : (t, 64 * packs) int64, total : (t,) int64
        Sums over the rows that each labelling counts, and over all rows.
    """
    width = PACK * packed.shape[0]
    for chunk in prange((terms.shape[0] + _TERMS - 1) // _TERMS):
        first, last = chunk * _TERMS, min((chunk + 1) * _TERMS, terms.shape[0])
        masks, values = np.zeros((_ROWS, width), np.int32), np.zeros(_ROWS, np.int32)
        sums = np.empty(width, np.int32)
        for low in range(start, stop, _ROWS):
            high = min(low + _ROWS, stop)
            _unpack(packed, low, high, masks)
            for term in range(first, last):
                total[term] += _values(codes, scores, terms[term], low, high, values)
                _add_masked(values, masks, high - low, sums)
                for labelling in range(width):
                    counted[term, labelling] += sums[labelling]


@njit(cache=True, nogil=True)
def _unpack(packed, low, high, masks):  # type: ignore[no-untyped-def]
    """All bits of a mask are one where the row is counted."""
    for row in range(low, high):
        for word in range(packed.shape[0]):
            bits = packed[word, row]
            for bit in range(PACK):
                masks[row - low, word * PACK + bit] = -np.int32((bits >> np.uint64(bit)) & np.uint64(1))


@njit(cache=True, nogil=True)
def _values(codes, scores, term, low, high, values):  # type: ignore[no-untyped-def]
    """One term in whole units, row by row, and its sum."""
    total = np.int64(0)
    values[:] = 0
    for row in range(low, high):
        value = TERM_UNIT
        for factor in range(term.shape[0]):
            if term[factor] < codes.shape[0]:
                value *= np.float64(scores[term[factor], codes[term[factor], row]])
        whole = np.int32(np.rint(value))
        values[row - low] = whole
        total += whole
    return total


@njit(cache=True, nogil=True)
def _add_masked(values, masks, rows, sums):  # type: ignore[no-untyped-def]
    """Sums of the values of the counted rows; the values beyond `rows` are zero."""
    sums[:] = 0
    for row in range(0, rows, _ROWS_ADDED):
        a, b, c, d = values[row], values[row + 1], values[row + 2], values[row + 3]
        e, f, g, h = values[row + 4], values[row + 5], values[row + 6], values[row + 7]
        for labelling in range(sums.shape[0]):
            sums[labelling] += (
                (a & masks[row, labelling])
                + (b & masks[row + 1, labelling])
                + (c & masks[row + 2, labelling])
                + (d & masks[row + 3, labelling])
                + (e & masks[row + 4, labelling])
                + (f & masks[row + 5, labelling])
                + (g & masks[row + 6, labelling])
                + (h & masks[row + 7, labelling])
            )


@njit(cache=True, parallel=True, nogil=True)
def term_moments(
    codes: NDArray[np.uint8], scores: NDArray[np.float32], terms: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of the terms of each set over some rows, and means of their products, row after row.

    codes : (d, n), scores : (d, 256), terms : (s, t, 3) -> (s, t) and (s, t, t)
    """
    n, (n_sets, size) = codes.shape[1], terms.shape[:2]
    means, squares = np.zeros((n_sets, size)), np.zeros((n_sets, size, size))
    for s in prange(n_sets):
        values = np.empty(size)
        for row in range(n):
            for at in range(size):
                value = 1.0
                for factor in range(terms.shape[2]):
                    if terms[s, at, factor] < codes.shape[0]:
                        feature = terms[s, at, factor]
                        value *= np.float64(scores[feature, codes[feature, row]])
                values[at] = value
                means[s, at] += value
            for i in range(size):
                for j in range(size):
                    squares[s, i, j] += values[i] * values[j]
        for i in range(size):
            means[s, i] /= n
            for j in range(size):
                squares[s, i, j] /= n
    return means, squares


@njit(cache=True, parallel=True, nogil=True)
def squared_lengths(
    whitening: NDArray[np.float64], columns: NDArray[np.int64], sums: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Squared length of each set's whitened sums under every labelling.

    whitening : (s, t, t), columns : (s, t) the sums of each set, sums : (terms, labellings) -> (s, labellings)
    """
    n_sets, size = columns.shape
    out = np.zeros((n_sets, sums.shape[1]))
    for s in prange(n_sets):
        length = np.empty(sums.shape[1])
        for i in range(size):
            length[:] = 0.0
            for j in range(size):
                weight, column = whitening[s, i, j], columns[s, j]
                for labelling in range(sums.shape[1]):
                    length[labelling] += weight * sums[column, labelling]
            for labelling in range(sums.shape[1]):
                out[s, labelling] += length[labelling] * length[labelling]
    return out
