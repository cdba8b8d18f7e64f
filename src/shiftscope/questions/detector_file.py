"""A fitted detector in one file: a ZIP archive of two JSON texts and one NPY matrix, without any pickle.

header.json   format, version, and a checksum of the other two
state.json    settings and what each column of the reference is
values.npy    (columns, rows) float64: the values of all columns that can take part
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope._compare import checked_settings
from shiftscope.errors import InputError
from shiftscope.json_data import UnfitError, from_plain
from shiftscope.messages import one_line, writable
from shiftscope.output_files import whole_file
from shiftscope.params import CompareParams
from shiftscope.paths import as_path
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.column_kinds import Column, Kind, Unusable
from shiftscope.tables.table import MIN_ROWS, Table

DETECTOR_FORMAT = "shiftscope detector"
DETECTOR_VERSION = 1
HEADER, STATE, VALUES = "header.json", "state.json", "values.npy"
ARCHIVE, NAME_AT = b"PK\3\4", 30  # how a ZIP archive begins, and where the name of its first member stands
REMEDY = "fit the detector again and save it"


@dataclass(frozen=True)
class SavedDetector:
    """What a file holds of a detector."""

    alpha: float | None
    columns: Columns | Sequence[str] | None
    params: CompareParams | None
    random_state: int
    table: Table


def write_detector(detector: SavedDetector, path: str | PathLike[str]) -> None:
    """Write what is to be saved, whole or not at all."""
    table = detector.table
    state = json.dumps(_state(detector), default=_plain_number).encode()
    buffer = io.BytesIO()
    np.save(buffer, _matrix(table), allow_pickle=False)
    values = buffer.getvalue()
    header = {"format": DETECTOR_FORMAT, "version": DETECTOR_VERSION, "checksum": _checksum(state, values)}
    with whole_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in ((HEADER, json.dumps(header).encode()), (STATE, state), (VALUES, values)):
            archive.writestr(zipfile.ZipInfo(name), content)  # without a time stamp: equal detectors, equal files


def read_detector(path: str | PathLike[str]) -> SavedDetector:
    """Read and check a file of `write_detector`."""
    header, state, values = _members(path)
    if header.get("version") != DETECTOR_VERSION:
        raise _refused(
            path,
            f"has version {header.get('version')!r} and this shiftscope reads {DETECTOR_VERSION}",
            "use a newer shiftscope",
        )
    if header.get("checksum") != _checksum(state, values):
        raise _refused(path, "is damaged: its checksum does not fit its content", REMEDY)
    try:
        return _restored(_State.of(json.loads(state)), _matrix_of(values))
    except (UnfitError, ValueError, OverflowError, RecursionError) as error:  # ParameterError is a ValueError
        raise _refused(path, f"holds what no detector of this version has ({one_line(error)})", REMEDY) from error


def is_detector(path: str | PathLike[str]) -> bool:
    """Whether a file is meant to be a saved detector, cut short or not: an archive that begins with its header."""
    try:
        with open(as_path(path), "rb") as file:
            begun = file.read(NAME_AT + len(HEADER))
    except OSError:
        return False
    return begun.startswith(ARCHIVE) and begun[NAME_AT:] == HEADER.encode()


def _members(path: str | PathLike[str]) -> tuple[dict[str, Any], bytes, bytes]:
    """Header, state and values of the archive."""
    try:
        with zipfile.ZipFile(as_path(path, "the detector")) as archive:
            _check_sizes(archive)
            header = json.loads(archive.read(HEADER))
            if not isinstance(header, dict) or header.get("format") != DETECTOR_FORMAT:
                raise _refused(path, "is no saved detector", "give a file of ShiftDetector.save")
            return header, archive.read(STATE), archive.read(VALUES)
    except OSError as error:
        raise _refused(path, f"cannot be read ({error.strerror or one_line(error)})", "check the path") from error
    except KeyError as error:
        raise _refused(path, "is no saved detector, or not a whole one", "give a file of ShiftDetector.save") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"is damaged: its header cannot be read ({one_line(error)})", REMEDY) from error
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _refused(path, f"is no saved detector, or a damaged one ({one_line(error)})", REMEDY) from error


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Members lie in the file as they are, so none is larger than it: nothing can unfold in the memory."""
    for member in map(archive.getinfo, (HEADER, STATE, VALUES)):
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise zipfile.BadZipFile(f"{member.filename} is compressed")


def _refused(path: str | PathLike[str], reason: str, remedy: str) -> InputError:
    return InputError(f"detector {str(path)!r} {reason}; {remedy}")


def _checksum(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _state(detector: SavedDetector) -> dict[str, Any]:
    columns, table = detector.columns, detector.table
    if isinstance(columns, Columns):
        chosen: Any = {
            "include": None if columns.include is None else list(columns.include),
            "exclude": list(columns.exclude),
            "kinds": dict(columns.kinds),
        }
    else:
        chosen = None if columns is None else list(columns)
    return {
        "alpha": detector.alpha,
        "columns": chosen,
        "params": None if detector.params is None else asdict(detector.params),
        "random_state": detector.random_state,
        "names": table.names,
        "n_rows": table.n_rows,
        "positional": table.positional,
        "table": [
            {"unusable": column.reason}
            if isinstance(column, Unusable)
            else {"kind": column.kind, "levels": column.levels, "whole": column.whole}
            for column in table.columns
        ],
    }


def _plain_number(value: Any) -> Any:
    """NumPy's numbers among the settings."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be saved")


def _matrix(table: Table) -> NDArray[np.float64]:
    values = [column.values for column in table.columns if isinstance(column, Column)]
    return np.vstack(values) if values else np.empty((0, table.n_rows))


@dataclass(frozen=True)
class _ColumnState:
    """A column that takes no part, and why; or what it is."""

    unusable: str | None = None
    kind: Kind = "number"
    levels: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class _State:
    """What `_state` writes."""

    alpha: float | None
    params: CompareParams | None
    random_state: int
    names: tuple[str, ...]
    n_rows: int
    positional: bool
    table: tuple[_ColumnState, ...]
    columns: Columns | tuple[str, ...] | None

    @classmethod
    def of(cls, state: Any) -> _State:
        """Every field is there and of its type; settings are such as `compare` takes."""
        if not isinstance(state, dict) or "columns" not in state:
            raise UnfitError("no settings of columns")
        known = from_plain(cls, {**state, "columns": None}, "state")
        assert isinstance(known, _State)
        checked_settings(known.alpha, known.params, known.random_state)
        return replace(known, columns=_restored_columns(state["columns"]))

    def __post_init__(self) -> None:
        texts = [*self.names, *(level for column in self.table for level in column.levels)]
        _need(len(self.names) == len(self.table) > 0, f"{len(self.names)} names of {len(self.table)} columns")
        _need(len(set(self.names)) == len(self.names) and "" not in self.names, "names that are not unique")
        _need(all(text == writable(text) for text in texts), "a text that no file could hold")
        _need(not self.positional or self.names == tuple(f"x{at}" for at in range(len(self.names))), "odd positions")
        _need(self.n_rows >= MIN_ROWS, f"{self.n_rows} rows")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise UnfitError(otherwise)


def _matrix_of(content: bytes) -> NDArray[np.float64]:
    """The matrix of an NPY file, read-only; its shape must be that of the bytes there."""
    stream = io.BytesIO(content)
    _need(np.lib.format.read_magic(stream) == (1, 0), "a matrix of another version")
    shape, columns_first, dtype = np.lib.format.read_array_header_1_0(stream)
    fits = len(shape) == 2 and min(shape) >= 0 and 8 * shape[0] * shape[1] == len(content) - stream.tell()
    _need(dtype == np.float64 and not columns_first and fits, f"a matrix of {dtype} and shape {shape}")
    return np.frombuffer(content, np.float64, offset=stream.tell()).reshape(shape)


def _restored(state: _State, values: NDArray[np.float64]) -> SavedDetector:
    usable = sum(column.unusable is None for column in state.table)
    _need(values.shape == (usable, state.n_rows), f"a matrix of shape {values.shape}")
    rows = iter(values)
    columns = tuple(
        _restored_column(column, next(rows)) if column.unusable is None else Unusable(column.unusable)
        for column in state.table
    )
    table = Table(state.names, columns, state.n_rows, state.positional)
    return SavedDetector(state.alpha, state.columns, state.params, state.random_state, table)


def _restored_column(state: _ColumnState, values: NDArray[np.float64]) -> Column:
    """A column as `read_column` would make it."""
    there = values[~np.isnan(values)]
    if state.kind == "category":
        _need(list(state.levels) == sorted(set(state.levels)), "levels that are not sorted")
        fits = (there >= 0) & (there < len(state.levels)) & (there == np.floor(there))
    else:
        _need(not state.levels, f"levels of a {state.kind}")
        fits = np.isfinite(there) if state.kind != "number" else np.ones(there.size, np.bool_)
    _need(bool(fits.all()), f"a value that is no {state.kind}")
    return Column(state.kind, values, state.levels, state.whole)


def _restored_columns(saved: Any) -> Columns | tuple[str, ...] | None:
    if saved is None:
        return None
    if isinstance(saved, list):
        return from_plain(tuple[str, ...], saved, "columns")  # type: ignore[no-any-return]
    _need(isinstance(saved, dict) and saved.keys() == {"include", "exclude", "kinds"}, "odd settings of columns")
    include = from_plain(tuple[str, ...] | None, saved["include"], "include")
    return Columns(include, from_plain(tuple[str, ...], saved["exclude"], "exclude"), saved["kinds"])
