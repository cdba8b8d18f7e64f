"""How one column enters the metric and the scan.

One rule sets all scales: the matrix columns of one user column have a total pooled variance of 1, so two rows drawn at
random differ by 2 in squared distance on average, whatever the kind of the column. No label plays a part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shiftscope.columns import Column, Kind, time_text, value_text

BLOCK_ROWS = 4096  # rows written to the matrix at a time
METRIC_LEVELS = 16  # levels that the metric tells apart; beyond, the rarest are one level there
BELOW = 0.1  # of the range: how far below the smallest value a missing one is drawn

Groups = tuple[tuple[int, ...], ...]  # the matrix columns of each feature
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]  # one column: (n_reference,) and (n_current,)


def columns_of(groups: Groups, features: Iterable[int]) -> list[int]:
    """The matrix columns of some features, one feature after the other."""
    return [column for feature in features for column in groups[feature]]


@dataclass(frozen=True)
class Feature:
    """One user column of the pool.

    Attributes
    ----------
    name
    kind
        "number", "date", "time", "duration" or "category".
    levels
        Of a category, most frequent in the pool first; empty for other kinds.
    missing
        Whether a value is missing anywhere in the pool.
    columns
        Its columns of the matrix, the leading one first.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...]
    missing: bool
    columns: tuple[int, ...]

    def text(self, value: float) -> str:
        """A value of `Encoded.values` as people read it: in units, or as a level."""
        if np.isnan(value):
            return "missing"
        if self.kind == "category":
            return self.levels[int(value)]
        return time_text(self.kind, value) if self.kind != "number" else f"{value:.4g}"


class Encoding(Protocol):
    """What each kind of column must tell and do."""

    @property
    def width(self) -> int:
        """Number of matrix columns."""
        ...

    @property
    def centre(self) -> float:
        """Pooled mean of the drawn values."""
        ...

    @property
    def scale(self) -> float:
        """Pooled standard deviation of the drawn values; 0 if nothing varies."""
        ...

    def fill(self, points: NDArray[np.float64], columns: tuple[int, ...], n_reference: int) -> None:
        """Write the matrix columns into `points` (n, D), which holds zeros."""
        ...


class _Standardised:
    """Centre and scale of an encoding that standardises numbers."""

    standard: Standard

    @property
    def centre(self) -> float:
        """Pooled mean of the values there."""
        return self.standard.centre

    @property
    def scale(self) -> float:
        """Pooled standard deviation of the values there."""
        return self.standard.scale


@dataclass(frozen=True)
class Numbers(_Standardised):
    """A complete column of numbers: standardised, one matrix column."""

    pair: Pair
    standard: Standard
    width: int = 1

    def fill(self, points: NDArray[np.float64], columns: tuple[int, ...], n_reference: int) -> None:
        """A block at a time, since whole columns miss the cache."""
        for values, rows in zip(self.pair, (points[:n_reference], points[n_reference:]), strict=True):
            for start in range(0, len(rows), BLOCK_ROWS):
                block = slice(start, start + BLOCK_ROWS)
                rows[block, columns[0]] = self.standard.apply(values[block])


@dataclass(frozen=True)
class Gaps(_Standardised):
    """Numbers of which a share m is missing: two matrix columns.

    The values there are standardised among themselves and a missing one stands at their mean, 0; the second column is
    1 / sqrt(1 - m) where the value is missing and 0 elsewhere. Variances (1 - m) and m add up to 1.
    """

    pooled: NDArray[np.float64]  # (n,), NaN where missing
    standard: Standard
    width: int = 2

    def fill(self, points: NDArray[np.float64], columns: tuple[int, ...], n_reference: int) -> None:
        """Values, and the mark of missing ones."""
        missing = np.isnan(self.pooled)
        points[~missing, columns[0]] = self.standard.apply(self.pooled[~missing])
        points[missing, columns[1]] = 1.0 / math.sqrt(1.0 - missing.mean())


@dataclass(frozen=True)
class Levels:
    """A category of two or more levels, a missing value being one of them: one matrix column per level.

    Each level is 1 / sqrt(1 - sum p^2) in its own column and 0 in the others, p the pooled shares of the levels: all
    levels are equally far apart, and the total variance is 1. Two levels need only one column, the standardised mark
    of the rarer one, which gives the same distance. Beyond `METRIC_LEVELS` the rarest levels share a column.
    """

    codes: NDArray[np.float64]  # (n,) positions in the levels by frequency; NaN where missing
    shares: NDArray[np.float64]  # of the metric's levels, in the order of their columns
    column: NDArray[np.intp]  # (n,) the level of the metric that each row has

    @classmethod
    def of(cls, codes: NDArray[np.float64], n_levels: int) -> Levels:
        """From the positions in the levels, most frequent first, and their number."""
        missing = np.isnan(codes)
        kept = min(n_levels, METRIC_LEVELS - int(missing.any()))
        column = np.where(missing, kept, np.minimum(np.where(missing, 0.0, codes), kept - 1)).astype(np.intp)
        return cls(codes, np.bincount(column) / len(column), column)

    @property
    def width(self) -> int:
        """One column per level, one for two levels."""
        return len(self.shares) if len(self.shares) > 2 else 1

    @property
    def centre(self) -> float:
        """Pooled mean of the codes drawn."""
        return float(np.where(np.isnan(self.codes), -1.0, self.codes).mean())

    @property
    def scale(self) -> float:
        """Pooled standard deviation of the codes drawn."""
        return float(np.sort(np.where(np.isnan(self.codes), -1.0, self.codes)).std())  # the same for any order of rows

    def fill(self, points: NDArray[np.float64], columns: tuple[int, ...], n_reference: int) -> None:
        """One mark per row."""
        if len(columns) == 1:
            rarer = int(np.argmin(self.shares))
            share = float(self.shares[rarer])
            points[:, columns[0]] = ((self.column == rarer) - share) / math.sqrt(share * (1.0 - share))
        else:
            mark = 1.0 / math.sqrt(1.0 - float(np.sum(self.shares**2)))
            points[np.arange(len(self.column)), np.array(columns)[self.column]] = mark


def encoding(pair: Pair, kind: Kind) -> Encoding:
    """The encoding of one column, of which something varies or is missing in part."""
    if kind == "category":
        pooled = np.concatenate(pair)
        return Levels.of(pooled, int(np.nanmax(pooled, initial=-1.0)) + 1)
    if not (np.isnan(pair[0]).any() or np.isnan(pair[1]).any()):
        return Numbers(pair, Standard.of(pair))
    pooled = np.concatenate(pair)
    there = pooled[~np.isnan(pooled)]
    standard = Standard.of((there, there[:0])) if there.size else Standard(0, 0.0, 0.0)
    return Gaps(pooled, standard)


def by_frequency(pair: tuple[Column, Column]) -> tuple[Pair, tuple[str, ...]]:
    """A category as positions in its levels, most frequent in the pool first, equal ones by name; NaN if missing."""
    levels = sorted({*pair[0].levels, *pair[1].levels})
    at = {level: position for position, level in enumerate(levels)}
    pooled = []
    for column in pair:
        codes = np.array([*(at[level] for level in column.levels), len(levels)], dtype=np.intp)
        pooled.append(codes[np.where(np.isnan(column.values), -1, column.values).astype(np.intp)])
    counts = np.bincount(np.concatenate(pooled), minlength=len(levels) + 1)[: len(levels)]
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    rank = np.full(len(levels) + 1, np.nan)
    rank[order] = np.arange(order.size)
    return (rank[pooled[0]], rank[pooled[1]]), tuple(levels[position] for position in order)


def drawn(values: NDArray[np.float64], kind: Kind) -> NDArray[np.float64]:
    """Values of which none is missing any more: a category's at -1, a number's a little below the smallest."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    low, high = (float(np.nanmin(values)), float(np.nanmax(values))) if not missing.all() else (0.0, 0.0)
    place = -1.0 if kind == "category" else low - (BELOW * (high - low) or 1.0)
    return np.where(missing, place, values)


def single_text(pair: Pair, kind: Kind, levels: tuple[str, ...]) -> str:
    """The value of a constant column."""
    values = np.concatenate(pair)
    values = values[~np.isnan(values)]
    if not values.size:
        return "missing"
    return levels[0] if kind == "category" else value_text(kind, float(values[0]))


@dataclass(frozen=True)
class Standard:
    """How one column is standardised.

    Values are first scaled by 2**-exponent into [-1, 1]: exact, and it keeps sums and squares of any doubles
    within range. `mean` and `deviation` are in that unit.
    """

    exponent: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, pair: Pair) -> Standard:
        """Pooled mean and standard deviation of a column, bitwise the same for any order of rows and samples.

        Two passes over the sorted pool: deviations from the median are exact where values lie close together
        far from zero, so their mean and their spread keep full precision there.
        """
        pooled = np.concatenate(pair)
        pooled.sort()
        exponent = math.frexp(max(abs(pooled[0]), abs(pooled[-1])))[1]
        np.ldexp(pooled, -exponent, out=pooled)
        median = float(pooled[len(pooled) // 2])
        pooled -= median
        shift = float(pooled.mean())
        pooled -= shift
        np.square(pooled, out=pooled)
        return cls(exponent, median + shift, math.sqrt(pooled.mean()))

    @property
    def centre(self) -> float:
        """Pooled mean in the user's units."""
        return math.ldexp(self.mean, self.exponent)

    @property
    def scale(self) -> float:
        """Pooled standard deviation in the user's units; 0 if the column is constant."""
        return math.ldexp(self.deviation, self.exponent)

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise values; equal values become equal bits (adding 0.0 turns -0.0 into 0.0)."""
        return np.asarray((np.ldexp(values, -self.exponent) - self.mean) / self.deviation + 0.0)
