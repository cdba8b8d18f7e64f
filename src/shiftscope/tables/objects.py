"""Objects in memory -> columns of any type: arrays, lists of rows, and data frames of any library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.forked_polars import need_polars
from shiftscope.messages import one_line, shown

_FORMS = "a 2-D NumPy array, a list of rows, a data frame or the path of a file"


@dataclass(frozen=True)
class Raw:
    """A sample taken apart into columns that are still of any type: narwhals series, arrays or lists."""

    names: Sequence[object]
    columns: Iterable[Any]
    positional: bool = False


def open_object(data: Any, role: str) -> Raw:
    """Take an object in memory apart into columns."""
    if type(data).__module__.startswith("scipy.sparse"):
        raise InputError(f"{role}: is a sparse matrix; only dense data can be compared, so pass .toarray()")
    frame = _as_frame(data, role)
    if isinstance(frame, Raw):
        return frame
    if isinstance(data, list | tuple):
        return _from_rows(data, role)
    if isinstance(data, np.ma.MaskedArray):
        plain = data.data.astype(np.float64 if data.dtype.kind in "biuf" else np.object_)
        plain[np.ma.getmaskarray(data)] = np.nan
        return _from_array(plain, role)
    if hasattr(data, "__array__"):
        return _from_array(np.asarray(data), role)
    raise InputError(f"{role}: cannot be read from an object of type {type(data).__name__}; pass {_FORMS}")


def _as_frame(data: Any, role: str) -> Raw | None:
    """Take a frame or series apart; None if it is neither."""
    try:
        frame = nw.from_native(data, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:  # refused by narwhals, allowed by pandas and pyarrow
        return Raw(getattr(data, "column_names", None) or list(data.columns), ())
    known = isinstance(frame, nw.DataFrame | nw.LazyFrame | nw.Series)
    if not known and any(hasattr(frame, f"__arrow_c_{form}__") for form in ("array", "stream")):  # of any Arrow library
        frame = nw.from_native(pl.DataFrame(frame))
    if isinstance(frame, nw.DataFrame | nw.LazyFrame | nw.Series) and frame.implementation.is_polars():
        need_polars()
    if isinstance(frame, nw.LazyFrame):
        try:
            frame = frame.collect()
        except Exception as error:  # of whatever library computes it
            raise InputError(
                f"{role}: the lazy frame cannot be collected ({one_line(error)}); repair its source"
            ) from error
    if isinstance(frame, nw.Series):
        return Raw([frame.name or "x0"], [frame], positional=not frame.name)
    return Raw(frame.columns, frame.iter_columns()) if isinstance(frame, nw.DataFrame) else None


def _from_rows(rows: Sequence[Any], role: str) -> Raw:
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
        return Raw(_positions(array.shape[1]), list(zip(*rows, strict=True)), positional=True)
    return Raw(["x0"], [rows], positional=True) if array.dtype.kind in "OUS" else _from_array(array, role)


def _from_array(array: NDArray[Any], role: str) -> Raw:
    """Split an array (n, d) into its columns, as views."""
    if array.ndim not in (1, 2):
        raise InputError(f"{role}: the array has {array.ndim} dimensions; pass a 2-D array, one row per observation")
    if array.dtype.kind == "V":
        raise InputError(
            f"{role}: the array has dtype {shown(str(array.dtype))}; one type per column is needed, "
            "so pass a data frame"
        )
    table = array[:, np.newaxis] if array.ndim == 1 else array
    return Raw(_positions(table.shape[1]), list(table.T), positional=True)


def _positions(count: int) -> list[str]:
    return [f"x{position}" for position in range(count)]
