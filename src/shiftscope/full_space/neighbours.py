"""The pooled neighbour graph (paper, section 2.1): which points surround each point, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Engine, Index, Neighbours, Report
from shiftscope.engines.local import LocalEngine
from shiftscope.errors import InputError, ParameterError
from shiftscope.kernels.pair_squares import pair_squares


def neighbours(
    points: NDArray[np.float64],
    k: int,
    *,
    queries: NDArray[np.intp] | None = None,
    engine: Engine | None = None,
    progress: Report | None = None,
) -> Neighbours:
    """Find the k nearest pooled points of each query.

    Distances are d(i, j)^2 = sum_f (x_if - x_jf)^2, summed in float64 in the order of the features;
    equal distances are ordered by position. The result is a function of the points alone: threads,
    chunks and engine do not change it.

    Parameters
    ----------
    points : (n, d) float64
        Pooled, standardised coordinates.
    k : int
        Neighbours per query, 1 <= k <= n - 1.
    queries : (m,) int, optional
        Positions of the rows to search for; all rows by default.
    engine : Engine, optional
        Where to compute; `LocalEngine()` by default.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    Neighbours
        `index` (m, k) and `tied` (m, k).
    """
    index = arranged(points, k, engine)
    return index.knn(int(k), None if queries is None else _checked_queries(queries, len(points)), progress)


def arranged(points: NDArray[np.float64], k: int, engine: Engine | None = None) -> Index:
    """(n, d) points arranged once for many searches of about `k` neighbours."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    _check_points(points)
    _check_k(k, len(points))
    return (engine or LocalEngine()).index(points, int(k))


def pair_distances(
    points: NDArray[np.float64], index: NDArray[np.integer], queries: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Euclidean distances of listed pairs, from the sums that order the neighbours.

    Parameters
    ----------
    points : (n, d) float64
    index : (m, k) int
        Row i lists points of query `queries[i]`.
    queries : (m,) int, optional
        Positions of the query rows; 0..m-1 by default.

    Returns
    -------
    (m, k) float64
    """
    points = np.asarray(points, dtype=np.float64)
    rows = points[: len(index)] if queries is None else points[queries]
    return np.sqrt(pair_squares(rows, points, index))


def _check_points(points: NDArray[np.float64]) -> None:
    if points.ndim != 2 or points.shape[1] < 1:
        raise InputError(f"points must be a table of at least one column, found shape {points.shape}")
    if not np.isfinite(points).all():
        raise InputError("points must be finite, found NaN or infinity: encode missing values first")


def _check_k(k: int, n: int) -> None:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
        raise ParameterError(f"k must be an integer, found {k!r}")
    if n < 2:
        raise InputError(f"neighbours need at least 2 points, found {n}")
    if not 1 <= k <= n - 1:
        raise ParameterError(f"k must lie between 1 and n - 1 = {n - 1}, found {k}: lower it or add rows")


def _checked_queries(queries: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    queries = np.asarray(queries)
    if queries.ndim != 1 or (queries.size and queries.dtype.kind not in "iu"):
        raise ParameterError(
            f"queries must be a vector of row positions, found {queries.dtype} of shape {queries.shape}"
        )
    queries = queries.astype(np.intp)
    if queries.size and not (queries.min() >= 0 and queries.max() < n):
        raise ParameterError(
            f"queries must lie between 0 and n - 1 = {n - 1}, found {queries.min()} to {queries.max()}"
        )
    return queries
