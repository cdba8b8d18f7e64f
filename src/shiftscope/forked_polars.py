"""Polars in a forked process: its threads stay behind, and whatever needs them would wait for ever."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from shiftscope.errors import InputError

_THREADS = Path("/proc/self/task")  # not on every system; elsewhere nothing is refused
_ITS_OWN = re.compile(r"polars-\d|tokio-rt-worker")


class _Process:
    has_threads = False  # at the moment of a fork
    lost_threads = False  # the process was forked from one that had them


def polars_lost() -> bool:
    """Whether polars would wait for ever."""
    return _Process.lost_threads


def need_polars() -> None:
    """Refuse what would wait for threads that were lost in a fork."""
    if _Process.lost_threads:
        raise InputError(
            "this process was forked after Polars, which reads and writes tables, had started its threads, and these "
            "stayed behind; start processes by 'spawn' or 'forkserver', or give NumPy arrays or pandas frames"
        )


def _before_fork() -> None:
    _Process.has_threads = any(_ITS_OWN.match(name) for name in _thread_names())


def _in_child() -> None:
    _Process.lost_threads = _Process.lost_threads or _Process.has_threads


def _thread_names() -> list[str]:
    names = []
    for thread in _THREADS.glob("*/comm"):
        with suppress(OSError):  # it may just have ended
            names.append(thread.read_text())
    return names


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
