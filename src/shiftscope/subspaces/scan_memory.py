"""Memory that a scan takes at most, told before it begins."""

from __future__ import annotations

from math import comb

from numba import get_num_threads

from shiftscope.kernels.box_growth import BOX_BINS
from shiftscope.kernels.labels import PACK
from shiftscope.kernels.window_counts import MAX_BINS
from shiftscope.params import ScanParams
from shiftscope.subspaces.all_sets import SETS_AT_ONCE
from shiftscope.subspaces.contrasts import COVARIANCE_ROWS, SUMS_AT_ONCE

_PER_SET = 64  # bytes kept of every set, and again while parts are put together and ranked
_PER_SET_IN_BLOCK = 36 * PACK  # evidence, windows and deviates of a pack, and what finds the largest
_PER_SUM, _PER_SET_OF_TERMS = 16, 500  # sums, and what tells which terms belong to a set
_PER_LIMIT = 48  # bytes of each of the 256 limits of a feature, while they are made


def scan_bytes(n: int, d: int, sizes: range, n_labellings: int, params: ScanParams) -> int:
    """Bytes that scanning `n` rows and `d` features takes at most, on as many threads as there are.

    sizes : of the sets that are counted
    n_labellings : of one block
    """
    threads, paired = int(get_num_threads()), min(d, params.max_pairs)
    sets = sum(comb(d if size == 1 else paired, size) for size in sizes)
    kept = n * d + _PER_LIMIT * MAX_BINS * d + n * n_labellings // 8 + 24 * n + _PER_SET * sets
    windows = _PER_SET_IN_BLOCK * min(sets, SETS_AT_ONCE) + threads * n * (paired + 32)
    sums = min(sets * n_labellings, SUMS_AT_ONCE)
    contrasts = _PER_SUM * sums + _PER_SET_OF_TERMS * (sums // n_labellings) + 4 * d * min(n, COVARIANCE_ROWS[1])
    words = -(-n // 64)
    grown = 2 * n * d + 8 * (BOX_BINS + 1) * d * (words + threads)
    pairs = 24 * paired**2
    return kept + max(windows, contrasts, grown, pairs)
