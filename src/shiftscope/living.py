"""The neighbour graph of a pool from which points are being taken away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Engine, Neighbours
from shiftscope.kernels.score import compact_lists
from shiftscope.neighbours import neighbours
from shiftscope.score import Nulls, Scores, nulls_for, usable_k_max, walk

RESERVE = 8  # lists hold K_M / RESERVE more neighbours than scoring needs, ...
MIN_RESERVE = 32  # ... and at least this many


class LivingGraph:
    """Lists of the nearest living neighbours, asked for again when removals have used one up.

    Scores, ties and sizes always refer to the living points, exactly as if the dead had never been in the pool.

    Parameters
    ----------
    points : (n, d) float64
    is_current : (n,) bool
    k_max : int
    engine : Engine, optional
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        is_current: NDArray[np.bool_],
        k_max: int,
        engine: Engine | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        n = len(points)
        self.points = points
        self.is_current = is_current
        self.k_max = usable_k_max(k_max, n)
        self.engine = engine
        self.alive = np.ones(n, dtype=np.bool_)
        self.own_position = np.where(is_current, np.cumsum(is_current), np.cumsum(~is_current)) - 1
        self._length = min(n - 1, self.k_max + max(MIN_RESERVE, self.k_max // RESERVE))
        self._lists = neighbours(points, self._length, engine=engine, progress=progress)

    def living(self) -> NDArray[np.intp]:
        """Pool positions of the living points."""
        return np.flatnonzero(self.alive)

    def size(self, side: int) -> int:
        """Number of living points of one sample (label 0 or 1)."""
        return int(np.sum(self.alive & (self.is_current == bool(side))))

    def exhausted(self, least: int) -> bool:
        """Whether a sample has no more than `least` living points."""
        return min(self.size(0), self.size(1)) <= least

    def nulls(self) -> Nulls:
        """Exact nulls for the living sizes."""
        return nulls_for(self.size(0), self.size(1), min(self.k_max, int(self.alive.sum()) - 1))

    def full_scores(self) -> Scores:
        """Scores of both samples with their scales, nobody removed yet."""
        nulls = self.nulls()
        values, scales, _ = walk(self._lists, self.living(), self.alive, self.is_current, nulls)
        current = self.is_current
        return Scores(values[~current], values[current], scales[~current], scales[current], nulls)

    def all_scores(self) -> NDArray[np.float64]:
        """(n,) score of every living point in its own direction; 0 for the dead."""
        scores = np.zeros(len(self.points))
        living = self.living()
        scores[living] = self.scores(living, self.nulls())
        return scores

    def scores(self, rows: NDArray[np.intp], nulls: Nulls) -> NDArray[np.float64]:
        """Score of each of `rows` among the living."""
        values, _, complete = walk(self._lists, rows, self.alive, self.is_current, nulls)
        if not complete.all():
            self._refill(rows[~complete])
            values[~complete], _, _ = walk(self._lists, rows[~complete], self.alive, self.is_current, nulls)
        return values

    def compact(self) -> Neighbours:
        """Graph of the living alone: K_M neighbours each, positions counted among the living."""
        living = self.living()
        nulls = self.nulls()
        _, _, complete = walk(self._lists, living, self.alive, self.is_current, nulls)
        if not complete.all():
            self._refill(living[~complete])
        position = (np.cumsum(self.alive) - 1).astype(np.int32)
        k_max = nulls.current.k_max
        index = np.empty((living.size, k_max), dtype=np.int32)
        tied = np.empty((living.size, k_max), dtype=np.bool_)
        compact_lists(living, self._lists.index, self._lists.tied, self.alive, position, index, tied)
        return Neighbours(index, tied)

    def remove(self, rows: NDArray[np.intp]) -> None:
        """Take points away."""
        self.alive[rows] = False

    def excess_neighbourhood(self, point: int) -> NDArray[np.intp]:
        """The point and its living neighbours nearer than the first one of the other sample (paper 2.2)."""
        listed, tied = self._lists.index[point], self._lists.tied[point]
        length = self._length
        while True:
            alive = self.alive[listed]
            other = alive & (self.is_current[listed] != self.is_current[point])
            if other.any():
                stop = int(np.argmax(other))
                while stop > 0 and tied[stop - 1]:  # as near as the first one of the other sample, not nearer
                    stop -= 1
                return np.append(point, listed[:stop][alive[:stop]]).astype(np.intp)
            if alive.sum() >= self.alive.sum() - 1:
                return np.append(point, listed[alive]).astype(np.intp)
            length = min(2 * length, int(self.alive.sum()) - 1)
            longer = self._ask(np.array([point]), length)
            listed, tied = longer.index[0], longer.tied[0]

    def _refill(self, rows: NDArray[np.intp]) -> None:
        """Replace the lists of `rows` by fresh ones among the living."""
        fresh = self._ask(rows, min(self._length, int(self.alive.sum()) - 1))
        width = fresh.index.shape[1]
        self._lists.index[rows, :width] = fresh.index
        self._lists.tied[rows, :width] = fresh.tied
        if width < self._length:  # fewer points live than a list holds: end it with the row's own dead position
            self._lists.index[rows, width:] = self._dead()
            self._lists.tied[rows, width:] = False

    def _ask(self, rows: NDArray[np.intp], length: int) -> Neighbours:
        living = self.living()
        position = np.cumsum(self.alive) - 1
        found = neighbours(self.points[living], length, queries=position[rows], engine=self.engine)
        return Neighbours(living[found.index].astype(np.int32), found.tied)

    def _dead(self) -> int:
        return int(np.argmin(self.alive))
