"""A fitted detector in one file: a ZIP archive of two JSON texts and one NPY matrix, without any pickle.

header.json   format, version, and a checksum of the other two
state.json    settings and what each column of the reference is
values.npy    (columns, rows) float64: the values of all columns that can take part
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.messages import one_line
from shiftscope.output_files import whole_file
from shiftscope.params import PARTS, CompareParams
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.column_kinds import Column, Unusable
from shiftscope.tables.table import Table

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
        return _restored(json.loads(state), np.load(io.BytesIO(values), allow_pickle=False))
    except (KeyError, TypeError, ValueError, IndexError) as error:  # ParameterError is a ValueError
        raise _refused(path, f"holds what no detector of this version has ({one_line(error)})", REMEDY) from error


def is_detector(path: str | PathLike[str]) -> bool:
    """Whether a file is meant to be a saved detector, cut short or not: an archive that begins with its header."""
    try:
        with open(Path(path).expanduser(), "rb") as file:
            begun = file.read(NAME_AT + len(HEADER))
    except OSError:
        return False
    return begun.startswith(ARCHIVE) and begun[NAME_AT:] == HEADER.encode()


def _members(path: str | PathLike[str]) -> tuple[dict[str, Any], bytes, bytes]:
    """Header, state and values of the archive."""
    try:
        with zipfile.ZipFile(Path(path).expanduser()) as archive:
            header = json.loads(archive.read(HEADER))
            if not isinstance(header, dict) or header.get("format") != DETECTOR_FORMAT:
                raise _refused(path, "is no saved detector", "give a file of ShiftDetector.save")
            return header, archive.read(STATE), archive.read(VALUES)
    except OSError as error:
        raise _refused(path, f"cannot be read ({error.strerror or one_line(error)})", "check the path") from error
    except KeyError as error:
        raise _refused(path, "is no saved detector, or not a whole one", "give a file of ShiftDetector.save") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _refused(path, f"is no saved detector, or a damaged one ({one_line(error)})", REMEDY) from error
    except (InputError, RecursionError):
        raise
    except ValueError as error:
        raise _refused(path, f"is damaged: its header cannot be read ({one_line(error)})", REMEDY) from error


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


def _restored(state: dict[str, Any], values: NDArray[np.float64]) -> SavedDetector:
    if values.dtype != np.float64 or values.ndim != 2 or values.shape[1] != state["n_rows"]:
        raise ValueError(f"a matrix of {values.dtype} and shape {values.shape}")
    values.flags.writeable = False
    rows = iter(values)
    columns = tuple(
        Unusable(column["unusable"])
        if "unusable" in column
        else Column(column["kind"], next(rows), tuple(column["levels"]), column["whole"])
        for column in state["table"]
    )
    return SavedDetector(
        alpha=state["alpha"],
        columns=_restored_columns(state["columns"]),
        params=None if state["params"] is None else _restored_params(state["params"]),
        random_state=state["random_state"],
        table=Table(tuple(state["names"]), columns, state["n_rows"], state["positional"]),
    )


def _restored_columns(saved: Any) -> Columns | tuple[str, ...] | None:
    if saved is None:
        return None
    if isinstance(saved, list):
        return tuple(saved)
    include = None if saved["include"] is None else tuple(saved["include"])
    return Columns(include, tuple(saved["exclude"]), saved["kinds"])


def _restored_params(saved: dict[str, Any]) -> CompareParams:
    return CompareParams(
        **{
            name: PARTS[name](**value) if name in PARTS and value is not None else value
            for name, value in saved.items()
        }
    )
