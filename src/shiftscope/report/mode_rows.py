"""The modes' rows as a table, for other programs: Parquet as it is, CSV safe to open in a spreadsheet."""

from __future__ import annotations

from os import PathLike

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.findings import Encoded, Findings, Mode
from shiftscope.forked_polars import need_polars
from shiftscope.output_files import whole_file
from shiftscope.paths import as_path

SUFFIXES = (".parquet", ".csv")
OWN = {"mode": pl.Int64, "sample": pl.String, "row": pl.Int64, "score": pl.Float64}
FORMULA = r"^([=+\-@\t\r])"  # how a cell begins that a spreadsheet would compute ...
QUOTED = "'$1"  # ... and what keeps it text
MICROSECONDS, MICROSECONDS_A_DAY = 1e6, 86_400_000_000
DIGITS = 12  # of numbers


def write_rows(result: Findings, path: str | PathLike[str]) -> None:
    """Write one line per row of each mode, by the suffix of `path`; whole or not at all."""
    suffix, table = check_suffix(path), rows_table(result)
    with whole_file(path) as file:
        if suffix == ".csv":
            without_formulas(table).write_csv(file)
        else:
            table.write_parquet(file)


def check_suffix(path: str | PathLike[str]) -> str:
    """The format that a path asks for."""
    suffix = as_path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"--rows {str(path)!r} must end in {' or '.join(SUFFIXES)}; rename it")
    return suffix


def rows_table(result: Findings) -> pl.DataFrame:
    """The rows of all modes: mode (from 1), sample, row (from 0), score, then the value of every column compared.

    A column that is called like one of the first four has an underscore behind its name.
    """
    need_polars()
    positions = [result.in_pool(mode) for mode in result.modes]
    rows = np.concatenate([*positions, np.empty(0, np.intp)]).astype(np.intp)
    taken, columns = set(OWN), _own_columns(result)
    for position, name in enumerate(result.names):
        while name in taken:
            name += "_"
        taken.add(name)
        columns.append(_values(result.encoded, position, rows).alias(name))
    return pl.DataFrame(columns)


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text, and every name, that a spreadsheet would take for a formula."""
    names = pl.Series(table.columns).str.replace(FORMULA, QUOTED).to_list()
    table = table.with_columns(pl.col(pl.String).str.replace(FORMULA, QUOTED))
    return table.rename(dict(zip(table.columns, names, strict=True)))


def _own_columns(result: Findings) -> list[pl.Series]:
    def stacked(name: str, parts: list[NDArray[np.generic]]) -> pl.Series:
        return pl.Series(name, np.concatenate(parts).tolist() if parts else [], dtype=OWN[name])

    modes = result.modes
    return [
        stacked("mode", [np.full(mode.rows.size, number) for number, mode in enumerate(modes, start=1)]),
        stacked("sample", [np.full(mode.rows.size, mode.side) for mode in modes]),
        stacked("row", [result.positions(mode.side, mode.rows) for mode in modes]),
        stacked("score", [_scores(result, mode)[mode.rows] for mode in modes]),
    ]


def _scores(result: Findings, mode: Mode) -> NDArray[np.float64]:
    return result.scores.current if mode.side == "current" else result.scores.reference


def _values(encoded: Encoded, position: int, rows: NDArray[np.intp]) -> pl.Series:
    """One column of some rows (pool positions) in its own kind: numbers, times, or the text of a level."""
    values, feature = encoded.values(position)[rows], encoded.features[position]
    if feature.kind == "category":
        return pl.Series([None if np.isnan(value) else feature.levels[int(value)] for value in values], dtype=pl.String)
    if feature.kind == "number":  # standardised and back: without the noise of the last digits
        return pl.Series(values, dtype=pl.Float64, nan_to_null=True).round_sig_figs(DIGITS)
    ticks = pl.Series(np.round(values * MICROSECONDS), nan_to_null=True).cast(pl.Int64, strict=False)
    if feature.kind == "time":
        return (ticks * 1000).cast(pl.Time, strict=False)
    if feature.kind == "duration":
        return ticks.cast(pl.Duration("us"))
    when = ticks.cast(pl.Datetime("us"))
    return when.cast(pl.Date) if (ticks % MICROSECONDS_A_DAY == 0).all() else when
