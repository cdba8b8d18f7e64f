"""What is odd about a column, seen without any search: gaps, constants, rounding, units, levels that come and go.

A flag is a fact of the rows at hand; rules keep out what chance does. `SURE` is how unlikely a flag must be by chance,
about, for columns in which nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, isfinite, log, log10, sqrt

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.apart import SURE, log_split
from shiftscope.messages import percent, readable
from shiftscope.overview.column_overview import ColumnSide, Flag

GAP_ERRORS = 4.9  # standard errors by which two shares differ: SURE, two-sided
DIGITS = 12  # significant digits in which values are the user's: the matrix they come from is rounded
STEP_DECIMALS = 6  # most decimals of a step
ONE_DECIMAL = 10.0  # what a step counts for beside values that have none: one decimal
LARGE_EFFECT = 1.0  # pooled standard deviations: another unit moves a column at least so far ...
CONVERTED = 0.15  # ... and conversion leaves no more than this
QUANTILES = np.linspace(0.05, 0.95, 19)
ODD_LEVELS_NAMED = 5  # levels that come or go which are named

Text = Callable[[float], str]


@dataclass(frozen=True)
class Unit:
    """A conversion of units: y = factor * x + offset."""

    factor: float
    offset: float
    words: str

    def formula(self, other: str) -> str:
        """The converted sample in terms of the other one."""
        times = f"{self.factor:.6g} x {other}" if self.factor != 1 else other
        return f"{times}{f' + {self.offset:g}' if self.offset else ''} ({self.words})"


UNITS = (
    Unit(10.0, 0.0, "as from cm to mm"),
    Unit(100.0, 0.0, "as from m to cm, or shares to per cent"),
    Unit(1e3, 0.0, "as from kilo to one, or s to ms"),
    Unit(1e6, 0.0, "as from s to µs"),
    Unit(1e9, 0.0, "as from s to ns"),
    Unit(2.54, 0.0, "as from inches to cm"),
    Unit(25.4, 0.0, "as from inches to mm"),
    Unit(12.0, 0.0, "as from feet to inches, or years to months"),
    Unit(30.48, 0.0, "as from feet to cm"),
    Unit(1.0 / 0.3048, 0.0, "as from metres to feet"),
    Unit(1.609344, 0.0, "as from miles to km"),
    Unit(1.0 / 0.45359237, 0.0, "as from kg to pounds"),
    Unit(28.349523, 0.0, "as from ounces to grams"),
    Unit(3.785412, 0.0, "as from gallons to litres"),
    Unit(3.6, 0.0, "as from m/s to km/h"),
    Unit(60.0, 0.0, "as from hours to minutes"),
    Unit(3600.0, 0.0, "as from hours to seconds"),
    Unit(24.0, 0.0, "as from days to hours"),
    Unit(7.0, 0.0, "as from weeks to days"),
    Unit(365.25, 0.0, "as from years to days"),
    Unit(4.184, 0.0, "as from kcal to kJ"),
    Unit(18.0182, 0.0, "as glucose from mmol/l to mg/dl"),
    Unit(38.67, 0.0, "as cholesterol from mmol/l to mg/dl"),
    Unit(88.42, 0.0, "as creatinine from mg/dl to µmol/l"),
    Unit(133.322, 0.0, "as from mmHg to Pa"),
    Unit(1.8, 32.0, "as from Celsius to Fahrenheit"),
    Unit(1.0, 273.15, "as from Celsius to kelvin"),
)


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
    found = [
        *((_left(unit, first, second), unit, True) for unit in UNITS),
        *((_left(unit, second, first), unit, False) for unit in UNITS),
    ]
    left, unit, forward = min(found, key=lambda entry: entry[0])
    if left <= CONVERTED:
        yield Flag("unit", "", unit.formula("reference")) if forward else Flag("unit", unit.formula("current"), "")


def _left(unit: Unit, before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """How far quantiles still differ after conversion, in standard deviations, about, of the converted ones."""
    converted = unit.factor * before + unit.offset
    spread = float(converted[-1] - converted[0]) / 3.29  # between 5 % and 95 % of a normal variable
    return float(np.mean(np.abs(converted - after))) / spread if spread > 0 else float("inf")


def _apart(first: ColumnSide, second: ColumnSide) -> bool:
    """Whether the ranges do not meet, and chance does not do that."""
    apart = first.high < second.low or second.high < first.low
    return apart and log_split(first.rows - first.missing, second.rows - second.missing) < log(SURE)


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
    return f"{percent(rows / (side.rows - side.missing))} are {value}"


def _always(side: ColumnSide, text: Text) -> str:
    return f"always {text(side.low)}" if side.distinct == 1 else _span(side, text)


def _span(side: ColumnSide, text: Text) -> str:
    low, high = text(side.low), text(side.high)
    return low if low == high else f"{low} to {high}"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - ODD_LEVELS_NAMED:,} more" if len(names) > ODD_LEVELS_NAMED else ""
    return ", ".join(readable(name) for name in names[:ODD_LEVELS_NAMED]) + more
