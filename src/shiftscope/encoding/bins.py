"""Bins per feature, all that the scan ever sees of the data: quantiles of numbers, levels, and missing values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from shiftscope.kernels.window_counts import MAX_BINS

GAP_CODES = 32  # an eighth of the range: windows of the finer grids then hold missing values alone
PLACES_OFF = 2  # places by which the limit of a code may be off when it is computed


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
    """Codes of rows, wherever they are, by the limits of the bins.

    Attributes
    ----------
    smallest : d arrays
        Smallest value of each code in use, increasing.
    codes : d uint8 arrays
        These codes.
    """

    smallest: tuple[NDArray[np.float64], ...]
    codes: tuple[NDArray[np.uint8], ...]

    def apply(self, points: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Codes (d, m) of (m, d) rows: a value has the code of the largest limit up to it."""
        codes = np.empty(points.shape[::-1], np.uint8)
        for feature, (values, used) in enumerate(zip(self.smallest, self.codes, strict=True)):
            at = np.searchsorted(values, points[:, feature], side="right") - 1
            codes[feature] = used[np.maximum(at, 0)]
        return codes


@dataclass(frozen=True)
class Limits:
    """The bins of one feature.

    Attributes
    ----------
    start : (257,) int64
        Rows with a smaller code than 0, 1, ..., 256.
    smallest, largest : (256,)
        See `BinTables`.
    """

    start: NDArray[np.int64]
    smallest: NDArray[np.float64]
    largest: NDArray[np.float64]

    @classmethod
    def of(cls, start: NDArray[np.int64], values: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> Limits:
        """From the places of the codes among the sorted rows; `values` tells what stands at a place, from 0."""
        n = start[-1]
        return cls(start, values(np.minimum(start[:-1], n - 1)), values(np.maximum(start[1:], 1) - 1))

    @property
    def used(self) -> NDArray[np.intp]:
        """Codes that rows have."""
        return np.flatnonzero(np.diff(self.start))

    @property
    def scores(self) -> NDArray[np.float32]:
        """(256,) normal scores: mid-ranks of rows from place a to place b have the mean (a + b) / 2."""
        low, high = self.start[:-1], self.start[1:]
        mean = np.where(high > low, (low + high) / (2.0 * self.start[-1]), 0.5)
        return np.asarray(ndtri(mean), dtype=np.float32)


@dataclass(frozen=True)
class NumberCodes:
    """How the values of a number are shared out among the codes, by mid-rank.

    Attributes
    ----------
    rows : int
        Rows that have a value.
    aside : int
        Codes set aside for missing values, which have code 0; none if no value is missing.
    """

    rows: int
    aside: int

    @classmethod
    def of(cls, rows: int, missing: int) -> NumberCodes:
        """For `rows` pooled rows of which some lack a value."""
        if not missing:
            return cls(rows, 0)
        aside = int(np.clip(round(MAX_BINS * missing / rows), GAP_CODES, MAX_BINS - GAP_CODES))
        return cls(rows - missing, aside)

    def code(self, twice: NDArray[np.int64]) -> NDArray[np.int64]:
        """Codes of values by `twice` their mid-rank among the values: those below and those up to it, added up."""
        width = MAX_BINS - self.aside
        within = width * (0.5 * twice / self.rows)
        return self.aside + np.minimum(within, width - 1).astype(np.int64)

    def least(self) -> NDArray[np.int64]:
        """(255 - aside,) smallest `twice` with at least the code aside + 1, aside + 2, ..."""
        codes = np.arange(self.aside + 1, MAX_BINS)
        near = np.ceil(2.0 * self.rows * (codes - self.aside) / (MAX_BINS - self.aside)).astype(np.int64)
        tried = near[:, None] + np.arange(-PLACES_OFF, PLACES_OFF + 1)
        return np.asarray(tried[np.arange(len(codes)), np.argmax(self.code(tried) >= codes[:, None], axis=1)])


def bin_features(points: NDArray[np.float64], categories: NDArray[np.bool_] | None = None) -> Bins:
    """Bin every column of `points` (n, d) by its pooled quantiles; labels play no part.

    Missing values, which are -inf, have a bin of their own, with room around it: at least `GAP_CODES` codes. In the
    columns marked in `categories` (d,) every value has a bin of its own, as far as there are bins.
    """
    n, d = points.shape
    categories = np.zeros(d, np.bool_) if categories is None else categories
    codes = np.empty((d, n), np.uint8)
    limits = []
    for feature in range(d):
        order = np.argsort(points[:, feature], kind="stable")
        values = points[order, feature]
        begins = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        lengths = np.diff(np.append(begins, n))
        coded = level_codes(lengths) if categories[feature] else _number_codes(values[0], begins, lengths)
        ranked = np.repeat(coded, lengths).astype(np.uint8)
        codes[feature, order] = ranked
        limits.append(Limits.of(np.searchsorted(ranked, np.arange(MAX_BINS + 1)), values.__getitem__))
    return Bins(codes, bin_tables(limits, categories))


def bin_tables(limits: Sequence[Limits], categories: NDArray[np.bool_]) -> BinTables:
    """The limits of all features."""
    smallest, largest, scores = (
        np.array([getattr(one, name) for one in limits]) for name in ("smallest", "largest", "scores")
    )
    return BinTables(smallest, largest, scores, categories)


def code_table(limits: Sequence[Limits]) -> CodeTable:
    """What codes further rows of the same pool."""
    used = tuple(one.used.astype(np.uint8) for one in limits)
    return CodeTable(tuple(one.smallest[codes] for one, codes in zip(limits, used, strict=True)), used)


def level_codes(lengths: NDArray[np.intp]) -> NDArray[np.int64]:
    """One code per level, the middle of its share of the codes, from the rows that have each.

    Half of the codes are shared out by frequency and half evenly, so that windows can hold a rare level alone. The
    levels come by falling frequency: what exceeds the number of codes is rare, and shares the last one.
    """
    count = min(len(lengths), MAX_BINS)
    position = np.arange(count)
    rows = np.append(lengths[: count - 1], lengths[count - 1 :].sum())
    share = 0.5 * rows / lengths.sum() + 0.5 / count
    codes = ((np.cumsum(share) - 0.5 * share) * MAX_BINS).astype(np.int64)
    codes = np.maximum.accumulate(codes - position) + position  # strictly increasing ...
    codes = np.minimum(codes, MAX_BINS - count + position)  # ... and in range
    return np.asarray(codes[np.minimum(np.arange(len(lengths)), count - 1)])


def _number_codes(smallest: float, begins: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.int64]:
    """Codes of the distinct values, from their places among the sorted rows; missing ones, if any, come first."""
    missing = int(lengths[0]) if np.isneginf(smallest) else 0
    shares = NumberCodes.of(int(lengths.sum()), missing)
    if not missing:
        return shares.code(2 * begins + lengths)
    return np.append(0, shares.code(2 * (begins[1:] - missing) + lengths[1:]))
