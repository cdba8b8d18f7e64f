"""Quantile bins per feature: all that the scan ever sees of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from shiftscope.kernels.counts import MAX_BINS


@dataclass(frozen=True)
class Bins:
    """Fine quantile bins of pooled rows.

    Attributes
    ----------
    codes : (d, n) uint8
        Bin of each row, feature-major: floor(256 u) with u the mid-rank of the value among all pooled rows,
        divided by n. Equal values share a bin, and a point mass has the bin of its own middle.
    smallest, largest : (d, 256)
        Smallest value with at least this code and largest value with at most this code: codes lo..hi stand
        for the values from ``smallest[f, lo]`` to ``largest[f, hi]``.
    scores : (d, 256) float32
        Normal score of each code, the standard normal quantile of its mean u; 0 for codes without rows.
    """

    codes: NDArray[np.uint8]
    smallest: NDArray[np.float64]
    largest: NDArray[np.float64]
    scores: NDArray[np.float32]

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return len(self.codes)

    @property
    def n_rows(self) -> int:
        """Number of pooled rows n."""
        return int(self.codes.shape[1])

    def interval(self, feature: int, low: int, high: int) -> tuple[float, float]:
        """Smallest and largest value of `feature` among the rows with codes `low`..`high`."""
        return float(self.smallest[feature, low]), float(self.largest[feature, high])


def bin_features(points: NDArray[np.float64]) -> Bins:
    """Bin every column of `points` (n, d) by its pooled quantiles; labels play no part."""
    n, d = points.shape
    codes = np.empty((d, n), np.uint8)
    smallest, largest = np.empty((d, MAX_BINS)), np.empty((d, MAX_BINS))
    scores = np.empty((d, MAX_BINS), np.float32)
    for feature in range(d):
        order = np.argsort(points[:, feature], kind="stable")
        values = points[order, feature]
        middle = _mid_ranks(values)
        ranked = np.minimum(MAX_BINS * middle, MAX_BINS - 1).astype(np.uint8)
        codes[feature, order] = ranked
        start = np.searchsorted(ranked, np.arange(MAX_BINS), side="left")
        stop = np.searchsorted(ranked, np.arange(MAX_BINS), side="right")
        smallest[feature] = values[np.minimum(start, n - 1)]
        largest[feature] = values[np.maximum(stop, 1) - 1]
        scores[feature] = _normal_scores(middle, start, stop)
    return Bins(codes, smallest, largest, scores)


def _mid_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mid-rank / n of sorted `values`, in (0, 1): ties share the middle of the ranks they occupy."""
    n = len(values)
    begins = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(begins, n))
    return np.repeat((begins + 0.5 * lengths) / n, lengths)


def _normal_scores(middle: NDArray[np.float64], start: NDArray[np.intp], stop: NDArray[np.intp]) -> NDArray[np.float64]:
    """Standard normal quantile of the mean mid-rank of each code."""
    sums = np.concatenate([[0.0], np.cumsum(middle)])
    rows = stop - start
    mean = np.where(rows > 0, (sums[stop] - sums[start]) / np.maximum(rows, 1), 0.5)
    return np.asarray(ndtri(mean))
