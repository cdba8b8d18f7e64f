"""The modes' rows as a table, for people and other programs."""

from __future__ import annotations

from os import PathLike

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.findings import Encoded, Findings, Mode
from shiftscope.forked_polars import need_polars
from shiftscope.report.spreadsheets import write_table

OWN = {"mode": pl.Int64, "sample": pl.String, "row": pl.Int64, "score": pl.Float64}
MICROSECONDS, MICROSECONDS_A_DAY = 1e6, 86_400_000_000
FURTHEST = 8e12  # seconds: dates and spans of more than 250,000 years are left empty, which no table format can hold
DIGITS = 12  # of numbers


def write_rows(result: Findings, path: str | PathLike[str]) -> None:
    """Write one line per row of each mode, by the suffix of `path`; whole or not at all."""
    write_table(rows_table(result), path, "--rows")


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
    values = np.where(np.abs(values) <= FURTHEST, values, np.nan)
    ticks = pl.Series(np.round(values * MICROSECONDS), nan_to_null=True).cast(pl.Int64, strict=False)
    if feature.kind == "time":
        return (ticks * 1000).cast(pl.Time, strict=False)
    if feature.kind == "duration":
        return ticks.cast(pl.Duration("us"))
    when = ticks.cast(pl.Datetime("us"))
    return when.cast(pl.Date) if (ticks % MICROSECONDS_A_DAY == 0).all() else when
