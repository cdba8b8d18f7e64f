"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from shiftscope.errors import InputError

_STREAM = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d+))")
SHOWN = 80  # characters of a path in a message


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when the context ends without an error.

    The bytes go to a temporary file in the same folder, which is synced and then renamed; on any error, an interrupt
    included, it is removed and a former file of that name stays as it was. Devices and pipes are written directly.

    Raises
    ------
    InputError
        If the folder is missing or nothing can be written there.
    """
    stream = _stream(path)
    if stream is not None:
        with _written_through(path, stream) as file:
            yield file
        return
    check_target(path)
    target = _resolved(path)
    direct = target.exists() and not target.is_file()
    part = _Part(path, target if direct else target.with_name(f".shiftscope-{secrets.token_hex(6)}.part"), target)
    try:
        with open(part.file, "wb" if direct else "xb") as file:
            yield file
            file.flush()
            if not direct:
                os.fsync(file.fileno())
        waiting = _WAITING.get()
        if waiting is not None and not direct:
            waiting.append(part)
        elif not direct:
            os.replace(part.file, target)
    except BaseException as error:
        if not direct:
            part.file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _refused(path, error.strerror or str(error), "choose another path") from error
        raise


@contextmanager
def together() -> Iterator[None]:
    """Let all files of `whole_file` that are written within appear when the context ends, or none of them.

    On any error former files stay, or come back, as they were.
    """
    parts: list[_Part] = []
    outside = _WAITING.set(parts)
    try:
        yield
        _appear(parts)
    finally:
        _WAITING.reset(outside)
        for part in parts:
            part.file.unlink(missing_ok=True)  # none is left where all went well


@dataclass(frozen=True)
class _Part:
    """A file written under a name of its own: `path` is what was asked for, `target` the file behind it."""

    path: str | os.PathLike[str]
    file: Path
    target: Path

    @property
    def former(self) -> Path:
        """Where a file that is to be replaced waits until all others are in their places."""
        return self.file.with_suffix(".former")

    def restore(self) -> None:
        """Make undone what was done so far."""
        if self.former.exists():
            os.replace(self.former, self.target)
        elif not self.file.exists():
            self.target.unlink(missing_ok=True)


_WAITING: ContextVar[list[_Part] | None] = ContextVar("_WAITING", default=None)  # parts that are to appear together


def _appear(parts: list[_Part]) -> None:
    """Give all parts their names; when one fails, all goes back to what it was."""
    with ExitStack() as undo:
        for part in parts:
            undo.callback(part.restore)
            try:
                if part.target.is_file() and len(parts) > 1:  # a single one is replaced in one step
                    os.replace(part.target, part.former)
                os.replace(part.file, part.target)
            except OSError as error:
                raise _refused(part.path, error.strerror or str(error), "choose another path") from error
        undo.pop_all()
    for part in parts:
        with suppress(OSError):
            part.former.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8, whole or not at all; characters that UTF-8 cannot hold become question marks."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before hours of work are lost to it."""
    if _stream(path) is not None:
        return
    try:
        target = _resolved(path)
        is_folder = target.is_dir()
    except OSError as error:
        raise _refused(path, error.strerror or str(error), "choose another path") from error
    if is_folder:
        raise _refused(path, "it is a folder", "give the name of a file")
    if target.parent.exists() and not target.parent.is_dir():
        raise _refused(path, "its folder is a file", "choose another path")
    if not target.parent.is_dir():
        raise _refused(path, "its folder does not exist", "create the folder or choose another path")
    writable = target if target.exists() and not target.is_file() else target.parent
    if not os.access(writable, os.W_OK):
        raise _refused(path, "permission denied", "choose another path")


def _stream(path: str | os.PathLike[str]) -> int | None:
    """The open stream that a path such as /dev/stdout or /dev/fd/63 stands for; None if it is none."""
    match = _STREAM.fullmatch(os.fspath(path))
    return None if match is None else {"stdout": 1, "stderr": 2}.get(match[1]) or int(match[2])


@contextmanager
def _written_through(path: str | os.PathLike[str], stream: int) -> Iterator[BinaryIO]:
    """Write behind what the stream holds already: opened by its name, the file behind it would be emptied."""
    try:
        sys.stdout.flush()
        with os.fdopen(os.dup(stream), "wb") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _refused(path, error.strerror or str(error), "choose another path") from error


def _resolved(path: str | os.PathLike[str]) -> Path:
    """The file behind a path: links are followed, so that a link stays a link."""
    return Path(os.path.realpath(Path(path).expanduser()))


def _refused(path: str | os.PathLike[str], reason: str, remedy: str) -> InputError:
    shown = repr(os.fspath(path))
    shown = shown if len(shown) <= SHOWN else f"{shown[: SHOWN // 2]}…{shown[-SHOWN // 2 :]}"
    return InputError(f"{shown} cannot be written ({reason}); {remedy}")
