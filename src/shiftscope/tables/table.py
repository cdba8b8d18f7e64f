"""User input -> `Table`: the only place where arrays, frames and files are coerced.

Everything that follows may trust a `Table`: unique names, columns of one length, each of one kind.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import issparse

from shiftscope.errors import InputError
from shiftscope.forked_polars import need_polars
from shiftscope.messages import TEXT_SHOWN, listed, one_line, shown, writable
from shiftscope.tables.column_kinds import Column, Unusable, categorised, read_as, read_column
from shiftscope.tables.delimited_text import Raw
from shiftscope.tables.file_formats import read_file

__all__ = ["MIN_ROWS", "TEXT_SHOWN", "Table", "listed", "read_table", "shown"]

MIN_ROWS = 2  # one row has no spread, so nothing can be standardised or compared
_FORMS = "a 2-D NumPy array, a list of rows, a data frame or the path of a file"


@dataclass(frozen=True)
class Table:
    """One sample, coerced.

    Attributes
    ----------
    names
        One name per column, unique.
    columns
        What each column holds, or why it cannot take part. Numbers that were float64 already are views of the
        user's data, not copies.
    n_rows
        Number of rows, at least `MIN_ROWS`.
    positional
        The data had no names of their own; the columns are called x0, x1, ... by position.
    """

    names: tuple[str, ...]
    columns: tuple[Column | Unusable, ...]
    n_rows: int
    positional: bool = False

    def rows(self, rows: NDArray[np.intp]) -> Table:
        """The given rows only."""
        columns = tuple(c if isinstance(c, Unusable) else replace(c, values=c.values[rows]) for c in self.columns)
        return replace(self, columns=columns, n_rows=rows.size)


def read_table(data: Any, role: str, least_rows: int = MIN_ROWS) -> Table:
    """Coerce one sample into a `Table`.

    Parameters
    ----------
    data
        A NumPy array (n, d), or (n,) for one column; a list of rows; a pandas, polars, pyarrow or any other
        frame that narwhals supports, eager or lazy; or the path of a file: delimited text (.csv, .tsv, .txt, also
        .gz), JSON lines (.jsonl, .ndjson, also .gz), Parquet, Arrow/Feather IPC, NPY or NPZ; or of a folder of
        Parquet files, or a pattern that matches several. A `Table` is taken as it is.
    role
        "reference" or "current": who is to blame in a message.
    least_rows
        Fewer rows than this are refused; parts of a sample may have any number.

    Raises
    ------
    InputError
        One line with the role, the rule and the remedy.
    """
    if isinstance(data, Table):
        return data
    content = read_file(data, role) if isinstance(data, str | os.PathLike) else data
    raw = content if isinstance(content, Raw) else _open_object(content, role)
    names = _checked_names(raw.names, role)
    columns, lengths = [], []
    for column in raw.columns:
        columns.append(read_column(column))
        lengths.append(len(column))
    n_rows = lengths[0] if lengths else 0
    if n_rows < least_rows:
        found = "1 row" if n_rows else "no rows"
        raise InputError(f"{role}: has {found}; each sample needs at least {MIN_ROWS} rows, so give more data")
    return Table(names, tuple(columns), n_rows, raw.positional)


def joined(tables: Sequence[Table]) -> Table:
    """Tables of the same columns, one behind the other."""
    first = tables[0]
    parts = [[table.columns[table.names.index(name)] for table in tables] for name in first.names]
    return replace(first, columns=tuple(map(_joined_column, parts)), n_rows=sum(table.n_rows for table in tables))


def _joined_column(parts: list[Column | Unusable]) -> Column | Unusable:
    """The parts of one column, which must be of one kind as far as they hold anything."""
    read = [part for part in parts if isinstance(part, Column)]
    if len(read) < len(parts):
        return next(part for part in parts if isinstance(part, Unusable))
    kinds = sorted({part.kind for part in read if not part.empty}) or [read[0].kind]
    if len(kinds) > 1:
        return Unusable(f"{' and '.join(kinds)} in different parts; make all of one kind")
    alike = [read_as(part, kinds[0]) for part in read]
    if kinds[0] == "category":
        return categorised(text for part in alike for text in part.texts())
    values = np.concatenate([part.values for part in alike])
    return Column(kinds[0], values, whole=all(part.whole for part in read))


def _open_object(data: Any, role: str) -> Raw:
    """Take an object in memory apart into columns."""
    if issparse(data):
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


def _checked_names(raw: Sequence[object], role: str) -> tuple[str, ...]:
    """Names as text, after the check that each is there and unique."""
    names = tuple(writable(str(name)) for name in raw)
    if not names:
        raise InputError(f"{role}: has no columns; give at least one column")
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
