"""Encodings of measured features, fitted on the pool of two cohorts without knowing which row is whose.

Measured features have heavy tails (a fiducial in the wrong place), and a Euclidean distance is as large as its worst
feature. `winsorised` bounds every feature at its 1 % and 99 % quantiles and keeps its scale. `normal scores` are those
of a feature's ranks. `directions`, the study's choice, are normal scores with every row scaled to the same length (the
spatial sign of robust statistics): a recording is then the shape of its profile, however extreme it is as a whole.
The package standardises columns again, so in its distances the lengths are equal but for a few percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

KINDS = ("as is", "winsorised", "normal scores", "directions")
BINS = 255  # of histogram trees
TAIL = 0.01  # of a feature's values on either side that are pulled in


@dataclass(frozen=True)
class Winsoriser:
    """Bounds, then centre and scale of each feature, to be applied to any rows."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]

    def apply(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Encode any rows."""
        return (np.clip(points, self.low, self.high) - self.centre) / self.scale


def winsoriser(pool: NDArray[np.float64]) -> Winsoriser:
    """The encoding `winsorised`, fitted on `pool`."""
    low, high = np.quantile(pool, [TAIL, 1 - TAIL], axis=0)
    inside = np.clip(pool, low, high)
    scale = inside.std(axis=0)
    return Winsoriser(low, high, inside.mean(axis=0), np.where(scale > 0, scale, 1.0))


def quantile_bins(pool: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, d) how many of the `BINS - 1` quantiles of `pool` lie below each value of `points`.

    Trees on histograms do this themselves; but with weighted classes scikit-learn 1.9 takes weighted quantiles one by
    one, which costs ten times as much as the trees. With no more values than bins there is nothing left to do.
    """
    cuts = np.quantile(pool, np.linspace(0, 1, BINS + 1)[1:-1], axis=0)
    return np.column_stack(
        [np.searchsorted(np.unique(cut), column) for cut, column in zip(cuts.T, points.T, strict=True)]
    ).astype(np.float64)


def encode(pool: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """(n, d) rows of both cohorts in one of `KINDS`; features are standardised, and of directions the rows scaled."""
    if kind == "winsorised":
        return winsoriser(pool).apply(pool)
    points = pool if kind == "as is" else norm.ppf((rankdata(pool, axis=0) - 0.5) / len(pool))
    scale = points.std(axis=0)
    points = (points - points.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    return of_one_length(points) if kind == "directions" else points


def columns(points: NDArray[np.float64], features: Sequence[int], kind: str) -> NDArray[np.float64]:
    """Some features of encoded `points`, encoded as if there were no others."""
    return of_one_length(points[:, features]) if kind == "directions" else points[:, features]


def of_one_length(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every row scaled to a mean square of 1; rows of zeros stay."""
    lengths = np.sqrt((points**2).mean(axis=1, keepdims=True))
    return points / np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True)
class Tails:
    """How much a few rows and values weigh, without any labels.

    Attributes
    ----------
    largest : float
        Median over features of the largest distance from the mean, in standard deviations.
    kurtosis : float
        Its 90 % quantile over features (3 for a Gaussian).
    top_rows : float
        Share of the summed squared distances from the mean that 1 % of the rows carry.
    """

    largest: float
    kurtosis: float
    top_rows: float


def tails(points: NDArray[np.float64]) -> Tails:
    """The weight of outliers in encoded `points`."""
    norms = np.sort((points**2).sum(axis=1))[::-1]
    return Tails(
        largest=float(np.median(np.abs(points).max(axis=0))),
        kurtosis=float(np.quantile((points**4).mean(axis=0), 0.9)),
        top_rows=float(norms[: max(1, len(norms) // 100)].sum() / norms.sum()),
    )
