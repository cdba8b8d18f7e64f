"""Values at the ends of what types can hold: right, or one clear reason why the column takes no part."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shiftscope as ss
from shiftscope.report.mode_rows import write_rows
from shiftscope.tables.column_kinds import Column, Unusable
from shiftscope.tables.table import read_table
from tests.quick import QUICK

MOST = 2**63 - 1
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def column(data: Any) -> Column | Unusable:
    return read_table(data, "reference").columns[0]


def values(data: Any) -> np.ndarray[Any, Any]:
    found = column(data)
    assert isinstance(found, Column), found
    return found.values


@pytest.mark.parametrize("kind", ["M8", "m8"])
@pytest.mark.parametrize(
    ("library", "unit"),
    [
        (library, unit)
        for library in ("numpy", "pandas", "polars", "pyarrow")
        for unit in ("s", "ms", "us", "ns")
        if (library, unit) != ("polars", "s")  # which Polars does not have
    ],
)
def test_points_and_spans_of_time_do_not_overflow(library: str, unit: str, kind: str) -> None:
    """Before, they wrapped around without a word, or ended in a panic or a raw error of the library."""
    ticks = np.array([0, MOST, -MOST, 1], dtype=np.int64).view(f"{kind}[{unit}]")
    arrow = pa.array(ticks.view(np.int64)).cast(pa.timestamp(unit) if kind == "M8" else pa.duration(unit))
    data = {
        "numpy": lambda: ticks[:, None],
        "pandas": lambda: pd.DataFrame({"t": ticks}),
        "polars": lambda: pl.DataFrame({"t": pl.Series(ticks)}),
        "pyarrow": lambda: pa.table({"t": arrow}),
    }[library]()
    expected = np.array([0, MOST, -MOST, 1]) / PER_SECOND[unit]
    assert values(data) == pytest.approx(expected, rel=1e-9, abs=1.1e-6)


def test_dates_of_any_year() -> None:
    days = np.array([-719_528, 2_932_896, -2_545_000, 2**31 - 1, -(2**31)], np.int32)  # years 0, 9999, about -5000
    assert np.array_equal(values(pl.DataFrame({"t": pl.Series(days).cast(pl.Date)})), days * 86400.0)


@pytest.mark.parametrize("unit", ["W", "D", "h", "m"])
def test_long_units_do_not_overflow(unit: str) -> None:
    ticks = np.array([[MOST], [-MOST]]).view(f"M8[{unit}]")
    assert values(ticks)[0] == -values(ticks)[1] > 1e20


@pytest.mark.parametrize("unit", ["Y", "M"])
def test_years_that_no_days_can_count_are_told(unit: str) -> None:
    far, near = np.array([[MOST], [1]]).view(f"M8[{unit}]"), np.array([[30], [1]]).view(f"M8[{unit}]")
    assert "too far from 1970" in getattr(column(far), "reason", "")
    assert values(near)[0] == near[0, 0].astype("M8[s]").astype(np.int64)


def test_time_zones_are_points_in_time() -> None:
    when = pl.Series([datetime.datetime(2020, 7, 1, 12)] * 2).dt.replace_time_zone("Europe/Berlin")
    assert np.array_equal(values(pl.DataFrame({"t": when})), [1593597600.0] * 2)
    far = pl.Series([MOST, -MOST]).cast(pl.Datetime("ms")).dt.replace_time_zone("UTC")
    assert values(pl.DataFrame({"t": far})) == pytest.approx([MOST / 1e3, -MOST / 1e3])


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (pl.Series([2**64 - 1, 2**63], dtype=pl.UInt64), [2.0**64, 2.0**63]),
        (pl.Series([2**126, -(2**126)], dtype=pl.Int128), [2.0**126, -(2.0**126)]),
        (pl.Series([Decimal("9" * 38), Decimal("-" + "9" * 38)], dtype=pl.Decimal(38, 0)), [1e38, -1e38]),
        (pl.Series([Decimal("0." + "9" * 38), None], dtype=pl.Decimal(38, 38)), [1.0, np.nan]),
        (pd.Series([np.timedelta64("NaT"), np.timedelta64(1, "s")], dtype=object), [np.nan, 1.0]),
        (pd.Series([datetime.timedelta.max, None], dtype=object), [datetime.timedelta.max.total_seconds(), np.nan]),
        (pd.Series([10**400, 1], dtype=object), [np.inf, 1.0]),
    ],
)
def test_large_numbers(raw: Any, expected: list[float]) -> None:
    frame = pl.DataFrame({"x": raw}) if isinstance(raw, pl.Series) else pd.DataFrame({"x": raw})
    assert values(frame) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ([b"a", b"\xff"], "holds bytes"),
        ([[1], [2]], "nested values"),
        ([{"a": 1}, {"a": 2}], "nested values"),
        ([1, datetime.date(2020, 1, 1)], "values of type date and int"),
        ([np.timedelta64(1, "Y"), np.timedelta64(1, "s")], "no fixed length"),
        ([np.datetime64(2**62, "Y"), np.datetime64(1, "s")], "too far from 1970"),
    ],
)
def test_what_cannot_take_part_says_why(raw: list[Any], reason: str) -> None:
    found = column(pd.DataFrame({"x": pd.Series(raw, dtype=object)}))
    assert isinstance(found, Unusable)
    assert reason in found.reason


@pytest.mark.parametrize("dtype", [pl.Datetime("ms"), pl.Datetime("us"), pl.Duration("ms"), pl.Date])
def test_extreme_times_reach_every_output(dtype: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    far = {pl.Date: 95_800_000}.get(dtype, MOST - 1000)
    ticks = rng.integers(0, 10_000, (2, 200))
    ticks[1, :70] = far + ticks[1, :70] % 100
    frames = [
        pl.DataFrame({"t": pl.Series(one).cast(pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype), "x": x})
        for one, x in zip(ticks, rng.standard_normal((2, 200)), strict=True)
    ]
    result = ss.compare(*frames, params=QUICK)
    assert result.detected
    result.to_html(tmp_path / "r.html")
    result.to_json(tmp_path / "r.json")
    write_rows(result, tmp_path / "r.csv")
    write_rows(result, tmp_path / "r.parquet")
    assert pl.read_csv(tmp_path / "r.csv").height == pl.read_parquet(tmp_path / "r.parquet").height > 0
