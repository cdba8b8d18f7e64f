"""All that is written: files that appear whole or not at all, several of them together.

A file is written under a name of its own in the folder of its target (`.shiftscope-*.part`), synced, and renamed. Files
of one command (`together`) are renamed when all are written: first the former last file is set aside, then all others
get their names, then the last one. So wherever the process dies, each file is whole, and while the last file is there,
all are of one run. What a process that died leaves behind (`.part`, `.former`) the next one removes that writes into
the folder: a running process holds locks on such files of its own.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from shiftscope.errors import InputError
from shiftscope.file_lock import take
from shiftscope.paths import as_path

_STREAM = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d+))")
_OWN_NAME = re.compile(r"\.shiftscope-[0-9a-f]{12}\.(part|former)")
SHOWN = 80  # characters of a path in a message


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when the context ends without an error.

    On any error, an interrupt included, a former file of that name stays as it was. Devices and pipes are written
    directly.

    Raises
    ------
    InputError
        If the folder is missing or nothing can be written there.
    """
    check_target(path)
    stream, target = _stream(path), _resolved(path)
    with _told(path):
        if stream is not None:
            if sys.stdout is not None:
                sys.stdout.flush()
            with os.fdopen(os.dup(stream), "wb") as file:  # opened by its name, the file behind it would be emptied
                yield file
        elif target.exists() and not target.is_file():
            with open(target, "wb") as file:
                yield file
        else:
            with _set_of_its_own() as files:
                part = _Part.begun(path, target)
                try:
                    yield part.file
                    part.file.flush()
                    os.fsync(part.file.fileno())
                except BaseException:
                    part.done()
                    raise
                files.parts.append(part)


@contextmanager
def together() -> Iterator[None]:
    """Let all files of `whole_file` that are written within appear when the context ends, or none of them.

    On any error former files stay, or come back, as they were. The file that is written last appears last; while
    others are replaced, a former one of its name is away.
    """
    with _one_set():
        yield


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder if it is not there; if the files that `together` writes fail, it goes again."""
    folder, files = as_path(path), _WAITING.get()
    with _told(path):
        if not folder.is_dir():
            folder.mkdir()
            if files is not None:
                files.folders.append(folder)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8, whole or not at all; characters that UTF-8 cannot hold become question marks."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def append(path: Path, content: bytes) -> None:
    """Add to the end of a file; all of it is on disk when this returns, and none of it after an error."""
    with _told(path), open(path, "ab", buffering=0) as file:
        length = file.tell()
        try:
            if file.write(content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                os.truncate(path, length)
            raise
    if length == 0:
        _sync_folders([path.parent])


def cut(path: Path, length: int) -> None:
    """Drop what a file holds behind its first `length` bytes."""
    with _told(path):
        os.truncate(path, length)


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before hours of work are lost to it."""
    if _stream(path) is not None:
        return
    with _told(path):
        target = _resolved(path)
        is_folder = target.is_dir()
    if is_folder or os.fspath(path).endswith(os.sep):
        raise _refused(path, "it is a folder", "give the name of a file")
    if target.parent.exists() and not target.parent.is_dir():
        raise _refused(path, "its folder is a file", "choose another path")
    if not target.parent.is_dir():
        raise _refused(path, "its folder does not exist", "create the folder or choose another path")
    writable = target if target.exists() and not target.is_file() else target.parent
    if not os.access(writable, os.W_OK):
        raise _refused(path, "permission denied", "choose another path")


@dataclass(frozen=True)
class _Part:
    """A file under a name of its own: `path` is what was asked for, `target` the file behind it."""

    path: str | os.PathLike[str]
    target: Path
    place: Path
    file: BinaryIO
    held: list[BinaryIO] = field(default_factory=list)  # a former file, open and locked

    @classmethod
    def begun(cls, path: str | os.PathLike[str], target: Path) -> _Part:
        """A new file beside its target; what others have left there is removed first."""
        _sweep(target.parent)
        while True:
            place = target.with_name(f".shiftscope-{secrets.token_hex(6)}.part")
            file = open(place, "xb")  # noqa: SIM115 (closed by `done`)
            with suppress(OSError):  # a disk without locks
                take(file)
            if place.exists():  # else somebody has swept it away before it was locked
                return cls(path, target, place, file)
            file.close()

    @property
    def former(self) -> Path:
        """Where a file that is replaced waits until all others are in their places."""
        return self.place.with_suffix(".former")

    def keep_former(self) -> None:
        """Give the file that is to be replaced a second name."""
        if not self.target.is_file():
            return
        self._hold()
        try:
            os.link(self.target, self.former)
        except OSError:  # a disk that knows no such links
            os.replace(self.target, self.former)

    def set_aside(self) -> None:
        """Take the file that is to be replaced away."""
        if self.target.is_file():
            self._hold()
            os.replace(self.target, self.former)

    def appear(self) -> None:
        """Let the file have its name."""
        if sys.platform == "win32":  # no open file can be renamed there
            self.file.close()
        os.replace(self.place, self.target)

    def restore(self) -> None:
        """Make undone what was done so far."""
        if self.former.exists():
            os.replace(self.former, self.target)
        elif not self.place.exists():
            self.target.unlink(missing_ok=True)

    def done(self) -> None:
        """Close and remove whatever has not got its name."""
        for file in (self.file, *self.held):
            with suppress(OSError):  # what a full disk did not take was told already
                file.close()
        for path in (self.place, self.former):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _hold(self) -> None:
        """Lock the former file, under whatever name, as one of a running process."""
        if sys.platform == "win32":
            return
        with suppress(OSError):
            self.held.append(open(self.target, "rb"))  # noqa: SIM115 (closed by `done`)
            take(self.held[-1])


@dataclass
class _Set:
    """Files that are to appear together, and folders made for them."""

    parts: list[_Part] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def appear(self) -> None:
        """Give all parts their names, the last one when all others have theirs; on any error none."""
        if not self.parts:
            return
        *others, last = self.parts
        with ExitStack() as undo:
            undo.callback(last.restore)
            with _told(last.path):
                if others:
                    last.set_aside()
                    _sync_folders([last.target.parent])
            for part in others:
                undo.callback(part.restore)
                with _told(part.path):
                    part.keep_former()
                    part.appear()
            _sync_folders(part.target.parent for part in others)
            with _told(last.path):
                last.appear()
            undo.pop_all()
        _sync_folders([last.target.parent])


_WAITING: ContextVar[_Set | None] = ContextVar("_WAITING", default=None)  # files that are to appear together


@contextmanager
def _one_set() -> Iterator[_Set]:
    """Files written within appear in the end, or all goes back to what it was."""
    files = _Set()
    outside = _WAITING.set(files)
    try:
        yield files
        files.appear()
        files.folders.clear()
    finally:
        _WAITING.reset(outside)
        for part in files.parts:
            part.done()
        for folder in files.folders:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def _set_of_its_own() -> Iterator[_Set]:
    """The set that is being written, or a new one."""
    files = _WAITING.get()
    if files is not None:
        yield files
    else:
        with _one_set() as alone:
            yield alone


def _sweep(folder: Path) -> None:
    """Remove what processes that died have left; files of a running one are locked."""
    if sys.platform == "win32":  # a file must be closed there, and unlocked, before it is renamed
        return
    with suppress(OSError):
        for name in filter(_OWN_NAME.fullmatch, os.listdir(folder)):
            with suppress(OSError), open(folder / name, "rb") as file:
                take(file)
                (folder / name).unlink()


def _sync_folders(folders: Iterable[Path]) -> None:
    """Let names survive a power cut, where the system can."""
    if sys.platform == "win32":
        return
    for folder in set(folders):
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _stream(path: str | os.PathLike[str]) -> int | None:
    """The open stream that a path such as /dev/stdout or /dev/fd/63 stands for; None if it is none."""
    match = _STREAM.fullmatch(str(as_path(path)))
    return None if match is None else {"stdout": 1, "stderr": 2}.get(match[1]) or int(match[2])


def _resolved(path: str | os.PathLike[str]) -> Path:
    """The file behind a path: links are followed, so that a link stays a link."""
    return Path(os.path.realpath(as_path(path)))


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Tell what the system refuses in one line; a pipe that nobody reads any more is not its fault."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _refused(path, error.strerror or str(error), "choose another path") from error


def _refused(path: str | os.PathLike[str], reason: str, remedy: str) -> InputError:
    shown = repr(os.fspath(path))
    shown = shown if len(shown) <= SHOWN else f"{shown[: SHOWN // 2]}…{shown[-SHOWN // 2 :]}"
    return InputError(f"{shown} cannot be written ({reason}); {remedy}")
