"""What every engine delivers: the two samples, encoded, and exact neighbours of pooled points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.engines.binned_rows import BinnedRows
from shiftscope.labellings.labellings import Labellings
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.file_readings import Look
from shiftscope.tables.options import TableOptions
from shiftscope.tables.table import Table

Report = Callable[[float], None]  # told the fraction done, now and then


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


class Index(Protocol):
    """Points arranged for searching; where and how is its own affair, the result is not."""

    def knn(self, k: int, queries: NDArray[np.intp] | None = None, progress: Report | None = None) -> Neighbours:
        """Exact k nearest neighbours of the points, by squared Euclidean distance and then by position.

        Parameters
        ----------
        k : int
            Neighbours per query, 1 <= k <= n - 1.
        queries : (m,) positions of points, optional
            The points to search for; all by default.
        """
        ...

    def nearest(self, k: int, rows: NDArray[np.float64], progress: Report | None = None) -> Neighbours:
        """Exact k nearest points of (m, d) `rows`, which are not among them; 1 <= k <= n."""
        ...


@dataclass(frozen=True)
class Gathered:
    """Which rows of samples too large for one machine are at hand, and what is known of all rows.

    Attributes
    ----------
    reference, current : intp arrays
        Positions in either sample of the rows at hand, increasing.
    n_reference, n_current : int
        Rows of the samples, all of which the scan has counted.
    missing_reference, missing_current : tuple of int
        How many of them lack a value, per column compared.
    """

    reference: NDArray[np.intp]
    current: NDArray[np.intp]
    n_reference: int
    n_current: int
    missing_reference: tuple[int, ...]
    missing_current: tuple[int, ...]

    def swapped(self) -> Gathered:
        """The same with the two samples exchanged."""
        return Gathered(
            reference=self.current,
            current=self.reference,
            n_reference=self.n_current,
            n_current=self.n_reference,
            missing_reference=self.missing_current,
            missing_current=self.missing_reference,
        )


class Pool(Protocol):
    """Both samples, in canonical order (see `encoding.sample_order`)."""

    @property
    def encoded(self) -> Encoded:
        """The rows at hand."""
        ...

    @property
    def flipped(self) -> bool:
        """Whether the order is not that of the user."""
        ...

    @property
    def gathered(self) -> Gathered | None:
        """Which rows are at hand; None if all are."""
        ...

    @property
    def reading(self) -> Look | None:
        """What was understood of the samples, in canonical order; None if they are read where they are."""
        ...

    def binned(self) -> Callable[[Labellings], BinnedRows]:
        """All rows of both samples in bins, to be counted under any labellings."""
        ...

    def tables(self) -> tuple[Table, Table]:
        """Both samples as tables on this machine, in canonical order."""
        ...

    def close(self) -> None:
        """Leave nothing behind elsewhere."""
        ...


@runtime_checkable
class Engine(Protocol):
    """Where rows, counts and neighbours are."""

    def open(self, reference: Any, current: Any, columns: Columns, random_state: int, tables: TableOptions) -> Pool:
        """The two samples, read, encoded and put in order."""
        ...

    def index(self, points: NDArray[np.float64], k: int) -> Index:
        """Arrange (n, d) `points`, finite, for many searches of about `k` neighbours."""
        ...
