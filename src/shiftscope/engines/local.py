"""The engine of this machine: all rows in its memory, and its threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.bins import bin_features
from shiftscope.encoding.encode import Encoded, encode
from shiftscope.encoding.sample_order import canonical
from shiftscope.engines.binned_rows import LocalRows
from shiftscope.engines.local_neighbours import Layout, LocalIndex
from shiftscope.labellings.labellings import Labellings
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.file_readings import Look
from shiftscope.tables.options import TableOptions
from shiftscope.tables.table import Table, read_pair


@dataclass(frozen=True)
class LocalEngine:
    """Everything on this machine.

    Attributes
    ----------
    n_threads : int, optional
        Threads that search for neighbours; all available cores by default.
    layout : Layout, optional
        By default the fastest one for the size of the task. Results depend on neither.
    """

    n_threads: int | None = None
    layout: Layout | None = None

    def open(
        self, reference: Any, current: Any, columns: Columns, random_state: int, tables: TableOptions
    ) -> LocalPool:
        """The two samples; nothing is left to chance here."""
        pair = read_pair(reference, current, columns, tables)
        encoded, flipped = canonical(encode(*pair.tables, columns))
        pair = pair.swapped() if flipped else pair
        return LocalPool(encoded, flipped, pair.tables, pair.reading)

    def index(self, points: NDArray[np.float64], k: int) -> LocalIndex:
        """Arrange (n, d) `points` once for many searches of about `k` neighbours."""
        return LocalIndex.of(points, k, self.n_threads, self.layout)


@dataclass(frozen=True)
class LocalPool:
    """Both samples in memory (see `engines.base.Pool`); `read` are the tables they came from."""

    encoded: Encoded
    flipped: bool
    read: tuple[Table, Table]
    reading: Look | None = None
    gathered: None = None

    def binned(self) -> Callable[[Labellings], LocalRows]:
        """All rows in bins."""
        bins = bin_features(self.encoded.ranked, self.encoded.categories)
        return lambda labellings: LocalRows.of(bins, labellings)

    def tables(self) -> tuple[Table, Table]:
        """Both samples as they were read."""
        return self.read

    def close(self) -> None:
        """Nothing is anywhere else."""
