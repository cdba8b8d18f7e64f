from __future__ import annotations

import numpy as np
import pytest

from shiftscope.modes.best_features import best_features
from shiftscope.params import ModeParams

GROUPS = tuple((column,) for column in range(8))


def group_of(features, n=3000, size=90, d=8):
    rng = np.random.default_rng(1)
    points = rng.standard_normal((2 * n, d))
    is_current = np.arange(2 * n) >= n
    rows = np.arange(n, n + size)
    points[np.ix_(rows, features)] = 0.4 + 0.12 * rng.standard_normal((size, len(features)))
    return points, is_current, rows


@pytest.mark.parametrize("start", [(1, 4), (1, 4, 6), (1, 2, 4, 6), (0, 1, 4)])
def test_the_climb_ends_in_the_features_of_the_group(start):
    points, is_current, rows = group_of([1, 4, 6])
    features, anchors = best_features(points, is_current, start, rows[:40], 40, 200, GROUPS, ModeParams())
    assert features == (1, 4, 6)
    assert set(anchors) <= set(rows)


def test_the_climb_keeps_at_least_one_feature():
    points, is_current, rows = group_of([3], size=300)
    features, _ = best_features(points, is_current, (3,), rows, 300, 200, GROUPS, ModeParams())
    assert features == (3,)
