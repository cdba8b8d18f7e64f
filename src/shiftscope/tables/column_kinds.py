"""One column of any type -> numbers that the encoding can work with, and what they stand for."""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.messages import shown, writable
from shiftscope.tables.dates import (
    clock_seconds,
    date_seconds,
    seconds,
    span_seconds,
    tick_seconds,
    time_seconds,
    time_text,
)

Kind = Literal["number", "date", "time", "duration", "category"]
KINDS: tuple[Kind, ...] = get_args(Kind)
WHOLE_SHOWN = 1e15  # whole numbers up to here are written without a point as levels

_NUMBER = (numbers.Real, decimal.Decimal, np.bool_)
_NESTED = (list, tuple, dict, set, frozenset, np.ndarray)
_TRUTH = {"true": 1.0, "false": 0.0}
_NO_FIXED_LENGTH = "holds spans of months or years, which have no fixed length; make them days or numbers"
_TOO_FAR = "holds dates too far from 1970 to be counted; correct them or make them numbers"


@dataclass(frozen=True)
class Column:
    """One column, coerced.

    Attributes
    ----------
    kind
        "number"; "date" (seconds since 1970 UTC), "time" (seconds since midnight), "duration" (seconds);
        "category" (positions in `levels`).
    values
        (n_rows,) float64; NaN where the value is missing.
    levels
        The distinct values of a category as text, sorted; empty for any other kind.
    whole
        The data had an integer type.
    """

    kind: Kind
    values: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    whole: bool = False

    @property
    def empty(self) -> bool:
        """No value is there: such a column agrees with any kind."""
        return bool(np.isnan(self.values).all())

    def texts(self) -> list[str | None]:
        """Each value as the text it would have as a level; None where it is missing."""
        if self.kind == "category":
            return [None if np.isnan(value) else self.levels[int(value)] for value in self.values]
        return [None if np.isnan(value) else value_text(self.kind, value) for value in self.values]


@dataclass(frozen=True)
class Unusable:
    """Why a column takes no part, worded to follow its name."""

    reason: str


def read_column(raw: Any) -> Column | Unusable:
    """Coerce a narwhals series, an array or a list of values of any type."""
    if isinstance(raw, nw.Series):
        return _from_series(raw)
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, and is reported so
            return Column("number", np.asarray(raw, dtype=np.float64), whole=raw.dtype.kind in "iu")
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "mM":
        return _from_ticks(raw)
    return _from_values(raw)


def declared_fault(own: Kind, levels: Sequence[str], kind: Kind) -> str | None:
    """What stands in the way of a column, with its own kind and texts, of the declared kind (to follow "it")."""
    if own == kind or (own == "number" and kind != "number"):  # seconds, as any kind of time is kept
        return None
    if own == "category":
        return text_fault(levels, kind)
    if kind == "category":
        return "holds dates or times, which cannot be declared as a category"
    return f"holds values of kind {own!r}"


def text_fault(levels: Sequence[str], kind: Kind) -> str | None:
    """What stands in the way of texts being read as another kind."""
    if kind not in _READ:
        return f"holds text, which cannot be read as a {kind}"
    odd = next((level for level in levels if _READ[kind](level) is None), None)
    return None if odd is None else f"holds {shown(odd)}, which is no {kind}"


def read_as(column: Column, kind: Kind) -> Column:
    """A column as a kind that all of its values are known to have."""
    if column.kind == kind:
        return column
    if column.empty:
        return Column(kind, column.values)
    if kind == "category":
        return categorised(column.texts())
    return _reread(column, kind) if column.kind == "category" else Column(kind, column.values)


def categorised(texts: Iterable[str | None]) -> Column:
    """A category of texts; None is missing."""
    found = list(texts)
    levels = sorted({text for text in found if text is not None})
    position: dict[str | None, float] = {level: float(at) for at, level in enumerate(levels)}
    position[None] = np.nan
    values = np.array([position[text] for text in found], dtype=np.float64)
    return Column("category", values, tuple(writable(level) for level in levels))


def category_of(text: pl.Series) -> Column:
    """A category of a polars series of text; null is missing."""
    levels = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Float64).fill_null(float("nan"))
    return Column("category", codes.to_numpy(), tuple(levels.to_list()))


def _reread(column: Column, kind: Kind) -> Column:
    """Text as the kind that every level is known to write."""
    found = (_READ[kind](level) for level in column.levels)
    table = np.array([*(np.nan if value is None else value for value in found), np.nan])
    at = np.where(np.isnan(column.values), len(column.levels), column.values).astype(np.intp)
    return Column(kind, table[at])


def value_text(kind: Kind, value: float) -> str:
    """A value that is no level, as a level: times in units, numbers in full."""
    return number_text(value) if kind == "number" else time_text(kind, value)


def number_text(value: float) -> str:
    """A number as a level: the shortest text that reads back as it, whole numbers without a point."""
    return str(int(value)) if abs(value) < WHOLE_SHOWN and value == int(value) else repr(float(value))


def parsed_number(text: str) -> float | None:
    """The number that a text writes, with a point or a decimal comma, true and false as 1 and 0; None if it is none."""
    plain = text.strip().lower()
    try:
        return _TRUTH[plain] if plain in _TRUTH else float(plain.replace(",", "."))
    except ValueError:
        return None


_READ = {"number": parsed_number, "date": seconds, "time": clock_seconds}


def _from_series(raw: nw.Series[Any]) -> Column | Unusable:
    """By the type of the series as a whole where that says enough, else value by value."""
    dtype = raw.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = np.asarray(raw.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return Column("number", values, whole=dtype.is_integer())
    if dtype in (nw.Categorical, nw.Enum):  # a category is no number, even if its level is called 1
        try:
            raw = raw.cast(nw.String)
        except UnicodeDecodeError:  # pandas has categories of bytes too
            return _from_values(raw.to_list())
    if raw.dtype == nw.String:
        return categorised(text if isinstance(text, str) else None for text in raw.to_list())
    if dtype == nw.Datetime or dtype == nw.Date:
        if getattr(dtype, "time_zone", None):
            raw = raw.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _from_ticks(raw.to_numpy(), to_microseconds=True)
    if dtype == nw.Duration:
        return _from_ticks(raw.to_numpy())
    return _from_values(raw)


def _from_ticks(raw: NDArray[Any], to_microseconds: bool = False) -> Column | Unusable:
    """Points in time, or spans of it, in seconds; the nanoseconds of a frame's dates are more than seconds can tell."""
    if raw.dtype.kind not in "mM":  # some frames keep objects
        return _from_values(raw.tolist())
    unit, _ = np.datetime_data(raw.dtype)
    if raw.dtype.kind == "m" and unit in ("M", "Y"):
        return Unusable(_NO_FIXED_LENGTH)
    if to_microseconds and unit == "ns":
        raw = np.where(np.isnat(raw), np.datetime64("NaT", "us"), (raw.astype(np.int64) // 1000).astype("M8[us]"))
    try:
        return Column("date" if raw.dtype.kind == "M" else "duration", tick_seconds(raw))
    except OverflowError:
        return Unusable(_TOO_FAR)


def _from_values(raw: Iterable[Any]) -> Column | Unusable:
    """A column without a type of its own, value by value: all of one kind, or a category of their texts."""
    try:
        values = [None if _is_missing(value) else value for value in raw]
    except (OverflowError, ValueError):  # of dates that Python cannot hold
        return Unusable(_TOO_FAR)
    found = [value for value in values if value is not None]
    if all(isinstance(value, _NUMBER) and not isinstance(value, np.timedelta64) for value in found):
        return Column("number", np.array([_as_float(value) for value in values], dtype=np.float64))
    if all(isinstance(value, datetime.date | np.datetime64) for value in found):
        try:
            return Column("date", np.array([np.nan if v is None else date_seconds(v) for v in values]))
        except OverflowError:
            return Unusable(_TOO_FAR)
    if all(isinstance(value, datetime.timedelta | np.timedelta64) for value in found):
        if any(isinstance(v, np.timedelta64) and np.datetime_data(v.dtype)[0] in ("M", "Y") for v in found):
            return Unusable(_NO_FIXED_LENGTH)
        return Column("duration", np.array([np.nan if v is None else span_seconds(v) for v in values]))
    if all(isinstance(value, datetime.time) for value in found):
        return Column("time", np.array([np.nan if v is None else time_seconds(v) for v in values]))
    odd = next((value for value in found if not isinstance(value, (str, *_NUMBER))), None)
    if odd is None:
        return categorised(_text_of(value) for value in values)
    if isinstance(odd, bytes):
        return Unusable(f"holds bytes such as {shown(odd)}; decode them to text")
    if isinstance(odd, numbers.Complex):
        return Unusable(f"holds complex numbers such as {shown(odd)}; split them into real and imaginary columns")
    if isinstance(odd, _NESTED) or hasattr(odd, "to_list"):
        plain = odd.to_list() if hasattr(odd, "to_list") else odd
        return Unusable(f"holds nested values such as {shown(plain)}; take them apart into columns")
    kinds = sorted({type(value).__name__ for value in found})
    return Unusable(
        f"holds values of type {' and '.join(kinds[:2])} such as {shown(odd)}; convert them to numbers, text or dates"
    )


def _is_missing(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _as_float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf
    except ValueError:  # a signalling NaN of decimal
        return np.nan


def _text_of(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else str(value)  # NumPy's texts too
    return str(value) if isinstance(value, bool | np.bool_) else number_text(_as_float(value))
