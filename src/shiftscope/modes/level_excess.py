"""From a level that one sample has in excess to the combination of levels that tells it best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.deviance import half_deviances


def sharpen(
    ranked: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    categories: NDArray[np.bool_],
    features: tuple[int, ...],
    rows: NDArray[np.intp],
    closed: frozenset[int] = frozenset(),
) -> tuple[tuple[int, ...], NDArray[np.intp]]:
    """Add one level, or one missing value, after another while the counts tell more.

    The evidence of a group of rows is half the deviance of its labels. Of all levels of the other features, the one
    whose rows have most evidence joins if that is more than before by the log of the number of levels tried.

    Parameters
    ----------
    ranked : (n, d) float64
        What the scan binned: -inf is missing.
    is_current : (n,) bool
    categories : (d,) bool
        Features whose values are levels; of the others only missing values are looked at.
    features, rows
        Where to start: the features of a level or a combination, and all rows (of both samples) that have it.
    closed : frozenset of int
        Features that may not join.

    Returns
    -------
    tuple of int
        Features, increasing.
    intp array
        Rows of both samples that have the combination.
    """
    side = _surplus(is_current, rows) > 0
    while True:
        tried = [
            (feature, inside)
            for feature in range(ranked.shape[1])
            if feature not in closed.union(features)
            for inside in _parts(ranked[rows, feature], categories[feature])
        ]
        parts = [rows[inside] for _, inside in tried]
        told = [evidence(is_current, part, side) for part in parts]
        best = int(np.argmax(told)) if tried else 0
        if not tried or told[best] <= evidence(is_current, rows, side) + np.log(len(tried)):
            return tuple(sorted(features)), rows
        features, rows = (*features, tried[best][0]), parts[best]


def counterpart(
    ranked: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    categories: NDArray[np.bool_],
    features: tuple[int, ...],
    rows: NDArray[np.intp],
) -> list[tuple[NDArray[np.intp], int]]:
    """Where the other sample has more instead: shares add up to one, so what one sample gains elsewhere is lacking.

    The combinations of levels of `features` (a number is either missing or there) are gone through, those most like
    the one in excess first, until the surplus of the other sample makes up for it.

    Parameters
    ----------
    ranked, is_current, categories
        As for `sharpen`.
    features, rows
        A combination of levels that one sample has in excess, and all rows (of both samples) that have it.

    Returns
    -------
    list of (intp array, int)
        Rows of the other sample with one combination each, and how many of them are in surplus.
    """
    own = is_current == (_surplus(is_current, rows) > 0)
    scale = np.sum(~own) / np.sum(own)
    level = _levels(ranked, categories, features)
    alike = np.column_stack([np.isin(column, column[rows]) for column in level.T]).sum(axis=1)
    cell = combinations_of_levels(ranked, categories, features)
    surplus = np.bincount(cell, ~own) - scale * np.bincount(cell, own)
    likeness = np.zeros(surplus.size)
    likeness[cell] = alike
    left = float(np.sum(own[rows]) * scale - np.sum(~own[rows]))
    found = []
    for at in np.lexsort((-surplus, -likeness)):
        count = round(min(surplus[at], left))
        if likeness[at] < len(features) and count >= 1:
            found.append((np.flatnonzero((cell == at) & ~own), count))
            left -= count
    return found


def combinations_of_levels(
    ranked: NDArray[np.float64], categories: NDArray[np.bool_], features: Sequence[int]
) -> NDArray[np.intp]:
    """(n,) which combination of levels of `features` each row has; a number is either missing or there."""
    _, cell = np.unique(_levels(ranked, categories, features), axis=0, return_inverse=True)
    return np.asarray(cell.reshape(-1))


def _levels(ranked: NDArray[np.float64], categories: NDArray[np.bool_], features: Sequence[int]) -> NDArray[np.float64]:
    return np.column_stack([ranked[:, f] if categories[f] else np.isneginf(ranked[:, f]) for f in features])


def by_level(levels: NDArray[np.float64], rows: NDArray[np.intp], least_share: float) -> list[NDArray[np.intp]]:
    """`rows` split by their combination of levels (n, m): parts with at least this share of the rows."""
    if not levels.shape[1]:
        return [rows]
    _, cell = np.unique(levels[rows], axis=0, return_inverse=True)
    parts = [rows[cell.reshape(-1) == at] for at in range(int(cell.max(initial=-1)) + 1)]
    return [part for part in parts if part.size >= least_share * rows.size]


def _parts(values: NDArray[np.float64], is_category: np.bool_) -> list[NDArray[np.bool_]]:
    """One mask per level of a category; the missing ones of any other column."""
    levels = np.unique(values) if is_category else np.array([-np.inf])
    masks = (values == level for level in levels)
    return [mask for mask in masks if mask.any() and not mask.all()]


def _surplus(is_current: NDArray[np.bool_], rows: NDArray[np.intp]) -> float:
    """Rows of the current sample beyond their share of the pool."""
    return float(is_current[rows].sum() - rows.size * is_current.mean())


def evidence(is_current: NDArray[np.bool_], rows: NDArray[np.intp], side: bool) -> float:
    """Half the deviance of the labels inside against outside; 0 if `side` (True: current) is not the one in excess."""
    if (_surplus(is_current, rows) > 0) != side:
        return 0.0
    hits = int(is_current[rows].sum())
    return float(half_deviances(hits, rows.size, int(is_current.sum()), is_current.size))
