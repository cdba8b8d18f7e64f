"""Bins per feature, all that the scan ever sees of the data: quantiles of numbers, levels, and missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from shiftscope.kernels.counts import MAX_BINS

GAP_CODES = 32  # an eighth of the range: windows of the finer grids then hold missing values alone


@dataclass(frozen=True)
class BinTables:
    """What the codes of each feature stand for.

    Attributes
    ----------
    smallest, largest : (d, 256)
        Smallest value with at least this code and largest value with at most this code: codes lo..hi stand
        for the values from ``smallest[f, lo]`` to ``largest[f, hi]``.
    scores : (d, 256) float32
        Normal score of each code, the standard normal quantile of its mean u; 0 for codes without rows.
    categories : (d,) bool
        Features whose codes are levels.
    """

    smallest: NDArray[np.float64]
    largest: NDArray[np.float64]
    scores: NDArray[np.float32]
    categories: NDArray[np.bool_]

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return len(self.scores)

    def interval(self, feature: int, low: int, high: int) -> tuple[float, float]:
        """Smallest and largest value of `feature` among the rows with codes `low`..`high`."""
        return float(self.smallest[feature, low]), float(self.largest[feature, high])

    def normal_scores(self, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Normal scores of codes (d, n), and a last line of ones: (d + 1, n)."""
        values = np.take_along_axis(self.scores, codes.astype(np.intp), axis=1)
        return np.vstack([values, np.ones((1, values.shape[1]), np.float32)])


@dataclass(frozen=True)
class Bins:
    """Fine quantile bins of pooled rows.

    Attributes
    ----------
    codes : (d, n) uint8
        Bin of each row, feature-major: floor(256 u) with u the mid-rank of the value among all pooled rows,
        divided by n. Equal values share a bin, and a point mass has the bin of its own middle.
    tables : BinTables
    """

    codes: NDArray[np.uint8]
    tables: BinTables

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return len(self.codes)

    @property
    def n_rows(self) -> int:
        """Number of pooled rows n."""
        return int(self.codes.shape[1])


@dataclass(frozen=True)
class CodeTable:
    """Codes of further rows by the bins of those that were binned.

    Attributes
    ----------
    smallest : d arrays
        Smallest value of each code in use, increasing.
    codes : d uint8 arrays
        These codes.
    """

    smallest: tuple[NDArray[np.float64], ...]
    codes: tuple[NDArray[np.uint8], ...]

    @classmethod
    def of(cls, bins: Bins) -> CodeTable:
        """The codes in use; a value has the code of the largest value up to it."""
        used = [np.unique(line) for line in bins.codes]
        smallest = tuple(bins.tables.smallest[feature, codes] for feature, codes in enumerate(used))
        return cls(smallest, tuple(used))

    def apply(self, points: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Codes (d, m) of (m, d) rows."""
        codes = np.empty(points.shape[::-1], np.uint8)
        for feature, (values, used) in enumerate(zip(self.smallest, self.codes, strict=True)):
            at = np.searchsorted(values, points[:, feature], side="right") - 1
            codes[feature] = used[np.maximum(at, 0)]
        return codes


def bin_features(points: NDArray[np.float64], categories: NDArray[np.bool_] | None = None) -> Bins:
    """Bin every column of `points` (n, d) by its pooled quantiles; labels play no part.

    Missing values, which are -inf, have a bin of their own, with room around it: at least `GAP_CODES` codes. In the
    columns marked in `categories` (d,) every value has a bin of its own, as far as there are bins.
    """
    n, d = points.shape
    categories = np.zeros(d, np.bool_) if categories is None else categories
    codes = np.empty((d, n), np.uint8)
    smallest, largest = np.empty((d, MAX_BINS)), np.empty((d, MAX_BINS))
    scores = np.empty((d, MAX_BINS), np.float32)
    for feature in range(d):
        order = np.argsort(points[:, feature], kind="stable")
        values = points[order, feature]
        middle = _mid_ranks(values)
        if categories[feature]:
            ranked = _level_codes(values)
        elif np.isneginf(values[0]):
            ranked = _gap_codes(values)
        else:
            ranked = np.minimum(MAX_BINS * middle, MAX_BINS - 1).astype(np.uint8)
        codes[feature, order] = ranked
        start = np.searchsorted(ranked, np.arange(MAX_BINS), side="left")
        stop = np.searchsorted(ranked, np.arange(MAX_BINS), side="right")
        smallest[feature] = values[np.minimum(start, n - 1)]
        largest[feature] = values[np.maximum(stop, 1) - 1]
        scores[feature] = _normal_scores(middle, start, stop)
    return Bins(codes, BinTables(smallest, largest, scores, categories))


def _mid_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mid-rank / n of sorted `values`, in (0, 1): ties share the middle of the ranks they occupy."""
    n = len(values)
    begins = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(begins, n))
    return np.repeat((begins + 0.5 * lengths) / n, lengths)


def _level_codes(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """One code per distinct value of sorted `values`, the middle of its share of the codes.

    Half of the codes are shared out by frequency and half evenly, so that windows can hold a rare level alone. The
    levels come by falling frequency: what exceeds the number of codes is rare, and shares the last one.
    """
    begins = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(begins, len(values)))
    count = min(len(begins), MAX_BINS)
    position = np.arange(count)
    rows = np.append(lengths[: count - 1], lengths[count - 1 :].sum())
    share = 0.5 * rows / len(values) + 0.5 / count
    codes = ((np.cumsum(share) - 0.5 * share) * MAX_BINS).astype(np.int64)
    codes = np.maximum.accumulate(codes - position) + position  # strictly increasing ...
    codes = np.minimum(codes, MAX_BINS - count + position)  # ... and in range
    return np.repeat(codes[np.minimum(np.arange(len(begins)), count - 1)], lengths).astype(np.uint8)


def _gap_codes(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Code 0 for missing values, which are -inf; the others share the codes behind those set aside for them."""
    missing = int(np.searchsorted(values, -np.inf, side="right"))
    aside = int(np.clip(round(MAX_BINS * missing / len(values)), GAP_CODES, MAX_BINS - GAP_CODES))
    codes = np.zeros(len(values), np.uint8)
    if missing < len(values):
        within = (MAX_BINS - aside) * _mid_ranks(values[missing:])
        codes[missing:] = aside + np.minimum(within, MAX_BINS - aside - 1).astype(np.int64)
    return codes


def _normal_scores(middle: NDArray[np.float64], start: NDArray[np.intp], stop: NDArray[np.intp]) -> NDArray[np.float64]:
    """Standard normal quantile of the mean mid-rank of each code."""
    sums = np.concatenate([[0.0], np.cumsum(middle)])
    rows = stop - start
    mean = np.where(rows > 0, (sums[stop] - sums[start]) / np.maximum(rows, 1), 0.5)
    return np.asarray(ndtri(mean))
