from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shiftscope as ss
from shiftscope.cli.explain_rows import parse_positions, read_positions
from tests.cli.running import Run, told


def test_explain_rows(folder: Path, tmp_path: Path, run: Run):
    arguments = ("explain-rows", folder / "reference.csv", folder / "b3.csv", "--rows", "0-39")
    code, out, _ = told(run(*arguments, "--json", tmp_path / "rows.json"))
    assert code == 0
    assert out.startswith("Explained")
    assert json.loads((tmp_path / "rows.json").read_text())["features"]
    code, out, _ = told(run(*arguments[:-1], "60-99", "--json", "-"))
    assert json.loads(out)["explained"] is False


def test_positions_in_all_their_forms(tmp_path: Path):
    assert parse_positions("3, 17 40-42\n7").tolist() == [3, 17, 40, 41, 42, 7]
    (tmp_path / "rows.txt").write_text("1\n2\n\n9-10\n")
    assert read_positions(str(tmp_path / "rows.txt")).tolist() == [1, 2, 9, 10]
    modes = pl.DataFrame({"mode": [1, 1, 2], "sample": ["current", "reference", "current"], "row": [4, 5, 6]})
    modes.write_parquet(tmp_path / "rows.parquet")
    assert read_positions(str(tmp_path / "rows.parquet")).tolist() == [4, 6]
    modes.with_columns(score=1.0).write_parquet(tmp_path / "found.parquet")  # as `compare --rows` writes them
    with pytest.raises(ss.InputError, match="explain themselves"):
        read_positions(str(tmp_path / "found.parquet"))
    modes.select("mode").write_csv(tmp_path / "rows.csv")
    with pytest.raises(ss.InputError, match="has no column 'row' of whole numbers"):
        read_positions(str(tmp_path / "rows.csv"))
    with pytest.raises(ss.InputError, match="'4-' is no position"):
        parse_positions("3,4-")


def test_positions_that_cannot_be_meant_are_refused(tmp_path: Path):
    for text, message in (
        ("9-3", "'9-3' runs backwards"),
        ("0-99999999999", "exceeds 10,000,000 positions"),
        ("99999999999999999999", "exceeds 10,000,000 positions"),
    ):
        with pytest.raises(ss.InputError, match=message):
            parse_positions(text)
    table = tmp_path / "rows.csv"
    table.write_text("row\n1\n\n3\n")
    with pytest.raises(ss.InputError, match="has gaps in its column 'row'"):
        read_positions(str(table))
    table.write_text("row,sample\n1,2\n")
    assert read_positions(str(table)).size == 0
