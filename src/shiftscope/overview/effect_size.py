"""How far a column has moved: a distance that does not grow with the number of rows, and its interval.

Both distances are norms of a difference of two distributions: Wasserstein's, the area between the distribution
functions, for numbers, and the total variation, half the sum of the differences of shares, for levels. A norm obeys the
triangle inequality, so the error of the estimated distance is at most the norm of the error. Its 95 % quantile is the
half width of the interval: it covers any distance, zero included. The error of shares counted in cells is close to
normal, and drawn as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

COVERAGE = 0.95  # of the interval
REDRAWN = 1000  # errors drawn behind it
CELLS = 256  # most cells in which they are drawn


@dataclass(frozen=True)
class Effect:
    """A distance between the two samples' distributions of one column, and a 95 % interval of it."""

    size: float
    low: float
    high: float


@dataclass(frozen=True)
class Errors:
    """Normal numbers of which the errors of shares are made, the same for every column: (redrawn, cells) per sample."""

    reference: NDArray[np.float64]
    current: NDArray[np.float64]

    @classmethod
    def drawn(cls, random_state: int) -> Errors:
        """Once for a comparison."""
        first, second = np.random.default_rng(random_state).standard_normal((2, REDRAWN, CELLS))
        return cls(first, second)

    def of(self, reference: NDArray[np.intp], current: NDArray[np.intp]) -> NDArray[np.float64]:
        """(redrawn, cells) errors of the difference of the shares that rows counted in cells have."""
        return _bridge(self.reference, reference) - _bridge(self.current, current)


def _bridge(normal: NDArray[np.float64], counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Errors of the shares of one sample: variances p (1 - p) / n, covariances -p q / n."""
    shares = counts / counts.sum()
    free = normal[:, : counts.size] * np.sqrt(shares)
    return np.asarray((free - free.sum(axis=1, keepdims=True) * shares) / sqrt(max(1, int(counts.sum()) - 1)))


def number_effect(reference: NDArray[np.float64], current: NDArray[np.float64], scale: float, errors: Errors) -> Effect:
    """Wasserstein distance of two samples of numbers in units of `scale`, their pooled standard deviation."""
    if not (reference.size and current.size and scale > 0):
        return Effect(float("nan"), float("nan"), float("nan"))
    first, second = np.sort(reference / scale), np.sort(current / scale)
    pooled = np.sort(np.concatenate([first, second]))
    places = np.linspace(0, pooled.size - 1, min(pooled.size, CELLS)).round().astype(np.intp)
    ends = np.unique(pooled[places])
    counts = [np.diff(np.searchsorted(one, ends, side="right"), prepend=0) for one in (first, second)]
    off = np.abs(np.cumsum(errors.of(counts[0], counts[1]), axis=1))[:, :-1]
    return _interval(wasserstein(first, second, pooled), (off * np.diff(ends)).sum(axis=1), float("inf"))


def wasserstein(first: NDArray[np.float64], second: NDArray[np.float64], pooled: NDArray[np.float64]) -> float:
    """Area between the distribution functions of two sorted samples; `pooled` are both, sorted."""
    left = pooled[:-1]
    below = np.searchsorted(first, left, side="right") / first.size
    other = np.searchsorted(second, left, side="right") / second.size
    return float(np.sum(np.abs(below - other) * np.diff(pooled)))


def level_effect(reference: NDArray[np.intp], current: NDArray[np.intp], errors: Errors) -> Effect:
    """Total variation between the shares of levels, from the rows that have each in either sample."""
    size = 0.5 * float(np.sum(np.abs(reference / reference.sum() - current / current.sum())))
    if reference.size <= CELLS:
        norms = 0.5 * np.abs(errors.of(reference, current)).sum(axis=1)
    else:  # so many add up to their mean, and a normal error of that; 0.25 makes up for the root of a count
        deviations = np.sqrt((reference + 0.25) / reference.sum() ** 2 + (current + 0.25) / current.sum() ** 2)
        mean, spread = sqrt(2.0 / pi) * deviations.sum(), sqrt((1.0 - 2.0 / pi) * float(np.sum(deviations**2)))
        norms = 0.5 * (mean + spread * errors.reference[:, 0])
    return _interval(size, norms, 1.0)


def _interval(size: float, norms: NDArray[np.float64], most: float) -> Effect:
    error = float(np.quantile(norms, COVERAGE))
    return Effect(size, max(0.0, size - error), min(most, size + error))
