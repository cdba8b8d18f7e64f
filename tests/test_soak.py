"""Memory stays flat over many comparisons; `python -m validation.soak --comparisons 1000` is the long run."""

from __future__ import annotations

from mmap import mmap
from pathlib import Path

import pytest

from validation.soak import MOST_PER_COMPARISON, soak

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory in use cannot be read here")
ALLOWED = 1 << 20  # bytes a comparison: thirty of them are too few to tell less from the allocator's steps


def silent(done: int, used: int) -> None:
    """Nobody listens."""


def test_memory_stays_flat() -> None:
    assert soak(30, silent) < ALLOWED


def test_a_leak_would_be_seen() -> None:
    """The same measure of a task that keeps three megabytes every time."""
    kept = []

    def leak(number: int, folder: Path) -> None:
        kept.append(mmap(-1, 3 << 20))  # pages of its own: what the allocator has free is no place for it
        kept[-1].write(bytes(3 << 20))

    assert soak(30, silent, leak) > ALLOWED
    assert MOST_PER_COMPARISON < ALLOWED
