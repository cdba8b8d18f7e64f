"""Files -> columns of any type: delimited text, JSON lines, Parquet (also many files), Arrow, NPY and NPZ."""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shiftscope.columns import seconds
from shiftscope.errors import InputError
from shiftscope.wording import one_line, shown

MISSING_TEXT = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None")  # read from a CSV as missing
DELIMITERS = (",", ";", "\t", "|")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
LINES_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet", ".pq")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")

_UNREADABLE = (Exception, pl.exceptions.PanicException)  # parsers raise anything on a corrupt file
_ZIPPED = re.compile(rf"({'|'.join(re.escape(s) for s in TEXT_SUFFIXES + LINES_SUFFIXES)})\.gz$", re.IGNORECASE)
_DECIMAL_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d*)?([eE][+-]?\d+)?$"  # 1234,5 and 1.234,5
_ISO_DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$"


@dataclass(frozen=True)
class Raw:
    """A sample taken apart into columns that are still of any type: narwhals series, arrays or lists."""

    names: Sequence[object]
    columns: Iterable[Any]
    positional: bool = False


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
    path = Path(data).expanduser()
    if os.path.isdir(path):
        found = sorted(file for suffix in PARQUET_SUFFIXES for file in path.glob(f"*{suffix}"))
        if not found:
            raise InputError(f"{role}: {shown(path)} is a directory without Parquet files; give the path of a file")
        return found
    if os.path.exists(path):
        return [path]
    matching = sorted(glob.glob(str(path))) if "\0" not in str(path) and glob.has_magic(str(path)) else []
    if not matching:
        raise InputError(f"{role}: there is no file {shown(path)}; check the path")
    others = [name for name in matching if not name.lower().endswith(PARQUET_SUFFIXES)]
    if others and len(matching) > 1:
        raise InputError(
            f"{role}: {shown(path)} matches {shown(others[0])}; only Parquet files can be read together, "
            "so narrow the pattern"
        )
    return [Path(name) for name in matching]


def file_suffix(source: str) -> str:
    """The part of a file's name that tells its format: .csv, .csv.gz, .parquet, ..."""
    name = Path(source).name
    found = _ZIPPED.search(name)
    return found[0] if found else Path(name).suffix


def utf8_content(path: Path) -> bytes:
    """A text file's bytes, unzipped, as UTF-8 without a mark at the start.

    Text that is neither UTF-8 nor marked as UTF-16 is taken for Windows-1252, which western programs write.
    """
    content = gzip.decompress(path.read_bytes()) if path.name.lower().endswith(".gz") else path.read_bytes()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16").encode()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        if b"\0" in content:
            raise ValueError("neither UTF-8, UTF-16 nor Windows-1252 text") from None
        return content.decode("cp1252").encode()
    return content.removeprefix(codecs.BOM_UTF8)


def csv_header(content: bytes) -> tuple[list[str], str]:
    """Names as written (polars renames duplicates), and the delimiter that the header line has most of."""
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    delimiter = max(DELIMITERS, key=re.sub(r'"[^"]*"', "", lines.readline()).count)
    lines.seek(0)
    return [name.strip() for name in next(csv.reader(lines, delimiter=delimiter), [])], delimiter


def read_ipc(path: Path) -> pl.DataFrame:
    """An Arrow file; opened here, since polars would take a path with brackets for a pattern."""
    with path.open("rb") as file:
        return pl.read_ipc(file)


def read_lines(path: Path) -> pl.DataFrame:
    """JSON lines, one object per row."""
    return pl.read_ndjson(io.BytesIO(utf8_content(path)), infer_schema_length=None)


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


def _read_csv(path: Path) -> Raw:
    """Read delimited text as numbers; columns where that leaves gaps are read again as text, and looked at."""
    content = utf8_content(path)
    names, delimiter = csv_header(content)
    read = partial(pl.read_csv, content, separator=delimiter, null_values=list(MISSING_TEXT))
    frame = read(schema_overrides=[pl.Float64] * len(names), ignore_errors=True)
    gaps = [position for position, column in enumerate(frame) if column.null_count()]
    texts = read(columns=gaps, infer_schema=False) if gaps else pl.DataFrame()
    frame = frame.with_columns(_parsed(text) for text in texts)
    return Raw(names, nw.from_native(frame).iter_columns())


def _parsed(text: pl.Series) -> pl.Series:
    """Text as numbers (booleans as 0 and 1, decimal commas understood) or dates, if all of it reads as such."""
    plain = text.str.strip_chars()
    missing = text.null_count()
    lowered = plain.str.to_lowercase().replace({"true": "1", "false": "0"})
    number = lowered.cast(pl.Float64, strict=False)
    if number.null_count() == missing:
        return number
    if plain.str.contains(_DECIMAL_COMMA).all():
        return plain.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True).cast(pl.Float64)
    return _dated(plain) if plain.str.contains(_ISO_DATE).all() else plain


def _dated(text: pl.Series) -> pl.Series:
    """ISO 8601 dates, with or without a time, as points in time (UTC); anything else stays text."""
    known = {value: seconds(value) for value in text.drop_nulls().unique()}
    if None in known.values():
        return text
    ticks = [None if value is None else round(1e6 * (known[value] or 0.0)) for value in text]
    return pl.Series(text.name, ticks, dtype=pl.Int64).cast(pl.Datetime("us"))


def _read_json_lines(path: Path) -> pl.DataFrame:
    frame = read_lines(path)
    dates = [c for c in frame if c.dtype == pl.String and c.null_count() < len(c) and c.str.contains(_ISO_DATE).all()]
    return frame.with_columns(_dated(column) for column in dates)


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
    **dict.fromkeys(TEXT_SUFFIXES, ("delimited text", _read_csv)),
    **dict.fromkeys(LINES_SUFFIXES, ("JSON lines", _read_json_lines)),
    **dict.fromkeys(PARQUET_SUFFIXES, ("Parquet", partial(pl.read_parquet, glob=False, hive_partitioning=False))),
    **dict.fromkeys(ARROW_SUFFIXES, ("Arrow IPC", read_ipc)),
    ".npy": ("NPY", partial(np.load, allow_pickle=False)),
    ".npz": ("NPZ", _read_npz),
}
