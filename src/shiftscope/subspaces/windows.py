"""All windows of all small feature sets: is one sample in excess somewhere, do the cells differ as a whole?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from shiftscope.engines.binned_rows import BinnedRows, WindowTask
from shiftscope.kernels.labels import PACK
from shiftscope.kernels.window_counts import MAX_BINS, unpack_windows
from shiftscope.subspaces.families import Family

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
    counts : (labellings,) int64
        How many of them are in use, best first.
    evidence : (labellings,) float64
        Half deviance of the best of them, or what a window needs to be one.
    """

    sets: NDArray[np.int64]
    boxes: NDArray[np.int64]
    counts: NDArray[np.int64]
    evidence: NDArray[np.float64]


@dataclass(frozen=True)
class WindowScan:
    """What one pass over all sets of one size gives: two families, and seeds for growth."""

    localised: Family
    pooled: Family
    seeds: Seeds


def scan_windows(rows: BinnedRows, sets: NDArray[np.int64], n_seeds: int, rows_per_cell: int) -> WindowScan:
    """Count every set of `sets` (s, size), in lexicographic order, under every labelling; keep `n_seeds` per labelling.

    The localised evidence of a set is that of its best window: half the deviance, minus the log of the number
    of windows of that grid. The broad evidence is minus the log p-value of its largest pooled chi-square.
    """
    labellings, grid = rows.labellings, Grid.fitting(rows.labellings.n_rows, sets.shape[1], rows_per_cell)
    floor = float(np.log(len(sets) * grid.levels / max(_LOOKED_AT, _LOOKED_AT_PER_SEED * n_seeds)))
    counter = np.dtype(np.uint16 if labellings.counted < np.iinfo(np.uint16).max else np.uint32)
    task = WindowTask(sets, grid.finest, floor, grid.price, counter)
    results = [
        _Block.of(grid, sets, floor, n_seeds, *rows.scan_windows(task, pack)) for pack in range(labellings.n_packs)
    ]
    return _collect(sets, results, labellings.n_labellings)


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
class _Block:
    """Reduced results of `PACK` labellings."""

    localised: NDArray[np.float64]  # (s,) labelling 0
    pooled: NDArray[np.float64]  # (s,) labelling 0
    boxes: NDArray[np.int64]  # (s, size, 2) labelling 0
    maxima: NDArray[np.float64]  # (2, PACK) localised and pooled
    seeds: Seeds

    @classmethod
    def of(
        cls,
        grid: Grid,
        sets: NDArray[np.int64],
        floor: float,
        n_seeds: int,
        evidence: NDArray[np.float32],
        window: NDArray[np.int32],
        pooled: NDArray[np.float32],
    ) -> _Block:
        """Keep labelling 0, the maxima and the best `n_seeds` sets of each labelling."""
        size, labellings = sets.shape[1], np.arange(PACK)[:, None]
        best = _largest(evidence[0], min(n_seeds, len(sets)))
        in_use = (evidence[0, best, labellings] > floor).sum(axis=1)
        most = np.maximum(evidence[0].max(axis=0), floor) + grid.price[0]
        seeds = Seeds(sets[best], grid.boxes(window[0, best, labellings], size), in_use, most)
        observed = np.where(evidence[0, :, 0] >= evidence[1, :, 0], window[0, :, 0], window[1, :, 0])
        return cls(
            localised=evidence[:, :, 0].max(axis=0).astype(float),
            pooled=_log_p(pooled[:, 0]),
            boxes=grid.boxes(observed, size),
            maxima=np.stack([np.maximum(evidence.max(axis=(0, 1)), floor), _log_p(pooled.max(axis=0))]),
            seeds=seeds,
        )


def _largest(evidence: NDArray[np.float32], count: int) -> NDArray[np.intp]:
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


def _collect(sets: NDArray[np.int64], blocks: list[_Block], n_labellings: int) -> WindowScan:
    """Put the blocks of labellings back together, without the labellings that only filled the last one."""
    observed, maxima = blocks[0], np.hstack([block.maxima for block in blocks])[:, :n_labellings]
    return WindowScan(
        Family("localised", sets, observed.localised, maxima[0], observed.boxes),
        Family("broad", sets, observed.pooled, maxima[1], None),
        Seeds(
            np.concatenate([block.seeds.sets for block in blocks])[:n_labellings],
            np.concatenate([block.seeds.boxes for block in blocks])[:n_labellings],
            np.concatenate([block.seeds.counts for block in blocks])[:n_labellings],
            np.concatenate([block.seeds.evidence for block in blocks])[:n_labellings],
        ),
    )
