"""How one column enters the metric and the scan.

One rule sets all scales: the matrix columns of one user column have a total pooled variance of 1, so two rows drawn at
random differ by 2 in squared distance on average, whatever the kind of the column. No label plays a part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.exact_sums import UNIT, VALUES_AT_ONCE, exact_mean, exact_sum
from shiftscope.tables.column_kinds import Kind
from shiftscope.tables.dates import time_text

BLOCK_ROWS = 4096  # rows worked on at a time: they fit in the cache
METRIC_LEVELS = 16  # levels that the metric tells apart; beyond, the rarest are one level there
BELOW = 0.1  # of the range: how far below the smallest value a missing one is drawn

Groups = tuple[tuple[int, ...], ...]  # the matrix columns of each feature


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

    def fill(self, values: NDArray[np.float64], points: NDArray[np.float64], columns: tuple[int, ...]) -> None:
        """Write the matrix columns of (m,) values of some rows into their lines of `points` (m, D), which are zeros."""
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

    standard: Standard
    width: int = 1

    def fill(self, values: NDArray[np.float64], points: NDArray[np.float64], columns: tuple[int, ...]) -> None:
        """A block at a time, since whole columns miss the cache."""
        for start in range(0, len(values), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            points[block, columns[0]] = self.standard.apply(values[block])


@dataclass(frozen=True)
class Gaps(_Standardised):
    """Numbers of which a share m is missing: two matrix columns.

    The values there are standardised among themselves and a missing one stands at their mean, 0; the second column is
    1 / sqrt(1 - m) where the value is missing and 0 elsewhere. Variances (1 - m) and m add up to 1.
    """

    standard: Standard
    missing: int
    rows: int
    width: int = 2

    def fill(self, values: NDArray[np.float64], points: NDArray[np.float64], columns: tuple[int, ...]) -> None:
        """Values, and the mark of missing ones."""
        missing = np.isnan(values)
        points[~missing, columns[0]] = self.standard.apply(values[~missing])
        points[missing, columns[1]] = 1.0 / math.sqrt(1.0 - self.missing / self.rows)


@dataclass(frozen=True)
class Levels:
    """A category of two or more levels, a missing value being one of them: one matrix column per level.

    Each level is 1 / sqrt(1 - sum p^2) in its own column and 0 in the others, p the pooled shares of the levels: all
    levels are equally far apart, and the total variance is 1. Two levels need only one column, the standardised mark
    of the rarer one, which gives the same distance. Beyond `METRIC_LEVELS` the rarest levels share a column.

    Attributes
    ----------
    counts : tuple of int
        Rows with each level, most frequent first.
    missing : int
        Rows with none.
    """

    counts: tuple[int, ...]
    missing: int

    @property
    def kept(self) -> int:
        """Levels that have a column of their own, the last one with all rarer ones; a missing value comes behind."""
        return min(len(self.counts), METRIC_LEVELS - bool(self.missing))

    @property
    def shares(self) -> NDArray[np.float64]:
        """Of the metric's levels, in the order of their columns."""
        rows = [*self.counts[: self.kept - 1], sum(self.counts[self.kept - 1 :])] if self.kept else []
        return np.array([*rows, *[self.missing] * bool(self.missing)]) / (sum(self.counts) + self.missing)

    @property
    def width(self) -> int:
        """One column per level, one for two levels."""
        return len(self.shares) if len(self.shares) > 2 else 1

    @property
    def centre(self) -> float:
        """Pooled mean of the codes drawn: the place of a level, -1 if missing."""
        return float(self._mean)

    @property
    def scale(self) -> float:
        """Pooled standard deviation of the codes drawn."""
        squares = sum(count * place**2 for place, count in enumerate(self.counts)) + self.missing
        return math.sqrt(Fraction(squares, sum(self.counts) + self.missing) - self._mean**2)

    @property
    def _mean(self) -> Fraction:
        total = sum(count * place for place, count in enumerate(self.counts)) - self.missing
        return Fraction(total, sum(self.counts) + self.missing)

    def fill(self, values: NDArray[np.float64], points: NDArray[np.float64], columns: tuple[int, ...]) -> None:
        """One mark per row."""
        missing, shares = np.isnan(values), self.shares
        level = np.where(missing, self.kept, np.minimum(np.where(missing, 0.0, values), self.kept - 1)).astype(np.intp)
        if len(columns) == 1:
            rarer = int(np.argmin(shares))
            share = float(shares[rarer])
            points[:, columns[0]] = ((level == rarer) - share) / math.sqrt(share * (1.0 - share))
        else:
            mark = 1.0 / math.sqrt(1.0 - float(np.sum(shares**2)))
            points[np.arange(len(level)), np.array(columns)[level]] = mark


def drawn(values: NDArray[np.float64], kind: Kind) -> NDArray[np.float64]:
    """Values of which none is missing any more: a category's at -1, a number's a little below the smallest."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    low, high = (float(np.nanmin(values)), float(np.nanmax(values))) if not missing.all() else (0.0, 0.0)
    place = -1.0 if kind == "category" else low - (BELOW * (high - low) or 1.0)
    return np.where(missing, place, values)


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
    def of(cls, centre: Centre, squares: int) -> Standard:
        """From the exact sum of `Centre.squares`; the mean was rounded, which is made up for."""
        off = Fraction(centre.total, centre.count << UNIT) / Fraction(2) ** centre.exponent - Fraction(centre.mean)
        return cls(centre.exponent, centre.mean, math.sqrt(Fraction(squares, centre.count << UNIT) - off**2))

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


@dataclass(frozen=True)
class Centre:
    """The mean of some numbers, bitwise the same for any order and any cut into parts: sums are exact.

    Attributes
    ----------
    count : int
        Values.
    total : int
        Their sum (see `exact_sum`).
    exponent : int
        Scales them into [-1, 1] (see `Standard`).
    """

    count: int
    total: int
    exponent: int

    @classmethod
    def of(cls, count: int, total: int, low: float, high: float) -> Centre:
        """From number, sum, smallest and largest of the values."""
        return cls(count, total, math.frexp(max(abs(low), abs(high)))[1])

    @property
    def mean(self) -> float:
        """In the unit of `Standard`, rounded once."""
        return exact_mean(self.total, self.count, self.exponent)

    def squares(self, values: NDArray[np.float64]) -> int:
        """Exact sum of the squared deviations of some of the values, each of them rounded."""
        mean = self.mean
        blocks = (values[start : start + VALUES_AT_ONCE] for start in range(0, len(values), VALUES_AT_ONCE))
        return sum(exact_sum((np.ldexp(block, -self.exponent) - mean) ** 2) for block in blocks)
