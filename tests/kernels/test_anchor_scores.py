from __future__ import annotations

import numpy as np
import pytest

from shiftscope.full_space.score import nulls_for
from shiftscope.kernels.anchor_scores import score_anchors


def slow_score(points, is_current, anchor, features, table):
    """Sort all rows by distance, walk, look at the evidence between distances."""
    gaps = points[:, features] - points[anchor, features]
    squares = (gaps.astype(np.float32) ** 2).sum(axis=1, dtype=np.float32)
    others = np.delete(np.arange(len(points)), anchor)
    order = others[np.argsort(squares[others], kind="stable")]
    best, same = 0.0, 0
    for k, row in enumerate(order[: table.shape[0] - 1]):
        same += is_current[row] == is_current[anchor]
        if k + 1 == order.size or squares[order[k + 1]] != squares[row]:
            best = max(best, table[k + 1, same])
    return best


@pytest.mark.parametrize(("n", "k_max"), [(1500, 30), (60, 59)])  # with a sample of the distances, and without
@pytest.mark.parametrize("levels", [None, 6])
def test_score_anchors(n, k_max, levels):
    rng = np.random.default_rng(5)
    points = rng.standard_normal((n, 4)) if levels is None else rng.integers(0, levels, (n, 4)).astype(float)
    is_current = rng.random(n) < 0.4
    nulls = nulls_for(int((~is_current).sum()), int(is_current.sum()), k_max)
    chosen = np.array([[1, 0, 0, 0], [1, 1, 0, 1]], bool)
    anchors = np.flatnonzero(is_current)[:12]
    found = np.empty((2, anchors.size))
    columns = np.ascontiguousarray(points.T, dtype=np.float32)
    score_anchors(columns, is_current.astype(np.uint8), anchors, chosen, nulls.tables[1], found)
    slow = [
        [slow_score(points, is_current, anchor, np.flatnonzero(features), nulls.tables[1]) for anchor in anchors]
        for features in chosen
    ]
    np.testing.assert_allclose(found, slow, rtol=1e-12)
    assert np.ptp(found) > 0
