from __future__ import annotations

import numpy as np
import pytest

import shiftscope as ss
from experiments.ecg import comparison
from experiments.ecg.encoding import encode

N, D = 300, 12
GROUP, FEATURES = 60, (3, 7)  # the first rows of a cohort, alike in two of twelve features: a sixth


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(comparison, "K_MAX", 60)
    monkeypatch.setattr(comparison, "LOCALISE", ss.LocaliseParams(epochs=60, background=200))


def cohorts_with_a_group(side, kind="as is"):
    """Rows of X, then of Y, with a group in one of them."""
    rng = np.random.default_rng(1)
    points = rng.standard_normal((2 * N, D))
    points[np.ix_(side * N + np.arange(GROUP), FEATURES)] = (1.2, -0.8) + 0.1 * rng.standard_normal((GROUP, 2))
    return encode(points, kind)


@pytest.mark.parametrize("side", [0, 1])
def test_a_support_is_the_heaviest_sixth_of_the_features(side):
    points = cohorts_with_a_group(side)
    found = comparison.support(points, N, np.arange(GROUP), side, draw=0)
    assert sorted(found["features"]) == list(FEATURES)
    weights = np.array(found["weights"])
    assert weights[found["features"]].min() > np.delete(weights, found["features"]).max()
    assert found["features"] == sorted(found["features"], key=lambda feature: -weights[feature])
    assert comparison.support(points, N, np.arange(comparison.LEAST_QUERIES - 1), side, draw=0) is None


def test_the_alternation_finds_the_group_that_the_full_space_hardly_shows():
    points = cohorts_with_a_group(side=1)
    scores = ss.score(points[:N], points[N:], k_max=60)
    found = comparison.refined(points, N, "as is", (scores.reference, scores.current), draw=0)
    assert sorted(found.supports[1]["features"]) == list(FEATURES)
    assert np.mean(found.evident[1] < GROUP) > 0.9
    first = comparison.strongest(scores.current)
    assert np.mean(first < GROUP) < 0.9  # so far the full space
    assert np.mean(found.removed[1] < GROUP) > 0.9
    assert found.removed[1].size > GROUP / 2
    both = sorted({*found.supports[0]["features"], *found.supports[1]["features"]})
    again = ss.equalise(
        points[:N, both],
        points[N:, both],
        60,
        params=ss.EqualiseParams(q_tail=comparison.PAPER_TAIL),
    )
    assert np.array_equal(found.removed[1], np.sort(again.removed_current))


def test_directions_are_scaled_anew_in_the_features_of_the_supports():
    points = cohorts_with_a_group(side=1, kind="directions")
    scores = ss.score(points[:N], points[N:], k_max=60)
    found = comparison.refined(points, N, "directions", (scores.reference, scores.current), draw=0)
    both = sorted({*found.supports[0]["features"], *found.supports[1]["features"]})
    profile = points[:, both] / np.sqrt(np.mean(points[:, both] ** 2, axis=1, keepdims=True))
    expected = comparison.prune(profile, N, draw=0)
    assert [rows.tolist() for rows in found.removed] == [rows.tolist() for rows in expected]
    unscaled = comparison.prune(points[:, both], N, draw=0)
    assert found.removed[1].tolist() != unscaled[1].tolist()


def test_cohorts_too_small_for_a_support_lose_nobody():
    points = np.random.default_rng(0).standard_normal((100, 4))
    scores = np.arange(50.0), np.arange(50.0)[::-1]
    found = comparison.refined(points, 50, "as is", scores, draw=0)
    assert [rows.tolist() for rows in found.evident] == [[45, 46, 47, 48, 49], [0, 1, 2, 3, 4]]
    assert found.supports == (None, None)
    assert [rows.size for rows in found.removed] == [0, 0]
