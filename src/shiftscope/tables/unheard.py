"""Polars, where it stumbles over a damaged file, writes lines of its own to standard error before it raises."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STDERR = 2
_lock = threading.Lock()
_readers = 0  # threads that read just now
_kept = -1  # standard error, as long as there are any


@contextmanager
def unheard() -> Iterator[None]:
    """Let nothing that is written to standard error meanwhile be heard; several threads may read at once."""
    _begin()
    try:
        yield
    finally:
        _end()


def _begin() -> None:
    global _readers, _kept
    with _lock:
        _readers += 1
        if _readers > 1:
            return
        try:
            _kept = os.dup(STDERR)
        except OSError:  # it is closed: nobody hears anything
            _kept = -1
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, STDERR)
        os.close(nowhere)


def _end() -> None:
    global _readers
    with _lock:
        _readers -= 1
        if _readers == 0:
            _restore()


def _restore() -> None:
    global _kept
    if _kept >= 0:
        os.dup2(_kept, STDERR)
        os.close(_kept)
    _kept = -1


def _forked() -> None:
    """A child that was forked while another thread was reading has no such thread."""
    global _lock, _readers
    _lock, _readers = threading.Lock(), 0
    _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
