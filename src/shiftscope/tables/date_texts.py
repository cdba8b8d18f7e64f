"""Texts of dates and times of day -> seconds, whole columns at a time."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.tables.field_kinds import (
    CLOCK,
    COMPACT_DATE,
    DAY_MONTH,
    DOTTED_CLOCK,
    MONTH_DAY,
    MONTHS,
    NUMERIC_DATE,
    YEAR_MONTH,
)

Order = Literal["ymd", "mdy", "dmy"]
ORDERS: tuple[Order, ...] = get_args(Order)
CENTURY = 69  # a year of two digits from here on is of the last century
DAY = 86400.0
Floats = NDArray[np.float64]


def date_values(text: pl.Series, order: Order) -> Floats:
    """Seconds since 1970 UTC of dates, with or without a time; NaN where a text is none in this order.

    A year of four digits in front and names of months need no order. Times without a zone are taken for UTC.
    """
    values = _numeric(text, order)
    for other in (_day_month, _month_day, _year_month):
        left = np.isnan(values) & text.is_not_null().to_numpy()
        if not left.any():
            break
        values[left] = other(text.filter(pl.Series(left)))
    return values


def clock_values(text: pl.Series) -> Floats:
    """Seconds since midnight of times of day; NaN where a text is none."""
    parts = _groups(text, CLOCK)
    values = _seconds_of_day(parts)
    left = np.isnan(values)
    if left.any():
        dotted = _groups(text.filter(pl.Series(left)), DOTTED_CLOCK)
        empty = pl.Series([None] * int(left.sum()), dtype=pl.String)
        values[left] = _seconds_of_day([*dotted, empty, empty])
    return values


def compact_date_values(text: pl.Series) -> Floats:
    """Seconds since 1970 UTC of dates such as 20240131; NaN where a text is none."""
    year, month, day = (_number(part) for part in _groups(text, COMPACT_DATE))
    none = pl.Series([None] * len(text), dtype=pl.String)
    return _point(year, month, day, [none] * 6)


def _numeric(text: pl.Series, order: Order) -> Floats:
    first, _, middle, last, *rest = _groups(text, NUMERIC_DATE)
    a, b, c = (_number(part) for part in (first, middle, last))
    long_first, long_last = (part.str.len_chars().fill_null(0).to_numpy() == 4 for part in (first, last))
    short = ~long_first & ~long_last & (first.str.len_chars().fill_null(0).to_numpy() < 3)
    year_first = long_first | (short & (order == "ymd"))
    if order == "mdy":
        day, month = b, a
    else:
        day, month = a, b
    known = year_first | (order != "ymd")
    year = np.where(year_first, a, np.where(known, c, np.nan))
    year = np.where(short, np.where(year >= CENTURY, 1900 + year, 2000 + year), year)
    too_long = (~year_first & ~long_last & ~short) | (year_first & long_last)
    year = np.where(too_long, np.nan, year)
    return _point(year, np.where(year_first, b, month), np.where(year_first, c, day), rest)


def _day_month(text: pl.Series) -> Floats:
    day, month, year, *rest = _groups(text, DAY_MONTH)
    return _point(_long_year(year), _month(month), _number(day), rest)


def _month_day(text: pl.Series) -> Floats:
    month, day, year, *rest = _groups(text, MONTH_DAY)
    return _point(_long_year(year), _month(month), _number(day), rest)


def _year_month(text: pl.Series) -> Floats:
    year, month = _groups(text, YEAR_MONTH)
    none = pl.Series([None] * len(text), dtype=pl.String)
    return _point(_number(year), _number(month), np.ones(len(text)), [none] * 6)


def _long_year(text: pl.Series) -> Floats:
    year = _number(text)
    return np.where(year < 100, np.where(year >= CENTURY, 1900 + year, 2000 + year), year)


def _month(text: pl.Series) -> Floats:
    return text.str.to_lowercase().replace_strict(MONTHS, default=None, return_dtype=pl.Float64).to_numpy()


def _point(year: Floats, month: Floats, day: Floats, rest: list[pl.Series]) -> Floats:
    """Days and times together; NaN where the calendar has no such day or the clock no such time."""
    good = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    y, m, d = (np.where(good, part, 1).astype(np.int64) for part in (year, month, day))
    months = (y - 1970) * 12 + (m - 1)
    first = months.astype("M8[M]").astype("M8[D]")
    length = ((months + 1).astype("M8[M]").astype("M8[D]") - first).astype(np.int64)
    days = first.astype(np.int64) + d - 1
    *clock, zone = rest
    written = clock[0].is_not_null().to_numpy()
    time = np.where(written, _seconds_of_day(clock), 0.0)
    return np.where(good & (d <= length), days * DAY + time - _offset(zone), np.nan)


def _seconds_of_day(parts: list[pl.Series]) -> Floats:
    """From hours, minutes, seconds, digits behind the second, and am or pm."""
    hours, minutes, seconds = (_number(part) for part in parts[:3])
    half = parts[3 + 1].str.to_lowercase().str.slice(0, 1)
    noon = (half == "p").fill_null(False).to_numpy()
    halved = half.is_not_null().to_numpy()
    fine = (~halved & (hours < 24)) | (halved & (hours >= 1) & (hours <= 12))
    hours = np.where(halved, hours % 12 + 12 * noon, hours)
    seconds = np.where(np.isnan(seconds), 0.0, seconds)
    ticks = ("0." + parts[3]).cast(pl.Float64, strict=False).fill_null(0.0).to_numpy()
    micro = np.round(ticks * 1e6)
    found = hours * 3600 + minutes * 60 + seconds
    whole = np.where(fine & (minutes < 60) & (seconds < 60), found, np.nan)
    return np.asarray((whole * 1e6 + micro) / 1e6)


def _offset(zone: pl.Series) -> Floats:
    """Seconds that a zone is ahead of UTC."""
    digits = zone.str.replace(":", "", literal=True).str.replace(r"^([+-])(\d)$", "${1}0$2")
    sign = np.where((digits.str.slice(0, 1) == "-").fill_null(False).to_numpy(), -1.0, 1.0)
    hours, minutes = (digits.str.slice(at, 2).cast(pl.Float64, strict=False).fill_null(0.0).to_numpy() for at in (1, 3))
    return np.asarray(sign * (hours * 3600 + minutes * 60))


def _groups(text: pl.Series, form: str) -> list[pl.Series]:
    """What the groups of a form hold in each text; null where it does not match."""
    found = text.str.extract_groups(form).struct.unnest()
    return [found.to_series(at) for at in range(found.width)]


def _number(text: pl.Series) -> Floats:
    """Digits as numbers, NaN where there are none."""
    return text.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
