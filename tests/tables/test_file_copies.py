from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shiftscope.output_files import whole_file
from shiftscope.tables.file_copies import extract_rows


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow"])
def test_rows_kept_have_all_columns_in_the_own_format(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": [1.5, 2.5, 3.5], "name": ["x,y", 'say "hi"', "ü\n2"], "id": ["007", "008", "009"]})
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    write_frame(frame, source)
    with whole_file(target) as file:
        extract_rows(str(source), np.array([0, 2]), 3, file)
    assert read_frame(target).equals(frame[[0, 2]])


def test_text_that_looks_like_a_number_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id;value\n007;1.50\n008;NA\n009;\n")
    with whole_file(tmp_path / "out.csv") as file:
        extract_rows(str(tmp_path / "in.csv"), np.array([0, 1, 2]), 3, file)
    assert (tmp_path / "out.csv").read_text() == "id;value\n007;1.50\n008;NA\n009;\n"


def test_rows_kept_of_an_array_have_its_type(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "in.npy", array)
    with whole_file(tmp_path / "out.npy") as file:
        extract_rows(str(tmp_path / "in.npy"), np.array([1, 3]), 4, file)
    kept = np.load(tmp_path / "out.npy")
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, array[[1, 3]])


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif path.suffix in (".csv", ".tsv"):
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)


def read_frame(path: Path) -> pl.DataFrame:
    text = {"a": pl.Float64, "name": pl.String, "id": pl.String}
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".arrow":
        return pl.read_ipc(path.read_bytes())
    return pl.read_csv(path, schema=text, separator="\t" if path.suffix == ".tsv" else ",")
