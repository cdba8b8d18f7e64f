"""From a level that one sample has in excess to the combination of levels that tells it best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy


def sharpen(
    ranked: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    categories: NDArray[np.bool_],
    features: tuple[int, ...],
    rows: NDArray[np.intp],
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

    Returns
    -------
    tuple of int
        Features, increasing.
    intp array
        Rows of both samples that have the combination.
    """
    excess = _surplus(is_current, rows) > 0
    while True:
        tried = [
            (feature, inside)
            for feature in range(ranked.shape[1])
            if feature not in features
            for inside in _parts(ranked[rows, feature], categories[feature])
        ]
        parts = [rows[inside] for _, inside in tried]
        evidence = [_evidence(is_current, p) if (_surplus(is_current, p) > 0) == excess else 0.0 for p in parts]
        best = int(np.argmax(evidence)) if tried else 0
        if not tried or evidence[best] <= _evidence(is_current, rows) + np.log(len(tried)):
            return tuple(sorted(features)), rows
        features, rows = (*features, tried[best][0]), parts[best]


def _parts(values: NDArray[np.float64], is_category: np.bool_) -> list[NDArray[np.bool_]]:
    """One mask per level of a category; the missing ones of any other column."""
    levels = np.unique(values) if is_category else np.array([-np.inf])
    masks = (values == level for level in levels)
    return [mask for mask in masks if mask.any() and not mask.all()]


def _surplus(is_current: NDArray[np.bool_], rows: NDArray[np.intp]) -> float:
    """Rows of the current sample beyond their share of the pool."""
    return float(is_current[rows].sum() - rows.size * is_current.mean())


def _evidence(is_current: NDArray[np.bool_], rows: NDArray[np.intp]) -> float:
    """Half the deviance of the labels inside against outside."""
    total, current = is_current.size, int(is_current.sum())
    held, hits = rows.size, int(is_current[rows].sum())
    table = np.array([hits, held - hits, current - hits, total - held - current + hits], dtype=np.float64)
    margins = np.array([held, total - held, current, total - current], dtype=np.float64)
    return float(xlogy(table, table).sum() - xlogy(margins, margins).sum() + xlogy(total, total))
