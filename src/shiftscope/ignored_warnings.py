"""Warnings of other libraries that are expected: ignored for a while, in any number of threads.

`warnings.catch_warnings` puts a whole list of filters back, so that two threads, or the user's own changes in between,
undo each other's. Here one filter comes with the first block and goes with the last; no other is touched.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_LOCK = Lock()
_users: Counter[str] = Counter()
_filters: dict[str, tuple[Any, object]] = {}  # the list that a filter was put into, and the filter


@contextmanager
def ignored_warning(message: str) -> Iterator[None]:
    """Ignore warnings whose text begins like the pattern `message`, for the time of the block."""
    _enter(message)
    try:
        yield
    finally:
        _leave(message)


def _enter(message: str) -> None:
    with _LOCK:
        _users[message] += 1
        if _users[message] == 1:
            known = list(warnings.filters)
            warnings.filterwarnings("ignore", message=message)
            if warnings.filters[0] not in known:
                _filters[message] = warnings.filters, warnings.filters[0]


def _leave(message: str) -> None:
    with _LOCK:
        _users[message] -= 1
        if _users[message] == 0 and message in _filters:
            before, added = _filters.pop(message)
            current: Any = warnings.filters
            for filters in (before, current):
                if added in filters:
                    filters.remove(added)
