"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from shiftscope.errors import InputError

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
    check_target(path)
    target = _resolved(path)
    direct = target.exists() and not target.is_file()
    part = target if direct else target.with_name(f".shiftscope-{secrets.token_hex(6)}.part")
    try:
        with open(part, "wb" if direct else "xb") as file:
            yield file
            file.flush()
            if not direct:
                os.fsync(file.fileno())
        if not direct:
            os.replace(part, target)
    except BaseException as error:
        if not direct:
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _refused(path, error.strerror or str(error), "choose another path") from error
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8, whole or not at all; characters that UTF-8 cannot hold become question marks."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before hours of work are lost to it."""
    try:
        target = _resolved(path)
        is_folder = target.is_dir()
    except OSError as error:
        raise _refused(path, error.strerror or str(error), "choose another path") from error
    if is_folder:
        raise _refused(path, "it is a folder", "give the name of a file")
    if not target.parent.is_dir():
        raise _refused(path, "its folder does not exist", "create the folder or choose another path")
    writable = target if target.exists() and not target.is_file() else target.parent
    if not os.access(writable, os.W_OK):
        raise _refused(path, "permission denied", "choose another path")


def _resolved(path: str | os.PathLike[str]) -> Path:
    """The file behind a path: links are followed, so that a link stays a link."""
    return Path(os.path.realpath(Path(path).expanduser()))


def _refused(path: str | os.PathLike[str], reason: str, remedy: str) -> InputError:
    shown = repr(os.fspath(path))
    shown = shown if len(shown) <= SHOWN else f"{shown[: SHOWN // 2]}…{shown[-SHOWN // 2 :]}"
    return InputError(f"{shown} cannot be written ({reason}); {remedy}")
