"""Which rows the search of the full space looks at, and what that means for the others.

The cost of all neighbourhoods grows with the square of the number of rows. Above a budget only some rows, drawn at
random from both samples, have their neighbourhood looked at, in the whole pool: the *design*. Within the design and
outside of it the labels are as exchangeable as before, so the verdict remains exact. The other rows are scored by
their neighbours in the design.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Engine
from shiftscope.full_space.neighbours import neighbours_of
from shiftscope.full_space.score import Nulls, Scores
from shiftscope.kernels.score import score_lists

CHUNK_ROWS = 1 << 15  # rows whose neighbour lists are held at once


@dataclass(frozen=True)
class Design:
    """The rows whose neighbourhoods are looked at.

    Attributes
    ----------
    rows : (m,) intp
        Pool positions, increasing.
    n_rows : int
        Rows of the pool.
    """

    rows: NDArray[np.intp]
    n_rows: int

    @property
    def whole(self) -> bool:
        """Whether all rows are in it."""
        return self.rows.size == self.n_rows

    @property
    def others(self) -> NDArray[np.intp]:
        """Pool positions of the rows outside."""
        outside = np.ones(self.n_rows, dtype=np.bool_)
        outside[self.rows] = False
        return np.flatnonzero(outside)

    @property
    def order(self) -> NDArray[np.intp]:
        """(n,) pool positions, those of the design first."""
        return np.concatenate([self.rows, self.others])

    def within(self, pool: NDArray[np.intp]) -> Design:
        """The design of a part of the pool, given by increasing pool positions."""
        return Design(np.flatnonzero(np.isin(pool, self.rows, assume_unique=True)), pool.size)


def draw_design(n_reference: int, n_current: int, most: int, random_state: int) -> Design:
    """All rows if they are no more than `most`, else as many of both samples as possible, chosen at random.

    Equal numbers tell most about a difference; a sample with fewer rows than its half takes part as a whole.
    """
    n = n_reference + n_current
    if n <= most:
        return Design(np.arange(n), n)
    rng = np.random.default_rng([random_state, most])
    few_current = min(n_current, max(most // 2, most - n_reference))
    reference = rng.choice(n_reference, most - few_current, replace=False)
    current = n_reference + rng.choice(n_current, few_current, replace=False)
    return Design(np.sort(np.concatenate([reference, current])), n)


def score_all(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    design: Design,
    scores: Scores,
    *,
    engine: Engine | None = None,
    progress: Callable[[float], None] | None = None,
) -> Scores:
    """Scores of all rows of the pool, from those of the design: the others see their neighbours in the design.

    Neighbour lists are dropped as soon as their rows are scored.
    """
    if design.whole:
        return scores
    values, scales = np.empty(len(points)), np.empty(len(points), dtype=np.int32)
    own = is_current[design.rows]
    for sample, found, scale in (
        (own, scores.current, scores.scale_current),
        (~own, scores.reference, scores.scale_reference),
    ):
        values[design.rows[sample]], scales[design.rows[sample]] = found, scale
    others, seen = design.others, points[design.rows]
    for start in range(0, others.size, CHUNK_ROWS):
        rows = others[start : start + CHUNK_ROWS]
        values[rows], scales[rows] = _scored(points[rows], is_current[rows], seen, own, scores.nulls, engine)
        if progress is not None:
            progress((start + rows.size) / others.size)
    return Scores(values[~is_current], values[is_current], scales[~is_current], scales[is_current], scores.nulls)


def _scored(
    rows: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    points: NDArray[np.float64],
    label: NDArray[np.bool_],
    nulls: Nulls,
    engine: Engine | None,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Scores and scales of rows with their neighbours among labelled points."""
    graph = neighbours_of(rows, points, nulls.current.k_max, engine=engine)
    labels = np.concatenate([label, is_current]).astype(np.uint8)  # the rows themselves stand behind the points
    places = len(points) + np.arange(len(rows))
    values, scales = np.empty(len(rows)), np.empty(len(rows), dtype=np.int32)
    complete, alive = np.empty(len(rows), dtype=np.bool_), np.ones(labels.size, dtype=np.bool_)
    lists = np.arange(len(rows))
    score_lists(places, lists, graph.index, graph.tied, alive, labels, nulls.tables, values, scales, complete)
    return values, scales
