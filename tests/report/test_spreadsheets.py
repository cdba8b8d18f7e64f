"""No cell of a CSV that people open is a formula; numbers stay numbers."""

from __future__ import annotations

import csv
import datetime
from pathlib import Path

import polars as pl
import pytest

from shiftscope.errors import InputError
from shiftscope.questions.monitor_batch import BatchRow, Region, StrongestMode
from shiftscope.questions.monitor_result import MonitorResult
from shiftscope.report.spreadsheets import write_table

FORMULAS = ("=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "＝1")


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_the_table_of_a_monitor_holds_no_formula(tmp_path: Path) -> None:
    region = Region(("=a",), (0.0,), (1.0,), ((),))
    mode = StrongestMode("current", ("=a",), -0.25, (-0.3, 0.3), ("x",), region)
    rows = tuple(BatchRow(at, name, "", 5, 0.5, 9, 0.01, True, 1, mode, -0.5) for at, name in enumerate(FORMULAS))
    result = MonitorResult(rows, 0.1, 10)
    write_table(result.to_table(), tmp_path / "t.csv", "--table")
    header, *lines = cells(tmp_path / "t.csv")
    for name in ("name", "features"):
        assert all(line[header.index(name)].startswith("'") for line in lines)
    assert {float(line[header.index("excess")]) for line in lines} == {-0.25}
    write_table(result.to_table(), tmp_path / "t.parquet", "--table")
    assert pl.read_parquet(tmp_path / "t.parquet")["name"].to_list() == list(FORMULAS)


def test_text_is_quoted_so_that_no_other_delimiter_finds_a_formula(tmp_path: Path) -> None:
    write_table(pl.DataFrame({"=n": ["a;=1+1", None], "x": [-1.5, 2.0]}), tmp_path / "t.csv", "--table")
    assert (tmp_path / "t.csv").read_text().splitlines() == ['"\'=n","x"', '"a;=1+1",-1.5', ",2.0"]


def test_spans_are_seconds(tmp_path: Path) -> None:
    table = pl.DataFrame({"d": [datetime.timedelta(hours=1, microseconds=5), None]})
    write_table(table, tmp_path / "t.csv", "--rows")
    assert pl.read_csv(tmp_path / "t.csv")["d"].to_list() == [3600.000005, None]


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--table 't\.xlsx' must end in .parquet or .csv"):
        write_table(pl.DataFrame({"a": [1]}), "t.xlsx", "--table")
