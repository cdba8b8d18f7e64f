"""What the scan asks of the binned rows, wherever they are, and the answer of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.bins import Bins, BinTables
from shiftscope.engines.term_sums import Terms, TermSums, term_sums
from shiftscope.kernels.window_counts import MAX_BINS, evidence_bounds, scan_sets
from shiftscope.labellings.labellings import Labellings

WindowEvidence = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True)
class WindowTask:
    """All windows of some feature sets of one size.

    Attributes
    ----------
    sets : (s, size) int64
        In lexicographic order.
    finest : int
        Bins per feature of the finest grid.
    floor, price
        See `scan_sets`.
    counter : dtype
        Of the counters.
    """

    sets: NDArray[np.int64]
    finest: int
    floor: float
    price: NDArray[np.float64]
    counter: np.dtype[Any]

    def bounds(self, counted: int, table: NDArray[np.float64]) -> NDArray[Any]:
        """Bounds of `scan_sets` for so many counted rows; `table` is ``i log i``."""
        return np.asarray(evidence_bounds(counted, self.floor + self.price, table), dtype=self.counter)

    @property
    def shift(self) -> int:
        """Bits by which codes are shortened to bins of the finest grid."""
        return int(np.log2(MAX_BINS // self.finest))


class BinnedRows(Protocol):
    """Pooled rows with their codes and labels; how they are cut and where they are is their own affair."""

    @property
    def tables(self) -> BinTables:
        """What the codes stand for."""
        ...

    @property
    def labellings(self) -> Labellings:
        """The labellings."""
        ...

    def scan_windows(self, task: WindowTask, pack: int) -> WindowEvidence:
        """Best window and pooled chi-square of every set under the 64 labellings of a pack (see `scan_sets`)."""
        ...

    def term_sums(self, terms: Terms) -> TermSums:
        """Sums of terms over all rows."""
        ...

    def take(self, rows: NDArray[np.intp] | None) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
        """Codes (d, m) and labels (packs, m) of some pool positions, increasing; of all rows if None."""
        ...

    def inside(self, features: tuple[int, ...], box: NDArray[np.int64]) -> NDArray[np.intp]:
        """Pool positions, increasing, of the rows whose codes lie in a box (size, 2), ends included."""
        ...

    def cells(
        self, features: tuple[int, ...], limits: list[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Cells that hold rows (as one number each), their rows, and those of the counted sample as observed.

        limits : first code of each cell along each feature, increasing
        """
        ...


@dataclass(frozen=True)
class LocalRows:
    """All rows in the memory of this machine.

    Attributes
    ----------
    bins : Bins
    labellings : Labellings
    packed : (packs, n) uint64
        Labels of all labellings.
    """

    bins: Bins
    labellings: Labellings
    packed: NDArray[np.uint64]

    @classmethod
    def of(cls, bins: Bins, labellings: Labellings) -> LocalRows:
        """Draw the labels."""
        return cls(bins, labellings, labellings.packed())

    @property
    def tables(self) -> BinTables:
        """What the codes stand for."""
        return self.bins.tables

    def scan_windows(self, task: WindowTask, pack: int) -> WindowEvidence:
        """Count and look at one set after the other, on all cores."""
        n_features, labellings = self.bins.n_features, self.labellings
        first = np.searchsorted(task.sets[:, 0], np.arange(n_features + 1)).astype(np.int64)
        counter, bounds = np.zeros(1, task.counter), task.bounds(labellings.counted, labellings.xlogx)
        return scan_sets(
            self.bins.codes, self.packed[pack], counter, task.sets, first, _turns(task.sets[:, 0]), task.shift,
            labellings.counted, pack == 0, task.floor, task.price, bounds, labellings.xlogx,
        )  # fmt: skip

    def term_sums(self, terms: Terms) -> TermSums:
        """Sums of terms over all rows."""
        return term_sums(self.bins.codes, self.tables, self.packed, self.labellings.n_labellings, terms)

    def take(self, rows: NDArray[np.intp] | None) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
        """Codes and labels of some rows."""
        return (self.bins.codes, self.packed) if rows is None else (self.bins.codes[:, rows], self.packed[:, rows])

    def inside(self, features: tuple[int, ...], box: NDArray[np.int64]) -> NDArray[np.intp]:
        """Pool positions of the rows in a box."""
        return rows_inside(self.bins.codes, features, box)

    def cells(
        self, features: tuple[int, ...], limits: list[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Cells that hold rows, their rows and their counted rows."""
        return cell_counts(self.bins.codes, self.packed, features, limits)


def rows_inside(codes: NDArray[np.uint8], features: tuple[int, ...], box: NDArray[np.int64]) -> NDArray[np.intp]:
    """Positions of the rows of `codes` (d, n) that lie in a box."""
    chosen = codes[list(features)]
    return np.flatnonzero(np.all((chosen >= box[:, :1]) & (chosen <= box[:, 1:]), axis=0))


def cell_counts(
    codes: NDArray[np.uint8], packed: NDArray[np.uint64], features: tuple[int, ...], limits: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cells that hold rows of `codes` (d, n), their rows, and those that labelling 0 counts."""
    along = [np.searchsorted(low, codes[f], side="right") - 1 for f, low in zip(features, limits, strict=True)]
    grid = tuple(len(low) for low in limits)
    cells, cell = np.unique(np.ravel_multi_index(tuple(along), grid), return_inverse=True)
    counted = np.bincount(cell, weights=packed[0] & np.uint64(1), minlength=len(cells))
    return cells.astype(np.int64), np.bincount(cell, minlength=len(cells)), counted.astype(np.int64)


def _turns(first: NDArray[np.int64]) -> NDArray[np.int64]:
    """First features in an order whose halves have about the same number of sets: 0 3 4 7 ... 1 2 5 6 ..."""
    features = np.unique(first)
    return features[np.argsort((np.arange(len(features)) + 1) // 2 % 2, kind="stable")]
