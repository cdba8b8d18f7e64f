"""Chosen rows of a file, copied with all of its columns in the file's own format."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.forked_polars import need_polars
from shiftscope.tables.delimited_text import read_delimited
from shiftscope.tables.file_formats import (
    ARROW_SUFFIXES,
    LINES_SUFFIXES,
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    file_suffix,
    read_ipc,
    read_lines,
    read_parquet,
    source_paths,
)

__all__ = ["copy_suffix", "extract_rows", "file_suffix", "write_positions"]

Rows = NDArray[np.intp]


def extract_rows(source: str, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    """Write the given rows of a table file to an open file.

    Parameters
    ----------
    source : str
        Path of a file, a folder of Parquet files or a pattern, as `read_table` takes it.
    rows : intp array
        Row positions, counting from 0 behind the header.
    n_rows : int
        Rows that the file had when it was compared; another number means that it has changed since.
    target : file open for writing bytes
    """
    need_polars()
    paths = source_paths(source, "file")
    suffix = file_suffix(paths[0].name).lower().removesuffix(".gz")
    if len(paths) > 1:
        frame = pl.concat(
            [read_parquet(path).select(read_parquet(paths[0]).columns) for path in paths], how="vertical_relaxed"
        )
        _chosen(frame, rows, n_rows, Path(source)).write_parquet(target)
    else:
        _COPIERS[suffix](paths[0], rows, n_rows, target)


def write_positions(reference: Rows, current: Rows, target: BinaryIO) -> None:
    """Write which rows were copied, in the order of the copies: sample and position, counting from 0, as CSV."""
    samples = ["reference"] * len(reference) + ["current"] * len(current)
    pl.DataFrame({"sample": samples, "row": np.concatenate([reference, current])}).write_csv(target)


def copy_suffix(source: str) -> str:
    """The suffix that a copy of a source's rows has: its own, or .parquet for a folder or a pattern."""
    return file_suffix(source) or ".parquet"


def _copy_text(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    """Delimited text: every value stays the text it was, in UTF-8."""
    text = read_delimited(path)
    chosen = _chosen(text.read(infer_schema=False), rows, n_rows, path)
    _write_text(path, chosen.write_csv(separator=text.delimiter).encode(), target)


def _copy_lines(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    _write_text(path, _chosen(read_lines(path), rows, n_rows, path).write_ndjson().encode(), target)


def _write_text(path: Path, text: bytes, target: BinaryIO) -> None:
    """Zipped if the source is; without a time stamp, so that equal rows give equal files."""
    target.write(gzip.compress(text, mtime=0) if path.name.lower().endswith(".gz") else text)


def _copy_parquet(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    _chosen(read_parquet(path), rows, n_rows, path).write_parquet(target)


def _copy_arrow(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    _chosen(read_ipc(path), rows, n_rows, path).write_ipc(target)


def _copy_numpy(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    _check_unchanged(len(array), n_rows, path)
    np.save(target, array[rows])


def _copy_archive(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for array in arrays.values():
        _check_unchanged(len(array), n_rows, path)
    np.savez(target, **{name: array[rows] for name, array in arrays.items()})


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
    **dict.fromkeys(TEXT_SUFFIXES, _copy_text),
    **dict.fromkeys(LINES_SUFFIXES, _copy_lines),
    **dict.fromkeys(PARQUET_SUFFIXES, _copy_parquet),
    **dict.fromkeys(ARROW_SUFFIXES, _copy_arrow),
    ".npy": _copy_numpy,
    ".npz": _copy_archive,
}
