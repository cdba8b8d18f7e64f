"""The neighbour graph of a pool from which points are being taken away."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Engine, Neighbours
from shiftscope.full_space.neighbours import arranged
from shiftscope.full_space.score import Nulls, Scores, nulls_for, usable_k_max, walk
from shiftscope.kernels.score_walk import compact_lists

RESERVE = 8  # lists hold K_M / RESERVE more neighbours than scoring needs, ...
MIN_RESERVE = 32  # ... and at least this many
DEAD_SHARE = 4  # lists among so many times more dead points than a list is long are searched in a new arrangement


class ShrinkingGraph:
    """Lists of the nearest living neighbours, asked for again when removals have used one up.

    Scores, ties and sizes always refer to the living points, exactly as if the dead had never been in the pool.

    Parameters
    ----------
    points : (n, d) float64
    is_current : (n,) bool
    k_max : int
    engine : Engine, optional
    rows : intp array, optional
        Pool positions of the points that have a list; all by default. Neighbours are searched in the whole pool.
    own_position : (n,) intp, optional
        Position of each point in its own sample; by default as the points come.
    progress : callable(fraction), optional
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        is_current: NDArray[np.bool_],
        k_max: int,
        engine: Engine | None = None,
        *,
        rows: NDArray[np.intp] | None = None,
        own_position: NDArray[np.intp] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        n = len(points)
        self.points = points
        self.is_current = is_current
        self.k_max = usable_k_max(k_max, n)
        self.engine = engine
        self.alive = np.ones(n, dtype=np.bool_)
        if own_position is None:
            own_position = np.where(is_current, np.cumsum(is_current), np.cumsum(~is_current)) - 1
        self.own_position = own_position
        self.rows = np.arange(n) if rows is None else np.unique(rows)
        self._list_of = np.full(n, -1, dtype=np.intp)
        self._list_of[self.rows] = np.arange(self.rows.size)
        self._length = min(n - 1, self.k_max + max(MIN_RESERVE, self.k_max // RESERVE))
        self._arranged = arranged(points, self._length, engine)
        self._base = np.arange(n)  # the points that are arranged
        self._first = self._arranged.knn(self._length, None if rows is None else self.rows, progress)
        self._lists, self._origin = self._first, self._arranged

    def living(self) -> NDArray[np.intp]:
        """Pool positions of the living points that have a list."""
        return self.rows[self.alive[self.rows]]

    def living_labels(self) -> NDArray[np.bool_]:
        """Labels of all living points."""
        return self.is_current[self.alive]

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
        """Scores of both samples, as far as they have lists, with their scales; for a graph with nobody removed."""
        nulls = self.nulls()
        values, scales, _ = self._walk(self.rows, nulls)
        current = self.is_current[self.rows]
        return Scores(values[~current], values[current], scales[~current], scales[current], nulls)

    def all_scores(self) -> NDArray[np.float64]:
        """(n,) score of every living point in its own direction; 0 for the dead and those without a list."""
        scores = np.zeros(len(self.points))
        living = self.living()
        scores[living] = self.scores(living, self.nulls())
        return scores

    def scores(self, rows: NDArray[np.intp], nulls: Nulls) -> NDArray[np.float64]:
        """Score of each of `rows` among the living."""
        values, _, complete = self._walk(rows, nulls)
        if not complete.all():
            self._refill(rows[~complete])
            values[~complete], _, _ = self._walk(rows[~complete], nulls)
        return values

    def compact(self) -> Neighbours:
        """Graph of the living alone: K_M neighbours each, positions counted among the living."""
        living = self.living()
        nulls = self.nulls()
        _, _, complete = self._walk(living, nulls)
        if not complete.all():
            self._refill(living[~complete])
        position = (np.cumsum(self.alive) - 1).astype(np.int32)
        index = np.empty((living.size, nulls.current.k_max), dtype=np.int32)
        tied = np.empty(index.shape, dtype=np.bool_)
        compact_lists(self._list_of[living], self._lists.index, self._lists.tied, self.alive, position, index, tied)
        return Neighbours(index, tied)

    def remove(self, rows: NDArray[np.intp]) -> None:
        """Take points away."""
        self.alive[rows] = False

    def restored(self) -> ShrinkingGraph:
        """A graph of its own in which all points live; the first lists are shared."""
        other = copy(self)
        other.alive = np.ones_like(self.alive)
        other._lists, other._arranged, other._base = self._first, self._origin, np.arange(len(self.points))
        return other

    def excess_neighbourhood(self, point: int) -> NDArray[np.intp]:
        """The point and its living neighbours nearer than the first one of the other sample (paper 2.2)."""
        listed, tied = (part[self._list_of[point]] for part in (self._lists.index, self._lists.tied))
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

    def _walk(
        self, rows: NDArray[np.intp], nulls: Nulls
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_]]:
        return walk(self._lists, rows, self._list_of[rows], self.alive, self.is_current, nulls)

    def _refill(self, rows: NDArray[np.intp]) -> None:
        """Replace the lists of `rows` by fresh ones among the living."""
        if self._lists is self._first:  # the first lists are kept, so that points can be brought back
            self._lists = Neighbours(self._first.index.copy(), self._first.tied.copy())
        fresh = self._ask(rows, min(self._length, int(self.alive.sum()) - 1))
        lists = self._list_of[rows]
        width = fresh.index.shape[1]
        self._lists.index[lists, :width] = fresh.index
        self._lists.tied[lists, :width] = fresh.tied
        if width < self._length:  # fewer points live than a list holds: end it with a dead point, never counted
            self._lists.index[lists, width:] = int(np.argmin(self.alive))
            self._lists.tied[lists, width:] = False

    def _ask(self, rows: NDArray[np.intp], length: int) -> Neighbours:
        """Lists of the nearest living points of `rows`.

        The arrangement of the points for searching is kept while few of them are dead: lists that are longer by as many
        hold enough living ones, and one more tells whether the last is tied.
        """
        dead = int(self._base.size - self.alive.sum())
        if dead > DEAD_SHARE * length:
            self._base, dead = np.flatnonzero(self.alive), 0
            self._arranged = arranged(self.points[self._base], length, self.engine)
        place = np.searchsorted(self._base, rows)
        found = self._arranged.knn(min(self._base.size - 1, length + dead + 1), place, None)
        index, tied = np.empty((rows.size, length), np.int32), np.empty((rows.size, length), np.bool_)
        position, alive = self._base.astype(np.int32), self.alive[self._base]
        compact_lists(np.arange(rows.size), found.index, found.tied, alive, position, index, tied)
        return Neighbours(index, tied)
