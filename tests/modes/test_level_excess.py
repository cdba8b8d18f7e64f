from __future__ import annotations

import numpy as np

from shiftscope.modes.level_excess import counterpart


def test_what_the_other_sample_has_instead():
    """30 rows more of (B, missing): they lack at (B, there), the likest combination, and 10 at A."""
    level = np.repeat([0.0, 0.0, 1.0, 1.0], [60, 50, 30, 60])  # A of both samples, then B
    is_current = np.repeat([False, True, False, True], [60, 50, 30, 60])
    gap = np.zeros(200, np.bool_)
    gap[-50:] = True  # B of the current sample: 10 there, 50 missing
    ranked = np.column_stack([level, np.where(gap, -np.inf, 1.0)])
    found = counterpart(ranked, is_current, np.array([True, False]), (0, 1), np.flatnonzero(gap))
    scale = 90 / 110
    assert [(set(level[rows]), count) for rows, count in found] == [({1.0}, round(30 - 10 * scale)), ({0.0}, 19)]
    assert not is_current[np.concatenate([rows for rows, _ in found])].any()
