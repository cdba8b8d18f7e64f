"""From a scanned feature set to the one in which its rows stand out most.

The box with the strongest counts may lack a feature of the shift, or owe one to chance. The scores of its rows know
better: a feature of the shift raises them, any other one dilutes them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.features import Groups, columns_of
from shiftscope.full_space.score import nulls_for, usable_k_max
from shiftscope.kernels.anchor_scores import score_anchors
from shiftscope.params import ModeParams

_SETS_MARKED = 1024  # sets that are marked in the columns of the matrix at one time


def best_features(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    features: tuple[int, ...],
    rows: NDArray[np.intp],
    surplus: int,
    k_max: int,
    groups: Groups,
    params: ModeParams,
    closed: frozenset[int] = frozenset(),
) -> tuple[tuple[int, ...], NDArray[np.intp]]:
    """Add or drop one feature after another while the median score of the anchors rises.

    Parameters
    ----------
    points : (n, D) float64
        Pooled matrix.
    is_current : (n,) bool
    features : tuple of int
        Where to start.
    rows : intp array
        Pool positions of the rows in the box, all of the sample in excess.
    surplus : int
        How many of them the other sample does not explain: the anchors are that many, the highest scores first.
    k_max : int
        Largest neighbourhood K_M.
    groups : d tuples of int
        The matrix columns of each feature.
    params : ModeParams
    closed : frozenset of int
        Features that may not join.

    Returns
    -------
    tuple of int
        Features, increasing.
    intp array
        Pool positions of the last anchors.
    """
    field = _Field(points, is_current, rows, surplus, k_max, groups, params)
    best = frozenset(features)
    seen = {best}
    while True:
        anchors, height = field.anchors(best)
        moves = [move for f in range(len(groups)) if f not in closed and (move := best ^ {f}) and move not in seen]
        heights = np.median(field.scores(moves, anchors), axis=1) if moves else np.zeros(1)
        if heights.max() <= height:
            return tuple(sorted(best)), anchors
        best = moves[int(np.argmax(heights))]
        seen.add(best)


def by_strength(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    features: tuple[int, ...],
    rows: NDArray[np.intp],
    k_max: int,
    groups: Groups,
    params: ModeParams,
) -> tuple[int, ...]:
    """The features ordered by how much the median score of `rows` falls without each, most first."""
    if len(features) < 2:
        return features
    field = _Field(points, is_current, rows, rows.size, k_max, groups, params)
    without = np.median(field.scores([frozenset(features) - {feature} for feature in features], rows), axis=1)
    return tuple(features[at] for at in np.argsort(without, kind="stable"))


class _Field:
    """The pool and the rows to look at, arranged for scoring."""

    def __init__(
        self,
        points: NDArray[np.float64],
        is_current: NDArray[np.bool_],
        rows: NDArray[np.intp],
        surplus: int,
        k_max: int,
        groups: Groups,
        params: ModeParams,
    ) -> None:
        self._groups = groups
        self._columns = np.ascontiguousarray(points.T, dtype=np.float32)
        self._labels = is_current.astype(np.uint8)
        n_current = int(is_current.sum())
        nulls = nulls_for(is_current.size - n_current, n_current, usable_k_max(k_max, is_current.size))
        self._table = nulls.tables[int(is_current[rows[0]])]
        self._rows = rows[:: -(-rows.size // params.climbing_rows)]
        self._count = int(np.clip(surplus, min(params.least_rows, params.climbing_anchors), params.climbing_anchors))

    def anchors(self, features: frozenset[int]) -> tuple[NDArray[np.intp], float]:
        """The rows with the highest scores in a feature set, and their median score."""
        scores = self.scores([features], self._rows)[0]
        order = np.argsort(-scores, kind="stable")[: self._count]
        return self._rows[order], float(np.median(scores[order]))

    def scores(self, sets: list[frozenset[int]], anchors: NDArray[np.intp]) -> NDArray[np.float64]:
        """(sets, anchors) scores."""
        scores = np.empty((len(sets), anchors.size))
        for start in range(0, len(sets), _SETS_MARKED):
            some = slice(start, start + _SETS_MARKED)
            chosen = np.zeros((len(sets[some]), len(self._columns)), dtype=np.bool_)
            for row, features in zip(chosen, sets[some], strict=True):
                row[columns_of(self._groups, features)] = True
            score_anchors(self._columns, self._labels, anchors, chosen, self._table, scores[some])
        return scores
