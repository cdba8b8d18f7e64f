"""User input -> `Table`: the only place where arrays, frames and files are coerced.

Everything that follows may trust a `Table`: unique names, columns of one length, each of one kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.column_kinds import Column, Unusable, categorised, category_of, read_as
from shiftscope.tables.column_readings import read_parts
from shiftscope.tables.file_readings import ColumnReading, Look, column_reading
from shiftscope.tables.options import TableOptions
from shiftscope.tables.sentinels import Sentinel, sentinel_doubts
from shiftscope.tables.sources import Source, open_source
from shiftscope.tables.text_parts import Part, Settings, TextPart

__all__ = ["MIN_ROWS", "Pair", "Table", "joined", "look_at", "read_pair", "read_part", "read_table"]

MIN_ROWS = 2  # one row has no spread, so nothing can be standardised or compared
WORDS_COLUMN = "{} (words)"  # the column that tells apart the words among the numbers of another


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


@dataclass(frozen=True)
class Pair:
    """Two samples read together, and what was understood."""

    tables: tuple[Table, Table]
    reading: Look

    def swapped(self) -> Pair:
        """The same with the two samples exchanged."""
        return Pair(self.tables[::-1], self.reading.swapped())


def read_table(data: Any, role: str, least_rows: int = MIN_ROWS, options: TableOptions | None = None) -> Table:
    """Coerce one sample into a `Table`.

    Parameters
    ----------
    data
        A NumPy array (n, d), or (n,) for one column; a list of rows; a pandas, polars, pyarrow or any other
        frame that narwhals supports, eager or lazy; or the path of a file: delimited text however it is written and
        packed, JSON lines, Parquet, Arrow/Feather IPC, NPY or NPZ; or of a folder of Parquet files, or a pattern that
        matches several. A `Table` is taken as it is.
    role
        "reference" or "current": who is to blame in a message.
    least_rows
        Fewer rows than this are refused; parts of a sample may have any number.
    options
        How files are to be read where that is not to be found out.

    Raises
    ------
    InputError
        One line with the role, the rule and the remedy.
    """
    if isinstance(data, Table):
        return data
    tables, _ = _read([data], [role], Columns(), options or TableOptions(), least_rows)
    return tables[0]


def read_pair(reference: Any, current: Any, columns: Columns, options: TableOptions) -> Pair:
    """Coerce two samples: what their columns are is decided on both together."""
    tables, reading = _read([reference, current], ["reference", "current"], columns, options, MIN_ROWS)
    return Pair((tables[0], tables[1]), reading)


def read_part(data: Any, role: str) -> Table:
    """Coerce a part of a sample, by the types of its columns alone: other parts may hold other texts."""
    source = _source(data, role, TableOptions(), sample=False)
    columns = tuple(_as_typed(part) for part in source.parts)
    return Table(source.names, columns, source.n_rows, source.positional)


def look_at(samples: Sequence[Any], roles: Sequence[str], columns: Columns, options: TableOptions) -> Look:
    """What would be understood of some samples, by a part of the rows of large files."""
    _, reading = _read(samples, roles, columns, options, 0, sample=True)
    return reading


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


def _read(
    samples: Sequence[Any],
    roles: Sequence[str],
    columns: Columns,
    options: TableOptions,
    least_rows: int,
    sample: bool = False,
) -> tuple[list[Table], Look]:
    """Open all samples, agree on names, and decide each column on all samples that have it."""
    sources = [_source(data, role, options, sample) for data, role in zip(samples, roles, strict=True)]
    for source in sources:
        if source.n_rows < least_rows:
            rows = "1 row" if source.n_rows else "no rows"
            raise InputError(
                f"{source.role}: has {rows}; each sample needs at least {MIN_ROWS} rows, so give more data"
            )
    sources, notes = _same_names(sources)
    names = list(dict.fromkeys(name for source in sources for name in source.names))
    settings = _settings(options, {*names})
    found: list[dict[str, Column | Unusable]] = [{} for _ in sources]
    readings: list[ColumnReading] = []
    far: dict[str, Sequence[Sentinel]] = {}
    places = [{name: place for place, name in enumerate(source.names)} for source in sources]
    for name in names:
        having = [at for at, own in enumerate(places) if name in own]
        parts = [sources[at].parts[places[at][name]] for at in having]
        answer = read_parts(name, parts, columns.kinds.get(name), settings)
        for at, column in zip(having, answer.columns, strict=True):
            found[at][name] = column
        if answer.apart and name not in columns.exclude and WORDS_COLUMN.format(name) not in names:
            for at, words in zip(having, answer.apart, strict=True):
                found[at][WORDS_COLUMN.format(name)] = words
        far[name] = answer.sentinels
        readings.append(column_reading(name, answer, parts, [sources[at].role for at in having]))
    tables = [
        Table(tuple(own), tuple(own.values()), source.n_rows, source.positional)
        for own, source in zip(found, sources, strict=True)
    ]
    files = tuple(source.file for source in sources if source.file is not None)
    doubts = (*notes, *(doubt for reading in readings for doubt in reading.doubts), *sentinel_doubts(far))
    return tables, Look(files, tuple(readings), doubts)


def _source(data: Any, role: str, options: TableOptions, sample: bool) -> Source:
    if isinstance(data, Table):
        return Source(role, data.names, data.columns, data.n_rows, data.positional)
    return open_source(data, role, options, sample)


def _same_names(sources: list[Source]) -> tuple[list[Source], tuple[str, ...]]:
    """A file without names takes those of the other, if it has as many columns."""
    if len(sources) < 2 or not any(source.headless for source in sources):
        return sources, ()
    first, second = sources
    if first.headless and second.headless:
        if len(first.names) != len(second.names):
            raise InputError(
                f"reference has {len(first.names)} columns and current has {len(second.names)}, and neither file has "
                "names; give both the same columns, or names by --names"
            )
        return sources, ()
    bare, named = (first, second) if first.headless else (second, first)
    if len(bare.names) != len(named.names):
        raise InputError(
            f"{bare.role} has {len(bare.names)} columns without names and {named.role} has {len(named.names)}; "
            "give both the same columns, or names by --names (--header if the first line has them)"
        )
    note = f"{bare.role}: the file has no names, so its columns are taken in the order of the {named.role} file"
    taken = replace(bare, names=named.names)
    return ([taken, second] if first.headless else [first, taken]), (note,)


def _settings(options: TableOptions, names: set[str]) -> Settings:
    """What the options say about values; NAME=TEXT is for one column if there is one of that name."""
    own: dict[str, list[str]] = {}
    everywhere = []
    for text in options.missing or ():
        name, sign, value = text.rpartition("=")
        if sign and name in names:
            own.setdefault(name, []).append(value)
        else:
            everywhere.append(text)
    asked = None if options.missing is None or (own and not everywhere) else tuple(everywhere)
    return Settings(asked, own, options.thousands, options.day_first)


def _as_typed(part: Part) -> Column | Unusable:
    """A column as its own type says."""
    return category_of(part.text) if isinstance(part, TextPart) else part
