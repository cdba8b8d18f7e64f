"""Files -> columns of any type: delimited text, JSON lines, Parquet (also many files), Arrow, NPY and NPZ."""

from __future__ import annotations

import glob
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from shiftscope.tables.delimited_text import TextFile, read_text
from shiftscope.tables.file_kind import ARROW_SUFFIXES, LINES_SUFFIXES, PARQUET_SUFFIXES, TEXT_SUFFIXES, file_kind
from shiftscope.tables.objects import Raw
from shiftscope.tables.options import TableOptions
from shiftscope.tables.text_bytes import Sample, encoding_of, unpacked
from shiftscope.tables.unheard import unheard

_UNREADABLE = (Exception, pl.exceptions.PanicException)  # parsers raise anything on a corrupt file
_ZIPPED = re.compile(rf"({'|'.join(re.escape(s) for s in TEXT_SUFFIXES + LINES_SUFFIXES)})\.gz$", re.IGNORECASE)
_ARROW_MAGIC = b"ARROW1"
SAMPLED_ROWS = 20_000  # of the start, the middle and the end of a file that is only looked at
_NOT_IN_JSON = (b"NaN", b"Infinity")  # written by Python all the same


@dataclass(frozen=True)
class Content:
    """What a file holds.

    Attributes
    ----------
    kind
        Its format.
    found
        A `TextFile` and the frame of its columns, a `Raw`, a polars frame or a NumPy array.
    size
        Bytes.
    rows
        Rows of the file if only some of them were read; None if all were.
    """

    kind: str
    found: Any
    size: int
    rows: int | None = None


def read_file(data: str | os.PathLike[str], role: str, options: TableOptions, sample: bool = False) -> Content:
    """The content of a file, by what its first bytes say it is; of a large one only some rows, if a sample will do.

    A folder stands for the Parquet files in it, a path with * or ? for those that match, in the order of their names.
    """
    paths = source_paths(data, role)
    path, kind = paths[0], _suffix_kind(paths[0])
    if kind not in ("NPY", "NPZ"):
        need_polars()
    try:
        frames = []
        for path in paths:
            kind = file_kind(path)
            frames.append(_read_one(path, kind, options, sample))
    except _UNREADABLE as error:
        remedy = "" if isinstance(error, ValueError) and ";" in str(error) else "; write the file again"
        raise InputError(f"{role}: {shown(path)} cannot be read as {kind} ({one_line(error)}){remedy}") from error
    found = frames[0][0] if len(paths) == 1 else _stacked([frame for frame, _ in frames], paths, role)
    counts = [rows for _, rows in frames]
    rows = None if None in counts else sum(count for count in counts if count is not None)
    return Content(kind, found, sum(path.stat().st_size for path in paths), rows)


def _suffix_kind(path: Path) -> str:
    """What a file is to be called before it is looked at."""
    suffix = file_suffix(path.name).lower().removesuffix(".gz")
    return next((kind for suffixes, kind in _BY_NAME if suffix in suffixes), "a table")


def _read_one(path: Path, kind: str, options: TableOptions, sample: bool) -> tuple[Any, int | None]:
    """What one file holds, and how many rows there are if not all were read."""
    if kind == "delimited text":
        return read_text(path, options, TextFile.sample_frame if sample else TextFile.frame), None
    with unheard():
        return _parquet_sample(path) if kind == "Parquet" and sample else (_READERS[kind](path), None)


def _parquet_sample(path: Path) -> tuple[pl.DataFrame, int | None]:
    """Rows of the start, the middle and the end of a Parquet file, and how many there are."""
    scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    rows = int(scan.select(pl.len()).collect().item())
    if rows <= 3 * SAMPLED_ROWS:
        return scan.collect(), None
    starts = (0, rows // 2, rows - SAMPLED_ROWS)
    return pl.concat([scan.slice(at, SAMPLED_ROWS).collect() for at in starts]), rows


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
    with unpacked(path) as file:
        content = file.read()
    encoding = encoding_of(Sample((content,), True, "", len(content)))
    content = content.decode(encoding).encode()
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


def _read_npz(path: Path) -> Any:
    """One array as it is; several one-dimensional ones as columns under their names."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    if {array.ndim for array in arrays.values()} != {1} or len({array.size for array in arrays.values()}) != 1:
        raise ValueError("it must hold one array, or columns: one-dimensional arrays of one length")
    return Raw(list(arrays), list(arrays.values()))


def read_records(path: Path) -> pl.DataFrame:
    """A list of JSON objects, one per row."""
    with unpacked(path) as file:
        return pl.read_json(file.read(), infer_schema_length=None)


_READERS: dict[str, Callable[[Path], Any]] = {
    "JSON lines": read_lines,
    "JSON records": read_records,
    "Parquet": read_parquet,
    "Arrow IPC": read_ipc,
    "NPY": partial(np.load, allow_pickle=False),
    "NPZ": _read_npz,
}
_BY_NAME = (
    (TEXT_SUFFIXES, "delimited text"),
    (LINES_SUFFIXES, "JSON lines"),
    (PARQUET_SUFFIXES, "Parquet"),
    (ARROW_SUFFIXES, "Arrow IPC"),
    ((".npy",), "NPY"),
    ((".npz",), "NPZ"),
)
