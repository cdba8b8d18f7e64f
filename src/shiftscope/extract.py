"""Chosen rows of a file, copied with all of its columns in the file's own format."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.tables import DELIMITERS

Rows = NDArray[np.intp]


def extract_rows(source: str, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    """Write the given rows of a table file to an open file.

    Parameters
    ----------
    source : str
        Path of a CSV (.csv, .tsv, .txt, also .gz), Parquet, Arrow or NPY file, as `read_table` takes it.
    rows : intp array
        Row positions, counting from 0 behind the header.
    n_rows : int
        Rows that the file had when it was compared; another number means that it has changed since.
    target : file open for writing bytes
    """
    path = Path(source).expanduser()
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    _COPIERS[suffix](path, rows, n_rows, target)


def file_suffix(source: str) -> str:
    """The part of a file's name that tells its format: .csv, .csv.gz, .parquet, ..."""
    name = Path(source).name
    found = re.search(r"(\.csv|\.tsv|\.txt)\.gz$", name, flags=re.IGNORECASE)
    return found[0] if found else Path(name).suffix


def _copy_text(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    """Delimited text: every value stays the text it was."""
    zipped = path.name.lower().endswith(".gz")
    with gzip.open(path, "rt", encoding="utf-8-sig") if zipped else path.open(encoding="utf-8-sig") as lines:
        header = re.sub(r'"[^"]*"', "", lines.readline())
    delimiter = max(DELIMITERS, key=header.count)
    frame = pl.read_csv(path, separator=delimiter, infer_schema=False, glob=False)
    text = _chosen(frame, rows, n_rows, path).write_csv(separator=delimiter).encode()
    target.write(gzip.compress(text, mtime=0) if zipped else text)


def _copy_parquet(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    _chosen(frame, rows, n_rows, path).write_parquet(target)


def _copy_arrow(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    with path.open("rb") as file:
        frame = pl.read_ipc(file)
    _chosen(frame, rows, n_rows, path).write_ipc(target)


def _copy_numpy(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    _check_unchanged(len(array), n_rows, path)
    np.save(target, array[rows])


def _chosen(frame: pl.DataFrame, rows: Rows, n_rows: int, path: Path) -> pl.DataFrame:
    _check_unchanged(frame.height, n_rows, path)
    return frame[rows]


def _check_unchanged(found: int, expected: int, path: Path) -> None:
    if found != expected:
        raise InputError(
            f"{str(path)!r} has {found} rows now and had {expected} when it was compared; "
            "run again, and leave the file alone meanwhile"
        )


_COPIERS: dict[str, Callable[[Path, Rows, int, BinaryIO], None]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), _copy_text),
    **dict.fromkeys((".parquet", ".pq"), _copy_parquet),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _copy_arrow),
    ".npy": _copy_numpy,
}
