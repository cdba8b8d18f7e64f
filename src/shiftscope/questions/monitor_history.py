"""An append-only record of a monitored sequence: JSON lines, each on disk before the next batch begins.

The first line tells what the record belongs to; every other one is a finished batch. Each line ends with a checksum of
itself and of the checksum before it, so that a line that was changed, doubled, moved or taken out from between others
is seen. A crash or a power cut can only tear the last line, which then has no line end or holds null bytes: it is
dropped, and its batch is computed again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from shiftscope.errors import InputError
from shiftscope.file_lock import locked
from shiftscope.json_data import UnfitError, from_plain, plain
from shiftscope.output_files import append, check_target, cut
from shiftscope.params import changed_settings
from shiftscope.paths import as_path
from shiftscope.questions.detector import ShiftDetector
from shiftscope.questions.monitor_batch import BatchRow

HISTORY_FORMAT = "shiftscope history"
HISTORY_VERSION = 2  # 1 had no checksums
_SIGNED = re.compile(rb'(\{.*), "checksum": "([0-9a-f]{32})"\}')


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
    last : str
        Checksum of the last line.
    """

    rows: list[BatchRow] = field(default_factory=list)
    path: Path | None = None
    last: str = ""

    @classmethod
    @contextmanager
    def open(cls, path: str | PathLike[str] | None, header: HistoryHeader) -> Iterator[History]:
        """Begin a record, or read one and drop a torn last line; no other process can while the context lasts."""
        if path is None:
            yield cls()
            return
        check_target(path)
        target = as_path(path)
        if target.exists() and not target.is_file():
            raise InputError(f"history {str(path)!r} must be an ordinary file; choose another path")
        with locked(target):
            rows, last = _begun_or_read(target, header)
            yield cls(rows, target, last)

    def append(self, row: BatchRow) -> None:
        """Add a finished batch; it is on disk when this returns."""
        if self.path is not None:
            self.last = _append(self.path, row, self.last)
        self.rows.append(row)


def _begun_or_read(path: Path, header: HistoryHeader) -> tuple[list[BatchRow], str]:
    """The rows of a record without what a crash has torn, and the last checksum; a new one gets its header."""
    lines, length = _whole_lines(path)
    if not lines:  # new, or torn within the first line: nothing is lost
        _check_torn_header(path)
        cut(path, 0)
        return [], _append(path, header, "")
    _check_header(path, lines[0], header)
    rows, last = [], ""
    for number, line in enumerate(lines, start=1):
        body, last = _checked(path, number, line, last)
        if number > 1:
            rows.append(_row(path, number, body))
    if length < path.stat().st_size:
        cut(path, length)
    return rows, last


def _append(path: Path, value: BatchRow | HistoryHeader, before: str) -> str:
    """Write a line behind the one with the checksum `before`; its own is returned."""
    body = json.dumps(plain(value))
    checksum = _checksum(body.encode(), before)
    append(path, f'{body[:-1]}, "checksum": "{checksum}"}}\n'.encode())
    return checksum


def _checksum(body: bytes, before: str) -> str:
    return hashlib.blake2b(before.encode() + body, digest_size=16).hexdigest()


def _checked(path: Path, number: int, line: bytes, before: str) -> tuple[bytes, str]:
    """A line without its checksum, and the checksum, which must fit the line and the one before."""
    found = _SIGNED.fullmatch(line)
    body = b"" if found is None else found[1] + b"}"
    checksum = _checksum(body, before)
    if found is None or found[2].decode() != checksum:
        raise _damaged(path, number, "its checksum does not fit: it was changed, doubled, moved or follows a lost line")
    return body, checksum


def _whole_lines(path: Path) -> tuple[list[bytes], int]:
    """Lines that end, and their length; a last one with null bytes, as a power cut leaves it, is torn as well."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"history {str(path)!r} cannot be read ({error.strerror}); choose another path") from error
    lines = content.split(b"\n")[:-1]
    if len(lines) > 1 and b"\0" in lines[-1]:
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
    if content.strip(b"\0") and not (content.startswith(begun) or begun.startswith(content.rstrip(b"\0"))):
        raise InputError(f"{str(path)!r} is no history of shiftscope; choose another path")


def _check_header(path: Path, line: bytes, expected: HistoryHeader) -> None:
    found = _parsed(line)
    if found is None or found.get("format") != HISTORY_FORMAT:
        raise InputError(f"{str(path)!r} is no history of shiftscope; choose another path")
    if found.get("version") != HISTORY_VERSION:
        raise InputError(
            f"history {str(path)!r} has version {found.get('version')!r} and this shiftscope reads {HISTORY_VERSION}; "
            "begin another: its batches are computed again"
        )
    _checked(path, 1, line, "")
    wanted: dict[str, Any] = vars(expected)
    told: dict[str, Callable[[Any], str]] = {
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


def _row(path: Path, number: int, body: bytes) -> BatchRow:
    try:
        row = from_plain(BatchRow, _parsed(body), "row")
    except UnfitError as error:
        raise _damaged(path, number, str(error)) from error
    assert isinstance(row, BatchRow)
    return row


def _damaged(path: Path, number: int, reason: str) -> InputError:
    return InputError(f"history {str(path)!r} is damaged in line {number} ({reason}); begin another")
