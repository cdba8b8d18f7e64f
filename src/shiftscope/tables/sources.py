"""One sample, opened: its columns by name, as text where what they are is still to be decided."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shiftscope.errors import InputError
from shiftscope.forked_polars import polars_lost
from shiftscope.messages import listed, writable
from shiftscope.tables.column_kinds import Column, Unusable, read_column
from shiftscope.tables.column_readings import LARGEST_WHOLE
from shiftscope.tables.delimited_text import ROW_NAME, TextFile, without_blank_rows
from shiftscope.tables.file_formats import read_file
from shiftscope.tables.file_readings import FileReading, text_reading
from shiftscope.tables.objects import Raw, open_object
from shiftscope.tables.options import TableOptions
from shiftscope.tables.text_parts import Part, TextPart

NAMES_ROWS = "names the rows: the first column of the file, which has no name of its own"


@dataclass(frozen=True)
class Source:
    """A sample, opened.

    Attributes
    ----------
    role
    names
        One per column, unique.
    parts
        What each column holds.
    n_rows
    positional
        An array: the columns had no names of their own.
    headless
        A file without names: the columns are called by position.
    file
        What was understood of the file; None for an object in memory.
    """

    role: str
    names: tuple[str, ...]
    parts: tuple[Part, ...]
    n_rows: int
    positional: bool = False
    headless: bool = False
    file: FileReading | None = None


def open_source(data: Any, role: str, options: TableOptions, sample: bool = False) -> Source:
    """Open a file or take an object apart; of a large file only some rows, if a sample will do."""
    if not isinstance(data, str | os.PathLike):
        return _from_raw(open_object(data, role), role, None)
    content = read_file(data, role, options, sample)
    if isinstance(content.found, tuple):
        file, frame = content.found
        return _from_text(file, frame, role, options, sample)
    raw = content.found if isinstance(content.found, Raw) else open_object(content.found, role)
    reading = FileReading(role, str(data), content.kind, size=content.size)
    return _from_raw(raw, role, reading, content.rows)


def _from_raw(raw: Raw, role: str, file: FileReading | None, rows: int | None = None) -> Source:
    names = checked_names(raw.names, role)
    parts, lengths = [], []
    for column in raw.columns:
        parts.append(_part(column))
        lengths.append(len(column))
    n_rows = lengths[0] if lengths else 0
    if file is not None:
        file = file.counted(n_rows if rows is None else rows, exact=True, sampled=rows not in (None, n_rows))
    return Source(role, names, tuple(parts), n_rows, raw.positional, False, file)


def _part(column: Any) -> Part:
    """Text that is no declared category is still to be looked at; polars does that."""
    if polars_lost():
        return read_column(column)
    if isinstance(column, nw.Series) and column.dtype == nw.String:
        texts = (writable(text) if isinstance(text, str) else None for text in column.to_list())
        return TextPart(pl.Series("", texts, dtype=pl.String), typed=True)
    found = read_column(column)
    declared = isinstance(column, nw.Series) and column.dtype in (nw.Categorical, nw.Enum)
    if isinstance(found, Column) and found.kind == "category" and not declared:
        return TextPart(pl.Series("", found.texts(), dtype=pl.String), typed=True)
    return found


def _from_text(file: TextFile, frame: pl.DataFrame, role: str, options: TableOptions, sample: bool) -> Source:
    """Columns of a text file under their names; blank rows and columns of nothing are dropped."""
    kept = without_blank_rows(frame)
    blank = frame.height - kept.height
    columns = [_stripped(kept.to_series(at)) for at in range(kept.width)]
    written = options.names or file.dialect.names
    names, dropped = _names(written, columns)
    parts: list[Part] = []
    for column, name in zip(columns, names, strict=True):
        if name is None:
            continue
        if name == ROW_NAME and not (written and ROW_NAME in written):
            parts.append(Unusable(NAMES_ROWS))
        elif column.dtype == pl.String:
            parts.append(TextPart(column.rename(""), file.decimal))
        else:
            parts.append(_numbers(column))
    kept_names = tuple(name for name in names if name is not None)
    if not kept_names:
        raise InputError(f"{role}: has no columns; give at least one column")
    reading = text_reading(role, file, kept.height, blank, dropped, renamed=_renamed(written, names), sample=sample)
    return Source(role, kept_names, tuple(parts), kept.height, False, written is None, reading)


def _stripped(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column
    plain = column.str.strip_chars()
    return plain.set((plain == "").fill_null(False), None)


def _numbers(column: pl.Series) -> Column:
    values = column.fill_null(float("nan")).to_numpy()
    whole = bool(len(values)) and bool(np.all((values % 1 == 0) & (np.abs(values) < LARGEST_WHOLE)))
    return Column("number", values, whole=whole)


def _names(written: Sequence[str] | None, columns: Sequence[pl.Series]) -> tuple[list[str | None], int]:
    """A name per column, None for a column of nothing; and how many of these there are."""
    given = [writable(name.strip()) for name in written or ()]
    given += [""] * (len(columns) - len(given))
    names: list[str | None] = []
    dropped = 0
    for at, (name, column) in enumerate(zip(given, columns, strict=True)):
        empty = column.null_count() == len(column)
        if not name and empty and len(columns) > 1 and (written is not None or at == len(columns) - 1):
            names.append(None)
            dropped += 1
        elif written is not None and not name and at == 0 and column.n_unique() == len(column) and len(columns) > 1:
            names.append(ROW_NAME)
        else:
            names.append(name or f"x{at}")
    return _told_apart(names), dropped


def _told_apart(names: Iterable[str | None]) -> list[str | None]:
    """Names that occur again get a number: a, a_2, a_3."""
    seen: Counter[str] = Counter()
    taken = {name for name in names if name}
    found: list[str | None] = []
    for name in names:
        if name is None:
            found.append(None)
            continue
        seen[name] += 1
        new = name
        while seen[name] > 1 and (new == name or new in taken):
            new = f"{name}_{seen[name]}"
            seen[name] += new in taken
        taken.add(new)
        found.append(new)
    return found


def _renamed(written: Sequence[str] | None, names: Sequence[str | None]) -> tuple[str, ...]:
    """Names that were made up for columns whose own occur twice."""
    own = {name.strip() for name in written or ()}
    return tuple(n for n in names if n and written is not None and n not in own and n != ROW_NAME and "_" in n)


def checked_names(raw: Sequence[object], role: str) -> tuple[str, ...]:
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
