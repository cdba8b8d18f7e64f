"""Tables for people and other programs: Parquet as it is, CSV safe to open in a spreadsheet."""

from __future__ import annotations

from os import PathLike

import polars as pl

from shiftscope.errors import InputError
from shiftscope.output_files import whole_file
from shiftscope.paths import as_path

SUFFIXES = (".parquet", ".csv")
FORMULA = r"^(\s*[=+\-@＝＋－＠]|[\t\r\n])"  # how a cell begins that a spreadsheet would compute ...
QUOTED = "'$1"  # ... and what keeps it text


def check_suffix(path: str | PathLike[str], option: str) -> str:
    """The format that a path asks for."""
    suffix = as_path(path, option).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{option} {str(path)!r} must end in {' or '.join(SUFFIXES)}; rename it")
    return suffix


def write_table(table: pl.DataFrame, path: str | PathLike[str], option: str) -> None:
    """Write a table by the suffix of `path`, whole or not at all."""
    suffix = check_suffix(path, option)
    with whole_file(path) as file:
        if suffix == ".parquet":
            table.write_parquet(file)
        else:  # text in quotes: a spreadsheet with another delimiter must not find a cell within
            without_formulas(_without_spans(table)).write_csv(file, quote_style="non_numeric")


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text, and every name, that a spreadsheet would take for a formula."""
    names = pl.Series(table.columns, dtype=pl.String).str.replace(FORMULA, QUOTED).to_list()
    table = table.with_columns(pl.col(pl.String).str.replace(FORMULA, QUOTED))
    return table.rename(dict(zip(table.columns, names, strict=True)))


def _without_spans(table: pl.DataFrame) -> pl.DataFrame:
    """Spans of time, which CSV cannot hold, in seconds."""
    return table.with_columns(pl.col(pl.Duration).dt.total_microseconds() / 1e6)
