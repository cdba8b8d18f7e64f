"""A lock against other processes that the system takes back when its holder ends, however that happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from shiftscope.errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

BEYOND = 1 << 62  # Windows keeps others from reading what is locked: a place that no file reaches


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a file, which is created if there is none, from others that would lock it while the context lasts.

    Raises
    ------
    InputError
        If someone else has it, or if its disk knows no locks.
    """
    try:
        file = open(path, "ab")  # noqa: SIM115 (closed below; its own errors must not be taken for those of the caller)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written ({error.strerror}); choose another path") from error
    with file:
        try:
            take(file)
        except (BlockingIOError, PermissionError) as error:
            raise InputError(f"{str(path)!r} is in use by another process; wait until that has ended") from error
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be locked ({error.strerror}); choose another path") from error
        yield


def take(file: BinaryIO) -> None:
    """Take the lock of an open file at once, or raise an OSError; it ends when the file is closed."""
    if sys.platform == "win32":
        file.seek(BEYOND)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
