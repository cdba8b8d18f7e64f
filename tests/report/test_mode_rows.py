from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shiftscope.report.mode_rows import rows_table, write_rows
from tests import planted


def test_rows_have_their_values_and_no_formulas(tmp_path: Path) -> None:
    found = planted.result()
    levels = ("=1+1", "@x", "-", "plain", "+4", "\t=2")
    codes = np.arange(len(found.encoded.points)) % 7.0
    ranked = found.encoded.points.copy()
    ranked[:, 0] = np.where(codes == 6, -np.inf, codes)
    features = list(found.encoded.features)
    features[0] = replace(features[0], kind="category", levels=levels, missing=True)
    features[1] = replace(features[1], kind="date")
    encoded = replace(found.encoded, ranked=ranked, features=tuple(features), names=("=cmd()", "row", "c"))
    mode = replace(found.modes[0], rows=np.arange(7), features=("c",), directions=found.modes[0].directions[:1])
    result = replace(found, encoded=encoded, modes=(mode,))
    table = rows_table(result)
    assert table.columns == ["mode", "sample", "row", "score", "=cmd()", "row_", "c"]
    expected = [None if code == 6 else levels[int(code)] for code in codes[result.n_reference :][:7]]
    assert table["=cmd()"].to_list() == expected
    assert table["row_"].dtype == pl.Datetime("us")
    write_rows(result, tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(table)
    write_rows(result, tmp_path / "rows.csv")
    lines = list(csv.reader((tmp_path / "rows.csv").read_text().splitlines()))
    assert lines[0][4] == "'=cmd()"
    assert [line[4] for line in lines[1:]] == [
        "" if text is None else text if text == "plain" else f"'{text}" for text in expected
    ]
    assert [float(line[6]) for line in lines[1:]] == pytest.approx(encoded.values(2)[result.n_reference :][:7])
