"""How kernels are compiled: kept on disk wherever that is possible, and on several threads wherever that is safe.

Numba refuses to import a function whose cache it can write nowhere, ends a process that runs threads of its "omp" layer
after a fork, and one that runs two kernels side by side on its "workqueue" layer. Nobody should meet any of this.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any

import numba
from numba import config

_THREADSAFE_LAYERS = ("tbb", "omp")
_IN_TURN = Lock()


def njit(**options: Any) -> Callable[[Any], Any]:
    """`numba.njit` with a cache where possible; a kernel with `parallel=True` chooses its threads at every call."""
    return lambda function: OnThreads(function, options) if options.get("parallel") else _kept(function, options)


class OnThreads:
    """A kernel of independent turns (`prange`), whose result is the same on any number of threads."""

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self.py_func = function
        self.options = options
        self.threaded = _kept(function, options)

    @cached_property
    def serial(self) -> Any:
        """The same on one thread; under another name, because Numba's cache does not tell the two apart."""
        function = self.py_func
        copy = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_serial")
        copy.__qualname__ = copy.__name__
        copy.__module__ = function.__module__
        return _kept(copy, {**self.options, "parallel": False})

    def __getattr__(self, name: str) -> Any:
        """Whatever else is asked of a compiled function."""
        return getattr(self.threaded, name)

    def __call__(self, *arguments: Any) -> Any:
        """On all threads of Numba; on one in a process that was forked from one that had started them."""
        if _Process.lost_threads:
            return self.serial(*arguments)
        with nullcontext() if _layer() in _THREADSAFE_LAYERS else _IN_TURN:
            return self.threaded(*arguments)


class _Process:
    lost_threads = False  # they were started before the fork that made this process


@lru_cache(maxsize=1)
def _layer() -> str:
    numba.get_num_threads()  # starts the threads
    return str(numba.threading_layer())


def _after_fork() -> None:
    """Remember in the child whether the parent had started Numba's threads, by this package or by anything else."""
    try:
        numba.threading_layer()
    except ValueError:
        return
    _Process.lost_threads = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _kept(function: Any, options: dict[str, Any]) -> Any:
    """The compiled function, kept beside the sources or in the user's cache, else in a temporary folder, else not."""
    try:
        return numba.njit(**options)(function)
    except RuntimeError:  # neither can be written
        pass
    folder = _private_folder() if options.get("cache") else None
    if folder is not None:
        try:
            with _cache_in(folder):
                return numba.njit(**options)(function)
        except (RuntimeError, OSError):
            pass
    return numba.njit(**{**options, "cache": False})(function)


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Numba's own setting, for the time of one declaration."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@lru_cache(maxsize=1)
def _private_folder() -> Path | None:
    """A folder for temporary files that nobody else can write: what lies in it is run."""
    try:
        folder = Path(tempfile.gettempdir()) / f"shiftscope-kernels-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except (OSError, AttributeError):  # nothing can be written at all, or a system without users' numbers
        return None
    mine = found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    return folder if mine else None
