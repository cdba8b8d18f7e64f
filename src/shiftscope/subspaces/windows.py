"""All windows of all small feature sets: is one sample in excess somewhere, do the cells differ as a whole?"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from shiftscope.engines.base import Report
from shiftscope.engines.binned_rows import BinnedRows, WindowTask
from shiftscope.kernels.labels import PACK
from shiftscope.kernels.window_counts import MAX_BINS, unpack_windows
from shiftscope.subspaces.all_sets import SETS_AT_ONCE, blocks
from shiftscope.subspaces.families import Family, Lines

FINEST = (256, 64, 16)  # most bins per feature for sets of one, two and three features
COARSEST = 4  # the windows of this grid are half the range of a feature
DENSER_TRIPLES = 2  # cells of triples, which are many, hold so many times fewer rows
_LOOKED_AT = 64  # windows per labelling, about, that are evaluated in full: enough to hold the largest
_LOOKED_AT_PER_SEED = 16


@dataclass(frozen=True)
class Seeds:
    """The best window of the finest grid in each of the best sets, for every labelling.

    Attributes
    ----------
    sets : (labellings, n_seeds, size) int64
    boxes : (labellings, n_seeds, size, 2) int64
        First and last fine code along each feature.
    values : (labellings, n_seeds) float32
        Evidence of the windows, falling.
    counts : (labellings,) int64
        How many of them are in use, best first.
    evidence : (labellings,) float64
        Half deviance of the best of them, or what a window needs to be one.
    """

    sets: NDArray[np.int64]
    boxes: NDArray[np.int64]
    values: NDArray[np.float32]
    counts: NDArray[np.int64]
    evidence: NDArray[np.float64]

    def joined(self, other: Seeds) -> Seeds:
        """As many of the best of both."""
        n_seeds = max(self.values.shape[1], other.values.shape[1])
        order = np.argsort(-np.hstack([self.values, other.values]), axis=1, kind="stable")[:, :n_seeds]

        def best(one: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([one, more], axis=1)[np.arange(len(order))[:, None], order]

        return Seeds(
            best(self.sets, other.sets),
            best(self.boxes, other.boxes),
            best(self.values, other.values),
            np.minimum(self.counts + other.counts, n_seeds),
            np.maximum(self.evidence, other.evidence),
        )


@dataclass(frozen=True)
class WindowScan:
    """What one pass over all sets of one size gives: two families, and seeds for growth."""

    localised: Family
    pooled: Family
    seeds: Seeds


def scan_windows(
    rows: BinnedRows, sets: Lines, n_seeds: int, rows_per_cell: int, told: Report | None = None
) -> WindowScan:
    """Count every set of `sets` (s, size), in lexicographic order, under every labelling; keep `n_seeds` per labelling.

    The localised evidence of a set is that of its best window: half the deviance, minus the log of the number
    of windows of that grid. The broad evidence is minus the log p-value of its largest pooled chi-square.
    Sets are counted block by block; of a block, only labelling 0, the maxima and the best sets are kept.
    """
    labellings, grid = rows.labellings, Grid.fitting(rows.labellings.n_rows, sets.shape[1], rows_per_cell)
    floor = float(np.log(len(sets) * grid.levels / max(_LOOKED_AT, _LOOKED_AT_PER_SEED * n_seeds)))
    observed: list[_Observed] = []
    packs: list[_Pack] = []
    for places in blocks(len(sets), SETS_AT_ONCE):
        task = window_task(rows, grid, sets[places], floor)
        found = []
        for pack in range(labellings.n_packs):
            seen, best = _looked_at(grid, task, n_seeds, pack == 0, *rows.scan_windows(task, pack))
            observed += [] if seen is None else [seen]
            found.append(best)
            if told is not None:
                told((places.start + len(task.sets) * (pack + 1) / labellings.n_packs) / len(sets))
        packs = [one.joined(more) for one, more in zip(packs, found, strict=True)] if packs else found
    return _collect(grid, sets, observed, packs, labellings.n_labellings)


def window_task(rows: BinnedRows, grid: Grid, sets: NDArray[np.int64], floor: float) -> WindowTask:
    """Count `sets` on a grid; windows with less evidence than `floor` are skipped."""
    counter = np.dtype(np.uint16 if rows.labellings.counted < np.iinfo(np.uint16).max else np.uint32)
    return WindowTask(sets, grid.finest, floor, grid.price, counter)


@dataclass(frozen=True)
class Grid:
    """Grids of one set size: ``finest >> level`` bins per feature, windows of two bins."""

    finest: int
    levels: int
    price: NDArray[np.float64]  # (levels,) log of the number of windows of a set

    @classmethod
    def fitting(cls, n: int, size: int, rows_per_cell: int) -> Grid:
        """The finest grid that `n` rows can fill, down to the coarsest that makes sense."""
        finest = FINEST[size - 1]
        least = rows_per_cell / (DENSER_TRIPLES if size > 2 else 1)
        while finest > COARSEST and n < least * finest**size:
            finest //= 2
        levels = int(np.log2(finest // COARSEST)) + 1
        return cls(finest, levels, np.array([size * np.log((finest >> level) - 1) for level in range(levels)]))

    def boxes(self, windows: NDArray[np.int32], size: int) -> NDArray[np.int64]:
        """First and last fine code of packed windows along each feature: (...) -> (..., size, 2)."""
        level, begin = unpack_windows(np.maximum(windows, 0))
        width = (MAX_BINS // self.finest) << level.astype(np.int64)
        low = begin[..., :size] * width[..., None]
        return np.stack([low, low + 2 * width[..., None] - 1], axis=-1)


@dataclass(frozen=True)
class _Boxes:
    """Boxes (sets, size, 2) of packed windows, read like an array: numbers of four bytes until they are asked for."""

    grid: Grid
    windows: NDArray[np.int32]
    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return len(self), self.size, 2

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, at: Any, /) -> NDArray[np.int64]:
        return self.grid.boxes(self.windows[at], self.size)


@dataclass(frozen=True)
class _Observed:
    """Evidence of some sets under labelling 0."""

    localised: NDArray[np.float64]
    pooled: NDArray[np.float64]
    windows: NDArray[np.int32]


@dataclass(frozen=True)
class _Pack:
    """Reduced results of `PACK` labellings."""

    maxima: NDArray[np.float64]  # (2, PACK) localised and pooled
    seeds: Seeds

    def joined(self, other: _Pack) -> _Pack:
        """Of the sets of both."""
        return _Pack(np.maximum(self.maxima, other.maxima), self.seeds.joined(other.seeds))


def _looked_at(
    grid: Grid,
    task: WindowTask,
    n_seeds: int,
    observed: bool,
    evidence: NDArray[np.float32],
    window: NDArray[np.int32],
    pooled: NDArray[np.float32],
) -> tuple[_Observed | None, _Pack]:
    """Labelling 0, if it is the observed one; the maxima and the best `n_seeds` sets of each labelling."""
    (count, size), labellings = task.sets.shape, np.arange(PACK)[:, None]
    best = largest(evidence[0], min(n_seeds, count))
    values = evidence[0, best, labellings]
    boxes = grid.boxes(window[0, best, labellings], size)
    most = np.maximum(evidence[0].max(axis=0), task.floor) + grid.price[0]
    seeds = Seeds(task.sets[best], boxes, values, (values > task.floor).sum(axis=1), most)
    maxima = np.stack([np.maximum(evidence.max(axis=(0, 1)), task.floor), _log_p(pooled.max(axis=0))])
    if not observed:
        return None, _Pack(maxima, seeds)
    windows = np.where(evidence[0, :, 0] >= evidence[1, :, 0], window[0, :, 0], window[1, :, 0])
    return _Observed(evidence[:, :, 0].max(axis=0).astype(float), _log_p(pooled[:, 0]), windows), _Pack(maxima, seeds)


def largest(evidence: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Positions of the `count` largest values of each column, best first: (columns, count)."""
    if count == 0:
        return np.empty((evidence.shape[1], 0), np.intp)
    least = np.negative(evidence.T, order="C")  # a column lies in one piece: several times as fast
    ahead = np.argpartition(least, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(least, ahead, axis=1), axis=1, kind="stable")
    return np.take_along_axis(ahead, order, axis=1)


def _log_p(deviate: NDArray[np.float32]) -> NDArray[np.float64]:
    """Minus the log of the upper tail of standard normal deviates."""
    return np.asarray(-log_ndtr(-deviate.astype(float)))


def _collect(grid: Grid, sets: Lines, observed: list[_Observed], packs: list[_Pack], n_labellings: int) -> WindowScan:
    """Put sets and labellings back together, without the labellings that only filled the last pack."""
    maxima = np.hstack([pack.maxima for pack in packs])[:, :n_labellings]
    localised, pooled, windows = (
        np.concatenate([getattr(part, name) for part in observed]) for name in ("localised", "pooled", "windows")
    )
    kept = (
        np.concatenate([getattr(pack.seeds, field.name) for pack in packs])[:n_labellings] for field in fields(Seeds)
    )
    return WindowScan(
        Family("localised", sets, localised, maxima[0], _Boxes(grid, windows, sets.shape[1])),
        Family("broad", sets, pooled, maxima[1], None),
        Seeds(*kept),
    )
