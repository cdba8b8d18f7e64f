"""Sums of doubles without any rounding, so that they are the same for any order of rows and any cut into parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNIT = 1127  # sums are whole numbers of 2**-UNIT, of which every double is a multiple
VALUES_AT_ONCE = 1 << 16  # their sums by exponent are exact in doubles, and they fit in the cache
_HIGH, _LOW = 27, 26  # bits of the two halves of a double's fraction


def exact_sum(values: NDArray[np.float64]) -> int:
    """The sum of finite (n,) values, in units of ``2**-UNIT``.

    Fractions of equal exponent are added up as whole numbers, in two halves of 27 and 26 bits.
    """
    total = 0
    for start in range(0, len(values), VALUES_AT_ONCE):
        fraction, exponent = np.frexp(values[start : start + VALUES_AT_ONCE])
        fraction = np.ldexp(fraction, _HIGH)
        high = np.floor(fraction)
        least = int(exponent.min())
        place = exponent - least
        highs, lows = np.bincount(place, weights=high), np.bincount(place, weights=fraction - high)
        for at in np.flatnonzero((highs != 0) | (lows != 0)).tolist():
            whole = (int(highs[at]) << _LOW) + int(lows[at] * 2**_LOW)
            total += whole << (least + at + UNIT - _HIGH - _LOW)
    return total


def exact_mean(total: int, count: int, exponent: int = 0) -> float:
    """The mean of `count` values with this sum, times ``2**-exponent``, rounded once."""
    shift = UNIT + exponent
    return total / (count << shift) if shift >= 0 else (total << -shift) / count
