"""Counting the labels in the cells of small feature sets, for many labellings at a time.

A *labelling* is one assignment of the labels to the pooled rows: the observed one or a permutation. `PACK` labellings
are the bits of a word, so that a row is added to its cell under all of them with a few vector instructions. The
rows are visited in the order of the first feature of a set, which keeps the counters of the other features in
the first-level cache, one byte each until one of them is full. Coarser and shifted grids are sums of the finest
cells: however many grids there are, rows are visited once per set.

A *window* is two adjacent cells per feature of one grid, so it overlaps its neighbours by half: the windows
of a grid are the cells of the grid twice as coarse, at every shift by half a cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from shiftscope.kernels.cell_counters import add_words
from shiftscope.kernels.compiling import njit
from shiftscope.kernels.deviance import half_deviance
from shiftscope.kernels.labels import PACK

MAX_SIZE = 3  # the largest feature sets that are counted exhaustively
MAX_BINS = 256  # codes are bytes
MOST_BOUNDED = 1 << 18  # rows of the largest window whose bounds are tabulated
POOLED_CELLS = 512  # pooled chi-squares are taken on grids of at most this many cells
_TILE = 2  # tables filled per pass over the labels; more would not fit the second-level cache
_COORDINATE = 8  # bits of each coordinate in a packed window
_FULL_BYTE = 255
_ROWS_PER_CELL = 4  # if a byte is full after fewer rows than this per cell, tables of bytes are not worth their while


def unpack_windows(window: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Level (...) and first cell along each of three features (..., 3) of packed windows."""
    mask = (1 << _COORDINATE) - 1
    return window >> 3 * _COORDINATE, np.stack(
        [window >> _COORDINATE * axis & mask for axis in range(MAX_SIZE)], axis=-1
    )


@njit(cache=True)
def evidence_bounds(counted: int, thresholds: NDArray[np.float64], xlogx: NDArray[np.float64]) -> NDArray[np.int64]:
    """Counts that reach each threshold of half deviance in a window of n rows: (levels, rows, 2).

    The window passes when its count is below ``[level, n, 0]`` (a deficit) or at least ``[level, n, 1]`` (an
    excess). Both bounds grow by at most one when n does, so one sweep finds them all. The table ends at
    `MOST_BOUNDED` rows; its last line stands for all larger windows, which are few and always pass.
    """
    total = xlogx.shape[0] - 1
    last = min(total, MOST_BOUNDED)
    bounds = np.zeros((thresholds.shape[0], last + 2, 2), np.int64)
    for level in range(thresholds.shape[0]):
        low, high = 0, 0
        for n in range(last + 1):
            least, most, centre = max(0, n + counted - total), min(n, counted), n * counted / total
            low, high = max(low, least), max(high, int(np.ceil(centre)))
            while low < centre and half_deviance(low, n, counted, xlogx) >= thresholds[level]:
                low += 1
            while high <= most and half_deviance(high, n, counted, xlogx) < thresholds[level]:
                high += 1
            bounds[level, n, 0], bounds[level, n, 1] = low, high
    return bounds


def scan_sets(
    codes: NDArray[np.uint8],
    packed: NDArray[np.uint64],
    counter: NDArray[Any],
    sets: NDArray[np.int64],
    first: NDArray[np.int64],
    turns: NDArray[np.int64],
    shift: int,
    counted: int,
    observed: bool,
    floor: float,
    price: NDArray[np.float64],
    bounds: NDArray[Any],
    xlogx: NDArray[np.float64],
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """Best window and pooled chi-square of every feature set under every labelling.

    Parameters
    ----------
    codes : (d, n) uint8
        Fine bin of each pooled row, feature-major.
    packed : (n,) uint64
        Bit l is one where the row belongs to the counted sample of labelling l, which has `counted` rows in each.
    counter : array, only its integer type matters
        Must hold `counted`.
    sets : (s, size) int64
        Feature sets of one size (1, 2 or 3), each increasing, in lexicographic order.
    first : (d + 1,) int64
        ``sets[first[a]:first[a + 1]]`` are those that begin with feature a.
    turns : (features,) int64
        The order in which the first features are handed to the threads (it balances them, no more).
    observed : bool
        Labelling 0 is the observed one, and none of its windows is skipped.
    shift : int
        The finest grid has ``256 >> shift`` bins per feature.
    floor, price, bounds : float, (levels,), (levels, rows, 2)
        Evidence of a window is half its deviance minus the price of its level. Windows below `floor` are
        skipped (`evidence_bounds` of ``floor + price``, in the counters' type, tells them by counts alone).
    xlogx : (n + 1,) float64

    Returns
    -------
    evidence : (2, s, PACK) float32
        Largest evidence among the windows of the set, on the finest grid and on all others; `floor` when
        none reaches it, but lower in an observed labelling 0.
    window : (2, s, PACK) int32
        The window that attains it (see `unpack_windows`), -1 when none reaches the floor.
    pooled : (s, PACK) float32
        Largest pooled chi-square among the grids, as a standard normal deviate.
    """
    evidence = np.full((2, sets.shape[0], PACK), floor, np.float32)
    if observed:
        evidence[:, :, 0] = -np.inf
    window = np.full((2, sets.shape[0], PACK), -1, np.int32)
    pooled = np.full((sets.shape[0], PACK), -np.inf, np.float32)
    _scan_all(
        codes, packed, counter, sets, first, turns, shift, counted, observed, price, bounds, xlogx,
        evidence, window, pooled,
    )  # fmt: skip
    return evidence, window, pooled


@njit(cache=True, parallel=True)
def _scan_all(  # type: ignore[no-untyped-def]
    codes, packed, counter, sets, first, turns, shift, counted, observed, price, bounds, xlogx, evidence, window, pooled
):
    for turn in prange(turns.shape[0]):
        a = turns[turn]
        if first[a] < first[a + 1]:
            _scan_first(
                codes, packed, counter, sets, first[a], first[a + 1], shift, counted, observed, price, bounds, xlogx,
                evidence, window, pooled,
            )  # fmt: skip


@njit(cache=True)
def _scan_first(  # type: ignore[no-untyped-def]
    codes, packed, counter, sets, begin, end, shift, counted, observed, price, bounds, xlogx, evidence, window, pooled
):
    """Scan ``sets[begin:end]``, which begin with the same feature."""
    (d, n), size, first = codes.shape, sets.shape[1], sets[begin, 0]
    bins = MAX_BINS >> shift
    order, starts = order_by_bin(codes[first], shift)
    labels = packed[order]
    others = np.empty((d, n if size > 1 else 0), np.uint8)
    wanted = np.zeros(d, np.bool_)
    for s in range(begin, end):
        for axis in range(1, size):
            wanted[sets[s, axis]] = True
    for f in np.flatnonzero(wanted):
        for r in range(n):
            others[f, r] = codes[f, order[r]] >> shift
    tables = np.empty((_TILE, bins**size, PACK), counter.dtype)
    totals = np.empty((_TILE, bins**size), np.int64)
    for low in range(begin, end, _TILE):
        high = min(low + _TILE, end)
        tables[:], totals[:] = 0, 0
        add_to_tables(labels, others, starts, sets[low:high], bins, tables, totals)
        for s in range(low, high):
            evaluate_tables(
                tables[s - low], totals[s - low], bins, size, counted, observed, price, bounds, xlogx,
                evidence[:, s], window[:, s], pooled[s],
            )  # fmt: skip


@njit(cache=True)
def order_by_bin(codes: NDArray[np.uint8], shift: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Stable order of the rows by bin, and where each bin starts in it: (n,), (bins + 1,)."""
    starts = np.zeros((MAX_BINS >> shift) + 1, np.int64)
    for code in codes:
        starts[(code >> shift) + 1] += 1
    starts = np.cumsum(starts)
    fill = starts.copy()
    order = np.empty(codes.shape[0], np.int64)
    for r in range(codes.shape[0]):
        b = codes[r] >> shift
        order[fill[b]] = r
        fill[b] += 1
    return order, starts


@njit(cache=True)
def add_to_tables(labels, others, starts, sets, bins, tables, totals):  # type: ignore[no-untyped-def]
    """Add rows (totals) and rows of the counted sample (tables, per labelling) to the finest cells of `sets`."""
    inner = bins ** (sets.shape[1] - 1)
    cells = np.empty(labels.shape[0], np.uint16)
    held, narrow = np.empty(inner, np.uint8), np.empty((inner, PACK), np.uint8)
    for block in range(bins):
        start, stop, base = starts[block], starts[block + 1], block * inner
        for s in range(sets.shape[0]):
            inside = cells[start:stop]
            inside[:] = 0
            for axis in range(1, sets.shape[1]):
                _append_feature(inside, others[sets[s, axis], start:stop], np.uint16(bins))
            slab = slice(base, base + inner)
            _count_block(labels[start:stop], inside, held, narrow, tables[s, slab], totals[s, slab])


@njit(cache=True)
def _count_block(labels, cells, held, narrow, table, totals):  # type: ignore[no-untyped-def]
    """Add to one slab of a table: in bytes, which is a fraction of the memory traffic, as long as they hold enough."""
    start = 0
    while start < cells.shape[0]:
        held[:] = 0
        stop = _until_full(cells, start, held)
        if stop < cells.shape[0] and stop - start < _ROWS_PER_CELL * held.shape[0]:  # one cell holds almost all
            for cell in cells[start:]:
                totals[cell] += 1
            add_words(labels[start:], cells[start:], table)
            return
        narrow[:] = 0
        add_words(labels[start:stop], cells[start:stop], narrow)
        for cell in range(held.shape[0]):
            totals[cell] += held[cell]
            _widen(narrow, cell, table)
        start = stop


@njit(cache=True)
def _append_feature(cells, codes, bins):  # type: ignore[no-untyped-def]
    # one contiguous line each, in a function of its own: vector code again
    for r in range(cells.shape[0]):
        cells[r] = np.uint16(cells[r] * bins) + codes[r]


@njit(cache=True)
def _until_full(cells, start, held):  # type: ignore[no-untyped-def]
    """Count the rows of each cell from `start` on, as far as bytes can: the first row that is not counted."""
    for r in range(start, cells.shape[0]):
        if held[cells[r]] == _FULL_BYTE:
            return r
        held[cells[r]] += np.uint8(1)
    return cells.shape[0]


@njit(cache=True)
def _widen(narrow, cell, wide):  # type: ignore[no-untyped-def]
    for labelling in range(PACK):
        wide[cell, labelling] += narrow[cell, labelling]


@njit(cache=True)
def evaluate_tables(  # type: ignore[no-untyped-def]
    table, totals, bins, size, counted, observed, price, bounds, xlogx, evidence, window, pooled
):
    """Look at the pooled chi-squares and all windows of one set, halving the grid from level to level in place."""
    for level in range(price.shape[0]):
        if bins**size <= POOLED_CELLS:
            _pooled(table, totals, bins**size, counted, pooled)
        _add_neighbours(table, totals, bins, size)
        kind = min(level, 1)
        _best_windows(
            table, totals, bins, size, counted, observed, level, price, bounds, xlogx, evidence[kind], window[kind]
        )
        _keep_even(table, totals, bins, size)
        bins //= 2


@njit(cache=True)
def _add_neighbours(table, totals, bins, size):  # type: ignore[no-untyped-def]
    """Turn cells into the windows that begin at them, in place (void in the last cell of each feature)."""
    for axis in range(size):
        stride = bins**axis
        for cell in range(bins**size - stride):
            totals[cell] += totals[cell + stride]
        for cell in range(bins**size - stride):
            _add_cell(table, cell, cell + stride)


@njit(cache=True)
def _add_cell(table, target, source):  # type: ignore[no-untyped-def]
    for labelling in range(PACK):
        table[target, labelling] += table[source, labelling]


@njit(cache=True)
def _best_windows(  # type: ignore[no-untyped-def]
    table, totals, bins, size, counted, observed, level, price, bounds, xlogx, evidence, window
):
    """Update the largest evidence of each labelling with the windows of one grid."""
    for i in range(bins - 1):
        for j in range(bins - 1 if size > 1 else 1):
            for k in range(bins - 1 if size > 2 else 1):
                cell = i if size == 1 else i * bins + j if size == 2 else (i * bins + j) * bins + k
                n, counts = totals[cell], table[cell]
                held = min(n, bounds.shape[1] - 1)
                below, above = bounds[level, held, 0], bounds[level, held, 1]
                passed = False
                for labelling in range(PACK):
                    passed |= (counts[labelling] < below) | (counts[labelling] >= above)
                for labelling in range(PACK if passed else int(observed)):
                    if (observed and labelling == 0) or counts[labelling] < below or counts[labelling] >= above:
                        value = half_deviance(counts[labelling], n, counted, xlogx) - price[level]
                        if value > evidence[labelling]:
                            evidence[labelling] = value
                            window[labelling] = i | j << _COORDINATE | k << 2 * _COORDINATE | level << 3 * _COORDINATE


@njit(cache=True)
def _keep_even(table, totals, bins, size):  # type: ignore[no-untyped-def]
    """Keep the windows at even cells, in place: they are the cells of the grid with half the bins."""
    half = bins // 2
    target = 0
    for i in range(half):
        for j in range(half if size > 1 else 1):
            for k in range(half if size > 2 else 1):
                cell = 2 * (i if size == 1 else i * bins + j if size == 2 else (i * bins + j) * bins + k)
                totals[target] = totals[cell]
                for labelling in range(PACK):
                    table[target, labelling] = table[cell, labelling]
                target += 1


@njit(cache=True)
def _pooled(table, totals, cells, counted, pooled):  # type: ignore[no-untyped-def]
    """Update the largest pooled chi-square of each labelling, as a normal deviate, with one grid.

    X = sum over cells of (k - n p)^2 / (n p q). Its mean and variance over all random labellings are known
    exactly (Dawson 1954); a gamma variable with these moments is made normal by the Wilson-Hilferty cube root.
    """
    total = np.sum(totals[:cells])
    p = counted / total
    chi = np.zeros(PACK)
    used, inverse = 0, 0.0
    for cell in range(cells):
        n = totals[cell]
        if n > 0:
            used += 1
            share, expected = 1 / n, n * p
            inverse += share
            for labelling in range(PACK):
                excess = table[cell, labelling] - expected
                chi[labelling] += excess * excess * share
    if used < 2 or total < 4:
        return
    mean, variance = chi_square_moments(used, inverse, counted, total)
    if variance <= 0:
        return
    ninth = variance / (9 * mean * mean)
    for labelling in range(PACK):
        value = ((chi[labelling] / (p * (1 - p) * mean)) ** (1 / 3) - (1 - ninth)) / np.sqrt(ninth)
        pooled[labelling] = max(pooled[labelling], value)


@njit(cache=True)
def chi_square_moments(cells: int, inverse: float, counted: int, total: int) -> tuple[float, float]:
    """Exact permutation mean and variance of the chi-square of a cells x 2 table (Dawson 1954).

    `inverse` is the sum of 1 / n over the cells, all of which hold rows.
    """
    columns = 1 / counted + 1 / (total - counted)
    v_rows, w_rows = (cells - 1) * (total - cells) / (total - 1), (total * inverse - cells**2) / (total - 2)
    v_columns, w_columns = (total - 2) / (total - 1), (total * columns - 4) / (total - 2)
    mean = total / (total - 1) * (cells - 1)
    variance = 2 * total / (total - 3) * (v_rows - w_rows) * (v_columns - w_columns)
    return mean, variance + total**2 / (total - 1) * w_rows * w_columns
