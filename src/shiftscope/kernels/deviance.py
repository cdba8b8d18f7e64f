"""Half the deviance of the labels inside against outside a region: the evidence that all counts of rows rest on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shiftscope.kernels.compiling import njit


@njit(cache=True)
def half_deviance(k: int, n: int, counted: int, xlogx: NDArray[np.float64]) -> float:
    """Half the deviance of a window with `k` of its `n` rows in the counted sample (a 2 x 2 table).

    D / 2 = sum over the four counts of (count log count) - the same over the margins + N log N; for a
    window much smaller than the pool this is the deviance of k under Binomial(n, counted / N), and
    exp(-D / 2) bounds its tail (Chernoff). ``xlogx[i] = i log i`` for i = 0..N.
    """
    total = xlogx.shape[0] - 1
    inside = xlogx[k] + xlogx[n - k] - xlogx[n]
    outside = xlogx[counted - k] + xlogx[total - n - counted + k] - xlogx[total - n]
    return float(inside + outside - xlogx[counted] - xlogx[total - counted] + xlogx[total])


def half_deviances(k: ArrayLike, n: ArrayLike, counted: int, total: int) -> NDArray[np.float64]:
    """`half_deviance` of many regions, of any shape, without a table: `k` of their `n` rows in the counted sample."""
    k, n = np.asarray(k), np.asarray(n)
    inside = _xlogx(k) + _xlogx(n - k) - _xlogx(n)
    outside = _xlogx(counted - k) + _xlogx(total - n - counted + k) - _xlogx(total - n)
    return np.asarray(inside + outside - _xlogx(counted) - _xlogx(total - counted) + _xlogx(total))


def xlogx(n: int) -> NDArray[np.float64]:
    """``i log i`` for i = 0..n."""
    return _xlogx(np.arange(n + 1.0))


def _xlogx(counts: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))
