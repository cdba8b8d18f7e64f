"""Memory stays flat over many comparisons; `python -m validation.soak --comparisons 1000` is the long run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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
    assert soak(30, silent, lambda number, folder: kept.append(np.ones(3 << 17))) > ALLOWED
    assert MOST_PER_COMPARISON < ALLOWED
