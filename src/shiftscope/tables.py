"""User input -> `Table`: the only place where arrays, frames and files are coerced.

Everything that follows may trust a `Table`: unique names, columns of one length, finite float64 numbers.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import numbers
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import issparse

from shiftscope.errors import InputError

MIN_ROWS = 2  # one row has no spread, so nothing can be standardised or compared
NAMES_SHOWN = 3  # a message names this many columns and counts the rest
TEXT_SHOWN = 60  # characters of a name or value in a message
MISSING_TEXT = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None")  # read from a CSV as missing
DELIMITERS = (",", ";", "\t", "|")

_NUMBER = (numbers.Real, decimal.Decimal, np.bool_)
_DATE = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_NOT_NUMBERS: tuple[tuple[tuple[type, ...], str, str], ...] = (
    ((str, bytes), "text", "convert text to numbers or drop the column"),
    (_DATE, "dates or times", "turn dates into numbers, such as days since a start, or drop the column"),
    ((numbers.Complex,), "complex numbers", "split complex numbers into real and imaginary columns"),
    ((object,), "values that are not numbers", "take nested values apart into columns or drop the column"),
)
_UNREADABLE = (Exception, pl.exceptions.PanicException)  # parsers raise anything on a corrupt file
_FORMS = "a 2-D NumPy array, a list of rows, a data frame or the path of a file"


@dataclass(frozen=True)
class Table:
    """One sample, coerced.

    Attributes
    ----------
    names
        One name per column, unique.
    columns
        One (n_rows,) float64 array per column, all finite. Columns that were float64 already are views of the
        user's data, not copies.
    n_rows
        Number of rows, at least `MIN_ROWS`.
    positional
        The data had no names of their own; the columns are called x0, x1, ... by position.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[np.float64], ...]
    n_rows: int
    positional: bool = False


def read_table(data: Any, role: str) -> Table:
    """Coerce one sample into a `Table`.

    Parameters
    ----------
    data
        A NumPy array (n, d), or (n,) for one column; a list of rows; a pandas, polars, pyarrow or any other
        frame that narwhals supports, eager or lazy; or the path of a CSV (.csv, .tsv, .txt, also .gz),
        Parquet, Arrow/Feather IPC or NPY file. Integers, decimals and booleans become float64.
    role
        "reference" or "current": who is to blame in a message.

    Raises
    ------
    InputError
        One line with the role, the columns (the first few, the rest counted), the rule and the remedy.
    """
    raw = _read_file(data, role) if isinstance(data, str | os.PathLike) else _open_object(data, role)
    names = _checked_names(raw.names, role)
    columns = [_read_column(column) for column in raw.columns]
    _raise_faults(names, columns, role)
    arrays = tuple(column for column in columns if not isinstance(column, _Fault))
    n_rows = len(arrays[0])
    if n_rows < MIN_ROWS:
        found = "1 row" if n_rows else "no rows"
        raise InputError(f"{role}: has {found}; each sample needs at least {MIN_ROWS} rows, so give more data")
    return Table(names, arrays, n_rows, raw.positional)


def shown(text: object) -> str:
    """Quote a name or value for a message: one line, nothing unprintable, at most `TEXT_SHOWN` characters."""
    quoted = repr(str(text))
    tail = TEXT_SHOWN // 3
    return quoted if len(quoted) <= TEXT_SHOWN else f"{quoted[: TEXT_SHOWN - tail - 1]}…{quoted[-tail:]}"


def listed(names: Sequence[object]) -> str:
    """Quote the first `NAMES_SHOWN` names and count the rest."""
    rest = len(names) - NAMES_SHOWN
    return ", ".join(shown(name) for name in names[:NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


@dataclass(frozen=True)
class _Raw:
    """A sample taken apart into columns that are still of any type: narwhals series, arrays or lists."""

    names: Sequence[object]
    columns: Iterable[Any]
    positional: bool = False


@dataclass(frozen=True)
class _Fault:
    """Why a column cannot be used, worded to follow its name, and what to do about it."""

    what: str
    remedy: str


def _open_object(data: Any, role: str) -> _Raw:
    """Take an object in memory apart into columns."""
    if issparse(data):
        raise InputError(f"{role}: is a sparse matrix; only dense data can be compared, so pass .toarray()")
    frame = _as_frame(data, role)
    if isinstance(frame, _Raw):
        return frame
    if isinstance(data, list | tuple):
        return _from_rows(data, role)
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "biuf":
        return _from_array(np.ma.filled(data.astype(np.float64), np.nan), role)
    if hasattr(data, "__array__"):
        return _from_array(np.asarray(data), role)
    raise InputError(f"{role}: cannot be read from an object of type {type(data).__name__}; pass {_FORMS}")


def _as_frame(data: Any, role: str) -> _Raw | None:
    """Take a frame or series apart; None if it is neither."""
    try:
        frame = nw.from_native(data, pass_through=True, allow_series=True)
        if hasattr(frame, "__arrow_c_array__") and not isinstance(frame, nw.Series):  # a pyarrow RecordBatch
            frame = nw.from_native(pl.DataFrame(frame))
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except nw.exceptions.DuplicateError:  # refused by narwhals, allowed by pandas and pyarrow
        return _Raw(getattr(data, "column_names", None) or list(data.columns), ())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{role}: the lazy frame cannot be collected ({_one_line(error)}); repair its source"
        ) from error
    if isinstance(frame, nw.Series):
        return _Raw([frame.name or "x0"], [frame], positional=not frame.name)
    return _Raw(frame.columns, frame.iter_columns()) if isinstance(frame, nw.DataFrame) else None


def _from_rows(rows: Sequence[Any], role: str) -> _Raw:
    """Turn a list of rows (or of numbers: one column) into columns, which may then differ in type."""
    try:
        array = np.asarray(rows)
    except ValueError as error:
        lengths = [len(row) if isinstance(row, Sequence | np.ndarray) else 1 for row in rows]
        odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), 0)
        raise InputError(
            f"{role}: rows differ in length ({lengths[0]} values in row 0, {lengths[odd]} in row {odd}); "
            "give every row the same number of values"
        ) from error
    if array.ndim == 2 and array.dtype.kind in "OUS":  # text beside numbers: NumPy made one type of them all
        return _Raw(_positions(array.shape[1]), list(zip(*rows, strict=True)), positional=True)
    return _Raw(["x0"], [rows], positional=True) if array.dtype.kind in "OUS" else _from_array(array, role)


def _from_array(array: NDArray[Any], role: str) -> _Raw:
    """Split an array (n, d) into its columns, as views."""
    if array.ndim not in (1, 2):
        raise InputError(f"{role}: the array has {array.ndim} dimensions; pass a 2-D array, one row per observation")
    if array.dtype.kind in "OV":
        raise InputError(
            f"{role}: the array has dtype {shown(str(array.dtype))}; numbers are needed, "
            "so convert it with .astype(float) or pass a data frame"
        )
    table = array[:, np.newaxis] if array.ndim == 1 else array
    return _Raw(_positions(table.shape[1]), list(table.T), positional=True)


def _positions(count: int) -> list[str]:
    return [f"x{position}" for position in range(count)]


def _read_file(data: str | os.PathLike[str], role: str) -> _Raw:
    """Read a file, by its suffix, into columns."""
    path = Path(data).expanduser()
    if os.path.isdir(path):
        raise InputError(f"{role}: {shown(path)} is a directory; give the path of one file")
    if not os.path.exists(path):
        raise InputError(f"{role}: there is no file {shown(path)}; check the path")
    suffix = Path(re.sub(r"(\.csv|\.tsv|\.txt)\.gz$", r"\1", path.name.lower())).suffix
    if suffix not in _READERS:
        known = ", ".join(_READERS)
        raise InputError(
            f"{role}: {shown(path)} has an unknown suffix; convert the file to one of {known} (text also .gz)"
        )
    kind, reader = _READERS[suffix]
    try:
        content = reader(path)
    except _UNREADABLE as error:
        raise InputError(
            f"{role}: {shown(path)} cannot be read as {kind} ({_one_line(error)}); write the file again"
        ) from error
    return content if isinstance(content, _Raw) else _open_object(content, role)


def _read_csv(path: Path) -> _Raw:
    """Read delimited text as numbers; columns where that leaves gaps are read again as text, to see why."""
    names, delimiter = _csv_header(path)
    read = partial(pl.read_csv, path, separator=delimiter, null_values=list(MISSING_TEXT), glob=False)
    frame = read(schema_overrides=[pl.Float64] * len(names), ignore_errors=True)
    gaps = [position for position, column in enumerate(frame) if column.null_count()]
    texts = read(columns=gaps, infer_schema=False) if gaps else pl.DataFrame()
    frame = frame.with_columns(_parsed(text) for text in texts)
    return _Raw(names, nw.from_native(frame).iter_columns())


def _csv_header(path: Path) -> tuple[list[str], str]:
    """Names as written (polars renames duplicates), and the delimiter that the header line has most of."""
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
        line = re.sub(r'"[^"]*"', "", lines.readline())
        delimiter = max(DELIMITERS, key=line.count)
        lines.seek(0)
        return [name.strip() for name in next(csv.reader(lines, delimiter=delimiter), [])], delimiter


def _parsed(text: pl.Series) -> pl.Series:
    """Text as numbers, booleans as 0 and 1; a column in which anything else is found stays text."""
    plain = text.str.strip_chars().str.to_lowercase().replace({"true": "1", "false": "0"})
    parsed = plain.cast(pl.Float64, strict=False)
    return parsed if parsed.null_count() == text.null_count() else text


def _read_ipc(path: Path) -> pl.DataFrame:
    with path.open("rb") as file:  # polars would take a path with brackets for a pattern
        return pl.read_ipc(file)


_READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), ("delimited UTF-8 text", _read_csv)),
    **dict.fromkeys((".parquet", ".pq"), ("Parquet", partial(pl.read_parquet, glob=False, hive_partitioning=False))),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), ("Arrow IPC", _read_ipc)),
    ".npy": ("NPY", partial(np.load, allow_pickle=False)),
}


def _one_line(error: BaseException) -> str:
    """The start of another library's message, safe to show in a line."""
    text = " ".join(str(error).split())[: 2 * TEXT_SHOWN]
    return "".join(character if character.isprintable() else "?" for character in text)


def _checked_names(raw: Sequence[object], role: str) -> tuple[str, ...]:
    """Names as text, after the check that each is there and unique."""
    names = tuple(str(name) for name in raw)
    if not names:
        raise InputError(f"{role}: has no columns; give at least one column of numbers")
    if "" in names:
        raise InputError(
            f"{role}: column {names.index('')} (counting from 0) has an empty name; name it or drop it "
            "(a CSV written together with its row index has such a column)"
        )
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise InputError(
            f"{role}: more than one column is named {listed(repeated)}; columns are matched by name, so rename them"
        )
    return names


def _read_column(raw: Any) -> NDArray[np.float64] | _Fault:
    """Turn one column of any type into finite float64 numbers, or say why that cannot be."""
    column = _as_numbers(raw)
    return column if isinstance(column, _Fault) else _finite(column)


def _as_numbers(raw: Any) -> NDArray[np.float64] | _Fault:
    """Cast a column that has a number type as a whole, and read any other value by value."""
    if isinstance(raw, nw.Series):
        if raw.dtype.is_numeric() or raw.dtype == nw.Boolean:
            return np.asarray(raw.cast(nw.Float64).to_numpy(), dtype=np.float64)
        if raw.dtype in (nw.Categorical, nw.Enum):  # a category is no number, even if its level is called 1
            raw = raw.cast(nw.String)
    elif isinstance(raw, np.ndarray) and raw.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, and is reported so
            return np.asarray(raw, dtype=np.float64)
    return _read_values(raw)


def _read_values(values: Iterable[Any]) -> NDArray[np.float64] | _Fault:
    """Read a column without a number type value by value; the first that is no number tells what is wrong."""
    found: list[float] = []
    number_as_text: _Fault | None = None
    for row, value in enumerate(values):
        if isinstance(value, _NUMBER):
            found.append(_as_float(value))
        elif value is None or type(value).__name__ in ("NAType", "NaTType"):
            found.append(np.nan)
        elif isinstance(value, str) and _looks_like_number(value):
            number_as_text = number_as_text or _value_fault(value, row)
        else:
            return _value_fault(value, row)
    return number_as_text or np.array(found, dtype=np.float64)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf
    except ValueError:  # a signalling NaN of decimal
        return np.nan


def _looks_like_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value_fault(value: Any, row: int) -> _Fault:
    """Name the kind of a value that is not a number."""
    kind, remedy = next(entry[1:] for entry in _NOT_NUMBERS if isinstance(value, entry[0]))
    return _Fault(f"holds {kind} such as {shown(value)} (row {row}, counting from 0)", remedy)


def _finite(column: NDArray[np.float64]) -> NDArray[np.float64] | _Fault:
    """Let a column pass only if every number is finite."""
    if np.isfinite(column).all():
        return column
    bad = ~np.isfinite(column)
    missing = int(np.count_nonzero(np.isnan(column)))
    infinite = int(np.count_nonzero(bad)) - missing
    counts = [f"{count} {kind}" for count, kind in ((missing, "missing"), (infinite, "infinite")) if count]
    plural = "s" if missing + infinite > 1 else ""
    return _Fault(
        f"has {' and '.join(counts)} value{plural} (first in row {int(bad.argmax())}, counting from 0)",
        "fill in such values or drop their rows",
    )


def _raise_faults(names: Sequence[str], columns: Sequence[NDArray[np.float64] | _Fault], role: str) -> None:
    """Report the faults of all columns together: the first few in full, the rest counted."""
    faults = [(name, column) for name, column in zip(names, columns, strict=True) if isinstance(column, _Fault)]
    if not faults:
        return
    named = ", ".join(f"column {shown(name)} {fault.what}" for name, fault in faults[:NAMES_SHOWN])
    rest = len(faults) - NAMES_SHOWN
    others = f" and {rest} more column{'s' if rest > 1 else ''} cannot be used" if rest > 0 else ""
    remedies = dict.fromkeys(fault.remedy for _, fault in faults[:NAMES_SHOWN])
    raise InputError(f"{role}: {named}{others}; numbers are needed, so {'; '.join(remedies)}")
