"""Dates, times of day and spans: texts to seconds, and seconds to the text that people read."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

ISO_DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$"
CLOCK = r"^\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$"
DAY = 86400.0
SECOND = np.timedelta64(1, "s")
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


def dated(text: pl.Series) -> pl.Series:
    """ISO 8601 dates, with or without a time, as points in time (UTC); anything else stays text."""
    known = {value: seconds(value) for value in text.drop_nulls().unique()}
    if None in known.values():
        return text
    ticks = [None if value is None else round(1e6 * (known[value] or 0.0)) for value in text]
    return pl.Series(text.name, ticks, dtype=pl.Int64).cast(pl.Datetime("us"))


def clocked(text: pl.Series) -> pl.Series:
    """Times of day; text if one of them is none."""
    known = {value: clock_seconds(value) for value in text.drop_nulls().unique()}
    if None in known.values():
        return text
    ticks = [None if value is None else round(1e9 * (known[value] or 0.0)) for value in text]
    return pl.Series(text.name, ticks, dtype=pl.Int64).cast(pl.Time)


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


def date_seconds(value: datetime.date | np.datetime64) -> float:
    """Seconds since 1970 UTC of a date or a point in time."""
    if isinstance(value, np.datetime64):
        return float("nan") if np.isnat(value) else float((value - np.datetime64(0, "s")) / SECOND)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, _MIDNIGHT)
    return value.replace(tzinfo=value.tzinfo or datetime.UTC).timestamp()


def time_seconds(value: datetime.time) -> float:
    """Seconds since midnight."""
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond * 1e-6
