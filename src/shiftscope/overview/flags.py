"""What is odd about a column, seen without any search: gaps, constants, rounding, units, levels that come and go.

A flag is a fact of the rows at hand; rules keep out what chance does. `SURE` is how unlikely a flag must be by chance,
about, for columns in which nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, isfinite, log, log10, sqrt

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.apart import SURE, log_split
from shiftscope.encoding.units import other_unit
from shiftscope.messages import percent, readable
from shiftscope.overview.column_overview import ColumnSide, Flag

GAP_ERRORS = 4.9  # standard errors by which two shares differ: SURE, two-sided
DIGITS = 12  # significant digits in which values are the user's: the matrix they come from is rounded
STEP_DECIMALS = 6  # most decimals of a step
ONE_DECIMAL = 10.0  # what a step counts for beside values that have none: one decimal
LARGE_EFFECT = 1.0  # pooled standard deviations: another unit moves a column at least so far ...
CONVERTED = 0.1  # ... and conversion leaves no more than this, and noise
QUANTILES = np.linspace(0.05, 0.95, 19)
NORMAL_SPAN = 1 / 3.29  # a standard deviation as a part of what lies between 5 % and 95 %, of a normal variable
ODD_LEVELS_NAMED = 5  # levels that come or go which are named

Text = Callable[[float], str]


def missing_flag(sides: tuple[ColumnSide, ColumnSide]) -> Iterator[Flag]:
    """The share of missing values differs by more than chance."""
    first, second = sides
    if beyond_noise((first.missing, first.rows), (second.missing, second.rows)):
        yield Flag("missing", percent(first.missing_share), percent(second.missing_share))


def beyond_noise(reference: tuple[int, int], current: tuple[int, int]) -> bool:
    """Whether two shares, each a count of so many rows, differ by more than chance."""
    (a, n), (b, m) = reference, current
    share = (a + b) / (n + m)
    return abs(a / n - b / m) > GAP_ERRORS * sqrt(share * (1.0 - share) * (1.0 / n + 1.0 / m))


def number_flags(
    reference: NDArray[np.float64],
    current: NDArray[np.float64],
    sides: tuple[ColumnSide, ColumnSide],
    text: Text,
    *,
    effect: float,
    plain: bool,
) -> Iterator[Flag]:
    """Of numbers and times that are there; steps and units are those of `plain` numbers only."""
    if not (reference.size and current.size):
        return
    first, second = sides
    if _apart(first, second):
        yield Flag("separate", _span(first, text), _span(second, text))
    elif (first.distinct == 1) != (second.distinct == 1) and _lone_value_is_no_chance(sides, reference, current):
        yield Flag("constant", *(_always(side, text) for side in sides))
    if not plain:
        return
    steps = step_of(reference), step_of(current)
    if _steps_differ(steps, step_of(np.concatenate([reference, current])), sides):
        yield Flag("rounding", *(f"steps of {step:g}" if step else "no step to be seen" for step in steps))
    if first.levels and first.distinct > len(first.levels):
        yield Flag("heap", *(_heap(side) for side in sides))
    if isfinite(effect) and effect >= LARGE_EFFECT:
        yield from _units(reference, current)


def level_flags(levels: tuple[str, ...], reference: NDArray[np.intp], current: NDArray[np.intp]) -> Iterator[Flag]:
    """Levels that only one sample has, in so many rows that chance would have put one into the other."""
    n, m = int(reference.sum()), int(current.sum())
    new = [level for level, a, b in zip(levels, reference, current, strict=True) if not a and _sure(int(b), m, n)]
    lost = [level for level, a, b in zip(levels, reference, current, strict=True) if not b and _sure(int(a), n, m)]
    if levels and not np.any((reference > 0) & (current > 0)) and min(n, m) and log_split(n, m) < log(SURE):
        there = [[level for level, rows in zip(levels, side, strict=True) if rows] for side in (reference, current)]
        yield Flag("separate", *(_named(names) for names in there))
        return
    if new:
        yield Flag("new levels", "", _named(new))
    if lost:
        yield Flag("lost levels", _named(lost), "")


def step_of(values: NDArray[np.float64]) -> float:
    """The largest step, in at most `STEP_DECIMALS` decimals, that divides all differences of the values; 0: none."""
    distinct = np.unique(tidy(values))
    if distinct.size < 2:
        return 0.0
    for decimals in range(STEP_DECIMALS + 1):
        scaled = distinct * 10.0**decimals
        whole = np.rint(scaled)
        if np.abs(whole).max() >= 2.0**52:
            return 0.0
        if np.allclose(scaled, whole, rtol=10.0 ** -(DIGITS - 1), atol=1e-6):
            return float(np.gcd.reduce(np.diff(whole).astype(np.int64))) / 10.0**decimals
    return 0.0


def tidy(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values to `DIGITS` significant digits of the largest: what the way through the matrix has rounded is undone."""
    largest = float(np.abs(values).max(initial=0.0))
    decimals = DIGITS - ceil(log10(largest)) if 0.0 < largest < float("inf") else 0
    return np.round(values, decimals) if -300 < decimals < 300 else values


def _steps_differ(steps: tuple[float, float], common: float, sides: tuple[ColumnSide, ColumnSide]) -> bool:
    """Whether a sample's own step is no chance: values that know only the common step all fall on the wider one."""
    if steps[0] == steps[1] or min(side.distinct for side in sides) < 2:
        return False
    wider = [log(step / common if common else ONE_DECIMAL) if step > common else 0.0 for step in steps]
    return any((side.distinct - 1) * own > -log(SURE) for side, own in zip(sides, wider, strict=True))


def _units(reference: NDArray[np.float64], current: NDArray[np.float64]) -> Iterator[Flag]:
    """A conversion after which the samples are alike, if there is one: the best."""
    first, second = np.quantile(reference, QUANTILES), np.quantile(current, QUANTILES)
    noise = 2.0 * sqrt(1.0 / reference.size + 1.0 / current.size)
    formulas = other_unit(first, second, np.full(QUANTILES.size, (CONVERTED + noise) * NORMAL_SPAN))
    if formulas is not None:
        yield Flag("unit", *formulas)


def _apart(first: ColumnSide, second: ColumnSide) -> bool:
    """Whether the ranges do not meet, and chance does not do that."""
    apart = first.high < second.low or second.high < first.low
    return apart and log_split(first.seen, second.seen) < log(SURE)


def _sure(rows: int, own: int, other: int) -> bool:
    """Whether so many rows with a level would hardly all be among `own` rows beside `other` ones."""
    return rows > 0 and rows * log(own / (own + other)) < log(SURE)


def _lone_value_is_no_chance(
    sides: tuple[ColumnSide, ColumnSide], reference: NDArray[np.float64], current: NDArray[np.float64]
) -> bool:
    """Whether the rows of the other sample with other values would hardly all be there."""
    lone, other = (reference, current) if sides[0].distinct == 1 else (current, reference)
    return _sure(int(np.sum(other != lone[0])), other.size, lone.size)


def _heap(side: ColumnSide) -> str:
    """The value that stands out, and its share of the values that are there."""
    value, rows = side.levels[0]
    return f"{percent(rows / side.seen)} are {value}"


def _always(side: ColumnSide, text: Text) -> str:
    return f"always {text(side.low)}" if side.distinct == 1 else _span(side, text)


def _span(side: ColumnSide, text: Text) -> str:
    low, high = text(side.low), text(side.high)
    return low if low == high else f"{low} to {high}"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - ODD_LEVELS_NAMED:,} more" if len(names) > ODD_LEVELS_NAMED else ""
    return ", ".join(readable(name) for name in names[:ODD_LEVELS_NAMED]) + more
