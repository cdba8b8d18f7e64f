"""Chosen rows of a file, copied with all of its columns in the file's own format."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.forked_polars import need_polars
from shiftscope.tables.delimited_text import TextFile, csv_line, read_text
from shiftscope.tables.dialect import BLANKS
from shiftscope.tables.file_formats import file_suffix, read_ipc, read_lines, read_parquet, read_records, source_paths
from shiftscope.tables.file_kind import file_kind
from shiftscope.tables.options import TableOptions

__all__ = ["copy_suffix", "extract_rows", "file_suffix", "write_positions"]

Rows = NDArray[np.intp]


def extract_rows(source: str, rows: Rows, n_rows: int, target: BinaryIO, options: TableOptions | None = None) -> None:
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
    options : TableOptions, optional
        How the file was read.
    """
    need_polars()
    paths = source_paths(source, "file")
    if len(paths) > 1:
        frame = pl.concat(
            [read_parquet(path).select(read_parquet(paths[0]).columns) for path in paths], how="vertical_relaxed"
        )
        _chosen(frame, rows, n_rows, Path(source)).write_parquet(target)
    else:
        kind = file_kind(paths[0])
        if kind == "delimited text":
            _copy_text(paths[0], rows, n_rows, target, options or TableOptions())
        else:
            _COPIERS[kind](paths[0], rows, n_rows, target)


def write_positions(reference: Rows, current: Rows, target: BinaryIO) -> None:
    """Write which rows were copied, in the order of the copies: sample and position, counting from 0, as CSV."""
    samples = ["reference"] * len(reference) + ["current"] * len(current)
    pl.DataFrame({"sample": samples, "row": np.concatenate([reference, current])}).write_csv(target)


def copy_suffix(source: str) -> str:
    """The suffix that a copy of a source's rows has: its own (unpacked but for .gz), or .parquet for several files."""
    if not os.path.isfile(os.path.expanduser(source)):  # false, too, for a name that is too long
        return file_suffix(source) or ".parquet"
    name = re.sub(r"\.(bz2|xz|zst|zip)$", "", source, flags=re.IGNORECASE)
    return file_suffix(name) or ".csv"


def _copy_text(path: Path, rows: Rows, n_rows: int, target: BinaryIO, options: TableOptions) -> None:
    """Delimited text: every value stays the text it was, in UTF-8; with a header if the file has one."""
    file, frame = read_text(path, options, TextFile.texts)
    chosen, form = _chosen(frame, rows, n_rows, path), file.dialect
    delimiter = "\t" if form.delimiter == BLANKS else form.delimiter
    names = () if form.names is None else form.names[1:] if form.row_names else form.names
    header = csv_line(names, delimiter) if names else ""
    _write_text(path, (header + chosen.write_csv(separator=delimiter, include_header=False)).encode(), target)


def _copy_lines(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    _write_text(path, _chosen(read_lines(path), rows, n_rows, path).write_ndjson().encode(), target)


def _copy_records(path: Path, rows: Rows, n_rows: int, target: BinaryIO) -> None:
    _write_text(path, _chosen(read_records(path), rows, n_rows, path).write_json().encode(), target)


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
    "JSON lines": _copy_lines,
    "JSON records": _copy_records,
    "Parquet": _copy_parquet,
    "Arrow IPC": _copy_arrow,
    "NPY": _copy_numpy,
    "NPZ": _copy_archive,
}
