"""Counting numbers by the leading bits of a key that orders them: tables that add up over parts of the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit

KEY_BITS = 64
_SIGN = np.uint64(1 << 63)
_ALL = ~np.uint64(0)


def tally_keys(
    values: NDArray[np.float64], prefixes: NDArray[np.uint64], known: int, bits: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Rows, smallest and largest key of each bucket: of all keys with the same leading `known + bits` bits.

    Parameters
    ----------
    values : (n,) float64
        No NaN; -inf, a missing value, is passed over.
    prefixes : (p,) uint64
        Leading `known` bits of the keys that are looked at, increasing; the one number 0 if `known` is 0.
    known, bits : int
        ``0 < known + bits <= 64``.

    Returns
    -------
    three (b,) arrays
        Of the buckets that hold values, increasing.
    """
    size = len(prefixes) << bits
    counts = np.zeros(size, np.int64)  # memory that is never touched is never paid for: most buckets are empty
    least, high = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    _tally(values, prefixes, known, bits, counts, least, high)
    held = np.flatnonzero(counts)
    return counts[held], ~least[held], high[held]


@njit(cache=True)
def _tally(
    values: NDArray[np.float64],
    prefixes: NDArray[np.uint64],
    known: int,
    bits: int,
    counts: NDArray[np.int64],
    least: NDArray[np.uint64],
    high: NDArray[np.uint64],
) -> None:
    """Fill tables of zeros: rows, inverse of the smallest key, largest key."""
    shift, rest, last = np.uint64(KEY_BITS - known - bits), np.uint64(bits), np.uint64((1 << bits) - 1)
    for row in range(len(values)):
        if values[row] == -np.inf:
            continue
        key = key_of(values[row])
        lead = key >> shift
        at = 0
        if known > 0:
            prefix = lead >> rest
            at = np.searchsorted(prefixes, prefix)
            if at == len(prefixes) or prefixes[at] != prefix:
                continue
        bucket = (at << bits) + np.int64(lead & last)
        counts[bucket] += 1
        least[bucket] = max(least[bucket], ~key)
        high[bucket] = max(high[bucket], key)


@njit(cache=True)
def chosen_keys(values: NDArray[np.float64], prefixes: NDArray[np.uint64], known: int) -> NDArray[np.uint64]:
    """Keys, in the order of the rows, of the values whose leading `known` bits (at least 1) are among `prefixes`."""
    found = np.empty(len(values), np.uint64)
    count, shift = 0, np.uint64(KEY_BITS - known)
    for row in range(len(values)):
        if values[row] == -np.inf:
            continue
        key = key_of(values[row])
        prefix = key >> shift
        at = np.searchsorted(prefixes, prefix)
        if at < len(prefixes) and prefixes[at] == prefix:
            found[count] = key
            count += 1
    return found[:count].copy()


@njit(cache=True)
def key_of(value: float) -> np.uint64:
    """A whole number in the order of the values: all bits of a negative one inverted, the sign of the others set."""
    key = np.float64(value + 0.0).view(np.uint64)  # -0.0 is 0.0
    return key ^ (_ALL if key & _SIGN else _SIGN)


def values_of(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The values that have these keys."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
