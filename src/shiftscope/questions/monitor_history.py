"""An append-only record of a monitored sequence: JSON lines, each on disk before the next batch begins.

The first line tells what the record belongs to; every other one is a finished batch. A crash can only tear the last
line, which has no line end then: it is dropped, and its batch is computed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from shiftscope.errors import InputError
from shiftscope.json_data import UnfitError, from_plain, plain
from shiftscope.output_files import check_target
from shiftscope.params import changed_settings
from shiftscope.questions.detector import ShiftDetector
from shiftscope.questions.file_lock import locked
from shiftscope.questions.monitor_batch import BatchRow

HISTORY_FORMAT = "shiftscope history"
HISTORY_VERSION = 1


@dataclass(frozen=True)
class HistoryHeader:
    """What a record belongs to: lines of another reference or other settings must not be mixed with it."""

    format: str
    version: int
    reference: str
    alpha: float
    horizon: int
    random_state: int
    settings: str

    @classmethod
    def of(cls, detector: ShiftDetector, alpha: float, horizon: int, reference: str) -> HistoryHeader:
        """From a fitted detector and the fingerprint of its reference."""
        settings = repr((detector.columns, changed_settings(detector.settings())))
        return cls(HISTORY_FORMAT, HISTORY_VERSION, reference, alpha, horizon, int(detector.random_state), settings)


@dataclass
class History:
    """The rows so far; in memory only if there is no path.

    Attributes
    ----------
    rows : list of BatchRow
    path : Path or None
    """

    rows: list[BatchRow] = field(default_factory=list)
    path: Path | None = None

    @classmethod
    @contextmanager
    def open(cls, path: str | PathLike[str] | None, header: HistoryHeader) -> Iterator[History]:
        """Begin a record, or read one and drop a torn last line; no other process can while the context lasts."""
        if path is None:
            yield cls()
            return
        check_target(path)
        target = Path(path).expanduser()
        if target.exists() and not target.is_file():
            raise InputError(f"history {str(path)!r} must be an ordinary file; choose another path")
        with locked(target):
            yield cls(_begun_or_read(target, header), target)

    def append(self, row: BatchRow) -> None:
        """Add a finished batch; it is on disk when this returns."""
        if self.path is not None:
            _append(self.path, row)
        self.rows.append(row)


def _begun_or_read(path: Path, header: HistoryHeader) -> list[BatchRow]:
    """The rows of a record without what a crash has torn; a new one gets its header."""
    lines, length = _whole_lines(path)
    if not lines:  # new, or torn within the first line: nothing is lost
        _check_torn_header(path)
        os.truncate(path, 0)
        _append(path, header)
        return []
    _check_header(path, lines[0], header)
    rows = [_row(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    if length < path.stat().st_size:
        os.truncate(path, length)
    return rows


def _append(path: Path, value: BatchRow | HistoryHeader) -> None:
    try:
        with open(path, "ab") as file:
            file.write(json.dumps(plain(value)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"history {str(path)!r} cannot be written ({error.strerror}); choose another path") from error


def _whole_lines(path: Path) -> tuple[list[bytes], int]:
    """Lines that end, and their length; a last one that is no JSON counts as torn as well."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"history {str(path)!r} cannot be read ({error.strerror}); choose another path") from error
    lines = content.split(b"\n")[:-1]
    if len(lines) > 1 and _parsed(lines[-1]) is None:
        lines.pop()
    return lines, sum(len(line) + 1 for line in lines)


def _parsed(line: bytes) -> Any:
    """The object of a line; None if it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _check_torn_header(path: Path) -> None:
    """Refuse a file without any line end that is not the beginning of a record: it belongs to someone else."""
    begun = json.dumps({"format": HISTORY_FORMAT}).encode()[:-1]
    content = path.read_bytes()
    if content.strip(b"\0") and not (content.startswith(begun) or begun.startswith(content)):
        raise InputError(f"{str(path)!r} is no history of shiftscope; choose another path")


def _check_header(path: Path, line: bytes, expected: HistoryHeader) -> None:
    found = _parsed(line)
    if found is None or found.get("format") != HISTORY_FORMAT:
        raise InputError(f"{str(path)!r} is no history of shiftscope; choose another path")
    wanted: dict[str, Any] = vars(expected)
    told: dict[str, Callable[[Any], str]] = {
        "version": lambda value: f"has version {value!r} and this shiftscope reads {HISTORY_VERSION}",
        "reference": lambda _: "belongs to another reference",
        "alpha": lambda value: f"was begun with alpha = {value}",
        "horizon": lambda value: f"was begun with a horizon of {value}",
        "random_state": lambda value: f"was begun with the seed {value}",
        "settings": lambda _: "was begun with other settings",
    }
    for name, text in told.items():
        if found.get(name) != wanted[name]:
            raise InputError(
                f"history {str(path)!r} {text(found.get(name))}; go on with what it was begun with, or begin another"
            )


def _row(path: Path, number: int, line: bytes) -> BatchRow:
    try:
        row = from_plain(BatchRow, _parsed(line), "row")
    except UnfitError as error:
        raise InputError(
            f"history {str(path)!r} is damaged in line {number} ({error}); mend it or begin another"
        ) from error
    assert isinstance(row, BatchRow)
    return row
