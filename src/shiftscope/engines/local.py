"""Neighbours on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Neighbours

CHUNK_DISTANCES = 1 << 24


@dataclass(frozen=True)
class LocalEngine:
    """Exact neighbours with the threads of this machine.

    Attributes
    ----------
    n_threads : int, optional
        Threads to use; all cores by default. Results do not depend on it.
    """

    n_threads: int | None = None

    def knn(
        self,
        points: NDArray[np.float64],
        k: int,
        queries: NDArray[np.intp] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Neighbours:
        """Exact k nearest neighbours (see `Engine.knn`)."""
        n = len(points)
        rows = np.arange(n) if queries is None else np.asarray(queries)
        index = np.empty((len(rows), k), dtype=np.int32)
        tied = np.zeros((len(rows), k), dtype=np.bool_)
        step = max(1, CHUNK_DISTANCES // n)
        for start in range(0, len(rows), step):
            chunk = slice(start, start + step)
            index[chunk], tied[chunk] = _brute_force(points, k, rows[chunk])
            if progress is not None:
                progress(min(1.0, (start + step) / len(rows)))
        return Neighbours(index, tied)


def _brute_force(
    points: NDArray[np.float64], k: int, rows: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    squares = np.zeros((len(rows), len(points)))
    for column in points.T:
        squares += (column[rows, None] - column) ** 2
    squares[np.arange(len(rows)), rows] = np.inf
    order = np.argsort(squares, axis=1, kind="stable")[:, : k + 1]
    nearest = np.take_along_axis(squares, order, axis=1)
    tied = np.zeros((len(rows), k), dtype=np.bool_)
    equal = (nearest[:, :-1] == nearest[:, 1:]) & np.isfinite(nearest[:, 1:])
    tied[:, : equal.shape[1]] = equal[:, :k]
    return order[:, :k].astype(np.int32), tied
