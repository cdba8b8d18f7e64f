"""How far a column has moved: a distance that does not grow with the number of rows, and its interval.

Both distances are norms of a difference of two distributions: Wasserstein's, the area between the distribution
functions, for numbers, and the total variation, half the sum of the differences of shares, for levels. A norm obeys the
triangle inequality, so the error of the estimated distance is at most the norm of the error. Its 95 % quantile, from
samples drawn anew out of the observed ones (bootstrap), is the half width of the interval: it covers any distance, zero
included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COVERAGE = 0.95  # of the interval
REDRAWN = 400  # bootstrap samples behind it
CELLS = 256  # most cells in which numbers are redrawn


@dataclass(frozen=True)
class Effect:
    """A distance between the two samples' distributions of one column, and a 95 % interval of it."""

    size: float
    low: float
    high: float


def number_effect(
    reference: NDArray[np.float64], current: NDArray[np.float64], scale: float, rng: np.random.Generator
) -> Effect:
    """Wasserstein distance of two samples of numbers in units of `scale`, their pooled standard deviation."""
    if not (reference.size and current.size and scale > 0):
        return Effect(float("nan"), float("nan"), float("nan"))
    first, second = np.sort(reference / scale), np.sort(current / scale)
    pooled = np.sort(np.concatenate([first, second]))
    ends = pooled[np.unique(np.linspace(0, pooled.size - 1, min(pooled.size, CELLS)).round().astype(np.intp))]
    ends = np.unique(ends)
    error = _error(
        np.diff(np.searchsorted(first, ends, side="right"), prepend=0),
        np.diff(np.searchsorted(second, ends, side="right"), prepend=0),
        np.append(np.diff(ends), 0.0),
        rng,
    )
    return _interval(wasserstein(first, second, pooled), error, float("inf"))


def wasserstein(first: NDArray[np.float64], second: NDArray[np.float64], pooled: NDArray[np.float64]) -> float:
    """Area between the distribution functions of two sorted samples; `pooled` are both, sorted."""
    left = pooled[:-1]
    below = np.searchsorted(first, left, side="right") / first.size
    other = np.searchsorted(second, left, side="right") / second.size
    return float(np.sum(np.abs(below - other) * np.diff(pooled)))


def level_effect(reference: NDArray[np.intp], current: NDArray[np.intp], rng: np.random.Generator) -> Effect:
    """Total variation between the shares of levels, from the rows that have each in either sample."""
    size = 0.5 * float(np.sum(np.abs(reference / reference.sum() - current / current.sum())))
    return _interval(size, _error(reference, current, None, rng), 1.0)


def _interval(size: float, error: float, most: float) -> Effect:
    return Effect(size, max(0.0, size - error), min(most, size + error))


def _error(
    reference: NDArray[np.intp],
    current: NDArray[np.intp],
    widths: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> float:
    """Quantile of the norm by which redrawn counts differ from the observed ones: area, or half sum without widths."""
    off = _redrawn(reference, rng) - _redrawn(current, rng)
    norms = 0.5 * np.abs(off).sum(axis=1) if widths is None else np.abs(np.cumsum(off, axis=1)) @ widths
    return float(np.quantile(norms, COVERAGE))


def _redrawn(counts: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
    """(redrawn, cells) shares of redrawn samples minus the observed ones."""
    rows = int(counts.sum())
    shares = counts / rows
    return np.asarray(rng.multinomial(rows, shares, REDRAWN) / rows - shares)
