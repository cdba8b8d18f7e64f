"""Dates, times of day and spans: texts to seconds, and seconds to the text that people read."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

DAY = 86400.0
_SECONDS_OF = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1, "generic": 1}  # seconds of a unit
_PER_SECOND = {"ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12, "fs": 1e15, "as": 1e18}  # units of a second
_FURTHEST = 1_000_000_000  # years or months from 1970 that days can count
_MIDNIGHT = datetime.time()


def seconds(text: str) -> float | None:
    """Seconds since 1970 UTC of an ISO 8601 date or date and time; None if the text is neither."""
    try:
        when = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return when.replace(tzinfo=when.tzinfo or datetime.UTC).timestamp()


def clock_seconds(text: str) -> float | None:
    """Seconds since midnight of an ISO 8601 time of day; None if the text is none."""
    try:
        return time_seconds(datetime.time.fromisoformat(text.strip()))
    except ValueError:
        return None


def time_text(kind: str, value: float) -> str:
    """Seconds as a date (with the time of day unless midnight), a time of day or a span, by the kind of the column."""
    if kind == "duration":
        return f"{value / DAY:.4g} days" if abs(value) >= DAY else f"{value:.4g} s"
    if kind == "time":
        return str(datetime.timedelta(seconds=round(value)))
    try:
        when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=round(value))
    except OverflowError:  # beyond the years 1 to 9999
        return f"{value:.4g} s since 1970"
    return when.strftime("%Y-%m-%d" if value % DAY == 0 else "%Y-%m-%d %H:%M")


def tick_seconds(raw: NDArray[Any]) -> NDArray[np.float64]:
    """Seconds of NumPy's points in time (since 1970) or spans of it, NaN where they are missing; nothing overflows.

    Raises
    ------
    OverflowError
        If years or months are too far from 1970 to be told in days.
    """
    unit, count = np.datetime_data(raw.dtype)
    ticks = raw.astype(np.int64)
    if unit in ("Y", "M"):
        if (np.abs(ticks[~np.isnat(raw)].astype(np.float64)) * count > _FURTHEST).any():
            raise OverflowError
        return tick_seconds(raw.astype("M8[D]"))
    whole = ticks.astype(np.float64) * count
    return np.where(
        np.isnat(raw), np.nan, whole / _PER_SECOND[unit] if unit in _PER_SECOND else whole * _SECONDS_OF[unit]
    )


def date_seconds(value: datetime.date | np.datetime64) -> float:
    """Seconds since 1970 UTC of a date or a point in time."""
    if isinstance(value, np.datetime64):
        return float(tick_seconds(np.array([value]))[0])
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, _MIDNIGHT)
    return value.replace(tzinfo=value.tzinfo or datetime.UTC).timestamp()


def span_seconds(value: datetime.timedelta | np.timedelta64) -> float:
    """Seconds of a span."""
    return float(tick_seconds(np.array([value]))[0]) if isinstance(value, np.timedelta64) else value.total_seconds()


def time_seconds(value: datetime.time) -> float:
    """Seconds since midnight."""
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond * 1e-6
