"""Files -> columns of any type: delimited text, JSON lines, Parquet (also many files), Arrow, NPY and NPZ."""

from __future__ import annotations

import glob
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shiftscope.errors import InputError
from shiftscope.forked_polars import need_polars
from shiftscope.messages import one_line, shown, writable
from shiftscope.paths import as_path
from shiftscope.tables.dates import ISO_DATE, dated
from shiftscope.tables.delimited_text import Raw, read_csv, utf8_content

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
LINES_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet", ".pq")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
NUMPY_SUFFIXES = (".npy", ".npz")

_UNREADABLE = (Exception, pl.exceptions.PanicException)  # parsers raise anything on a corrupt file
_ZIPPED = re.compile(rf"({'|'.join(re.escape(s) for s in TEXT_SUFFIXES + LINES_SUFFIXES)})\.gz$", re.IGNORECASE)
_ARROW_MAGIC = b"ARROW1"
_NOT_IN_JSON = (b"NaN", b"Infinity")  # written by Python all the same


def read_file(data: str | os.PathLike[str], role: str) -> Any:
    """The content of a file, by its suffix: a `Raw`, a polars frame or a NumPy array.

    A folder stands for the Parquet files in it, a path with * or ? for those that match, in the order of their names.
    """
    paths = source_paths(data, role)
    suffix = file_suffix(paths[0].name).lower().removesuffix(".gz")
    if suffix not in _READERS:
        known = ", ".join(_READERS)
        raise InputError(
            f"{role}: {shown(paths[0])} has an unknown suffix; convert the file to one of {known} (text also .gz)"
        )
    if suffix not in NUMPY_SUFFIXES:
        need_polars()
    kind, reader = _READERS[suffix]
    path = paths[0]
    try:
        if len(paths) == 1:
            return reader(path)
        frames = []
        for path in paths:
            frames.append(reader(path))
    except _UNREADABLE as error:
        raise InputError(
            f"{role}: {shown(path)} cannot be read as {kind} ({one_line(error)}); write the file again"
        ) from error
    return _stacked(frames, paths, role)


def source_paths(data: str | os.PathLike[str], role: str) -> list[Path]:
    """The file itself, or the Parquet files that a folder or a pattern stands for."""
    path = as_path(data, f"{role}: the path")
    if os.path.isdir(path):
        found = sorted(file for suffix in PARQUET_SUFFIXES for file in path.glob(f"*{suffix}"))
        if not found:
            raise InputError(
                f"{role}: {shown(path)} is a directory without Parquet files; give a file, or a pattern such as "
                "'folder/**/*.parquet' for files in subfolders"
            )
        return found
    if os.path.exists(path):
        return [path]
    matching = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []
    if not matching:
        raise InputError(f"{role}: there is no file {shown(path)}; check the path")
    others = [name for name in matching if not name.lower().endswith(PARQUET_SUFFIXES)]
    if others and len(matching) > 1:
        raise InputError(
            f"{role}: {shown(path)} matches {shown(others[0])}; only Parquet files can be read together, "
            "so narrow the pattern"
        )
    return [Path(name) for name in matching]


def files_of(source: str) -> list[str]:
    """The files that a path, a folder or a pattern stands for; the path itself if there are none."""
    try:
        return [str(path) for path in source_paths(source, "file")]
    except InputError:  # whoever reads it will say so
        return [os.path.expanduser(source)]


def would_be_read(path: str, source: str) -> bool:
    """Whether a new file, by its real path, would be read with a folder or a pattern that is read today."""
    place = os.path.realpath(os.path.expanduser(source))
    folder, name = os.path.split(path)
    if os.path.isdir(place):
        return folder == place and name.lower().endswith(PARQUET_SUFFIXES)
    if not glob.has_magic(place) or os.path.exists(place):
        return False
    if _matches(Path(path).parts, Path(place).parts):
        return True
    folders, names = os.path.split(place)  # folders that match may be links to others
    linked = {os.path.realpath(match) for match in glob.glob(folders, recursive=True)}
    return folder in linked and _matches((name,), (names,))


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path fit those of a pattern, as `glob` has it: ** stands for any number of folders."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    hidden = parts[0].startswith(".") and not pattern[0].startswith(".")
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or (not hidden and _matches(parts[1:], pattern))
    return not hidden and fnmatch(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def file_suffix(source: str) -> str:
    """The part of a file's name that tells its format: .csv, .csv.gz, .parquet, ..."""
    name = Path(source).name
    found = _ZIPPED.search(name)
    return found[0] if found else Path(name).suffix


def read_parquet(path: Path) -> pl.DataFrame:
    """One Parquet file; polars itself opens only names that are UTF-8."""
    source = path if writable(str(path)) == str(path) else io.BytesIO(path.read_bytes())
    return pl.read_parquet(source, glob=False, hive_partitioning=False)


def read_ipc(path: Path) -> pl.DataFrame:
    """An Arrow file or stream; opened here, since polars would take a path with brackets for a pattern."""
    with path.open("rb") as file:
        if file.read(len(_ARROW_MAGIC)) != _ARROW_MAGIC:
            return pl.read_ipc_stream(path.read_bytes())
        file.seek(0)
        try:
            return pl.read_ipc(file)
        except pl.exceptions.ComputeError:  # categories of pandas with missing values; pyarrow, if there, reads them
            file.seek(0)
            return pl.read_ipc(file, use_pyarrow=True)


def read_lines(path: Path) -> pl.DataFrame:
    """JSON lines, one object per row."""
    content = utf8_content(path)
    if any(word in content for word in _NOT_IN_JSON):
        rows = [json.loads(line) for line in content.splitlines() if line.strip()]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)
    return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)


def _stacked(frames: list[pl.DataFrame], paths: list[Path], role: str) -> pl.DataFrame:
    """The rows of several files in one frame; columns are matched by name."""
    names = frames[0].columns
    for frame, path in zip(frames, paths, strict=True):
        if set(frame.columns) != set(names):
            odd = sorted(set(frame.columns) ^ set(names))[0]
            raise InputError(
                f"{role}: {shown(paths[0])} and {shown(path)} differ in column {shown(odd)}; "
                "files that are read together need the same columns"
            )
    try:
        return pl.concat([frame.select(names) for frame in frames], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{role}: the {len(paths)} files disagree in the type of a column ({one_line(error)}); write them alike"
        ) from error


def _read_json_lines(path: Path) -> pl.DataFrame:
    frame = read_lines(path)
    dates = [c for c in frame if c.dtype == pl.String and c.null_count() < len(c) and c.str.contains(ISO_DATE).all()]
    return frame.with_columns(dated(column) for column in dates)


def _read_npz(path: Path) -> Any:
    """One array as it is; several one-dimensional ones as columns under their names."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    if {array.ndim for array in arrays.values()} != {1} or len({array.size for array in arrays.values()}) != 1:
        raise ValueError("it must hold one array, or columns: one-dimensional arrays of one length")
    return Raw(list(arrays), list(arrays.values()))


_READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    **dict.fromkeys(TEXT_SUFFIXES, ("delimited text", read_csv)),
    **dict.fromkeys(LINES_SUFFIXES, ("JSON lines", _read_json_lines)),
    **dict.fromkeys(PARQUET_SUFFIXES, ("Parquet", read_parquet)),
    **dict.fromkeys(ARROW_SUFFIXES, ("Arrow IPC", read_ipc)),
    ".npy": ("NPY", partial(np.load, allow_pickle=False)),
    ".npz": ("NPZ", _read_npz),
}
