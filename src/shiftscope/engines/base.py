"""What every engine delivers: exact neighbours of pooled points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Neighbours:
    """The k nearest points of each query, nearest first.

    Attributes
    ----------
    index : (m, k) int32
        Positions in `points`. The query itself is never listed (it is dropped by position: duplicates
        of a row are its neighbours). Equal distances are ordered by position.
    tied : (m, k) bool
        `tied[i, j]`: neighbour j is exactly as far as neighbour j + 1. In the last column, neighbour
        j + 1 is the (k+1)-th nearest, which is not listed (False when there is none).
    """

    index: NDArray[np.int32]
    tied: NDArray[np.bool_]


@runtime_checkable
class Engine(Protocol):
    """Computes neighbours; where and how is its own affair, the result is not."""

    def knn(
        self,
        points: NDArray[np.float64],
        k: int,
        queries: NDArray[np.intp] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Neighbours:
        """Exact k nearest neighbours, by squared Euclidean distance and then by position.

        Parameters
        ----------
        points : (n, d) float64
            Finite coordinates.
        k : int
            Neighbours per query, 1 <= k <= n - 1.
        queries : (m,) positions in `points`, optional
            The rows to search for; all rows by default.
        progress : callable, optional
            Called now and then with the fraction done.
        """
        ...

    def nearest(
        self,
        points: NDArray[np.float64],
        k: int,
        rows: NDArray[np.float64],
        progress: Callable[[float], None] | None = None,
    ) -> Neighbours:
        """Exact k nearest of (n, d) `points` to each of (m, d) `rows`, which are not among them; 1 <= k <= n."""
        ...
