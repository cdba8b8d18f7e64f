"""A comparison with one mode, computed once for all tests that look at what becomes of a result."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

import shiftscope as ss

PARAMS = ss.CompareParams(
    n_permutations=99,
    scan=None,
    equalise=ss.EqualiseParams(k_max=60, n_permutations=99),
    localise=ss.LocaliseParams(epochs=150, background=300, k=30),
)


@cache
def samples() -> tuple[pl.DataFrame, pl.DataFrame]:
    """600 rows each; the first 60 current ones gather in a and b."""
    rng = np.random.default_rng(1)
    reference, current = rng.standard_normal((2, 600, 3))
    current[:60, :2] = (1.2, -0.8) + 0.08 * rng.standard_normal((60, 2))
    return pl.DataFrame(reference, schema=["a", "b", "c"]), pl.DataFrame(current, schema=["a", "b", "c"])


@cache
def result() -> ss.ShiftResult:
    """Their comparison."""
    return ss.compare(*samples(), params=PARAMS)
