from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import binom, ks_2samp
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from shiftscope.questions import independent_tests as independent


def test_equal_energies_count_as_equal_whatever_the_rounding():
    rng = np.random.default_rng(1)
    points = np.where(rng.random((600, 1)) < 0.3, 2.1837, 0.0)
    is_current = rng.permutation(np.arange(600) < 250)
    rows = np.concatenate([np.flatnonzero(~is_current), np.flatnonzero(is_current)])
    labellings = np.stack([is_current[rows], *(rng.permutation(is_current[rows]) for _ in range(199))])
    gaps = np.abs(
        600 * (labellings @ (points[rows, 0] > 0)) - 250 * int(np.sum(points > 0))
    )  # all that energy depends on
    distances = np.abs(points[rows] - points[rows].T)
    energy = independent.energy_distances(distances, labellings.T)
    assert independent._p_value(energy) == np.mean(gaps >= gaps[0])


def test_energies_are_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((600, 4))
    labellings = np.stack([rng.permutation(np.arange(600) < 300) for _ in range(20)], axis=1)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(independent.energy_distances(cdist(points, points), labellings))
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("check", ["boosting", "energy", "marginal"])
def test_independent_tests_keep_their_level(check: str, monkeypatch: pytest.MonkeyPatch):
    """Null samples with ties; the share of p-values of at most 0.2 is binomial."""
    monkeypatch.setattr(independent, "TREES", 3)
    rng = np.random.default_rng(8)
    found = []
    for seed in range(80 if check != "boosting" else 40):
        rows = rng.integers(0, 6, size=(120, 2)).astype(float)
        is_current = np.arange(120) >= 70
        if check == "boosting":
            found.append(independent.boosting_checks(rows, is_current, 29, seed))
        elif check == "energy":
            found.append([independent.energy_check(rows, is_current, 29, seed)])
        else:
            found.append([independent.marginal_check(rows, is_current, 29, seed)])
    for column in zip(*found, strict=True):
        rejected = sum(one.p_value <= 0.2 for one in column)
        assert rejected <= binom.ppf(0.9995, len(column), 0.2)
    moved = np.where(is_current[:, None], rows + 3.0, rows)  # negative control
    shown = {
        "boosting": lambda: independent.boosting_checks(moved, is_current, 29, 0)[0],
        "energy": lambda: independent.energy_check(moved, is_current, 29, 0),
        "marginal": lambda: independent.marginal_check(moved, is_current, 29, 0),
    }
    assert shown[check]().p_value == 1 / 30


def test_statistics_are_the_textbook_ones():
    rng = np.random.default_rng(5)
    rows, is_current = rng.integers(0, 9, size=(200, 3)).astype(float), rng.random(200) < 0.4
    rows[is_current, 1] += 1
    expected = max(ks_2samp(rows[is_current, f], rows[~is_current, f]).statistic for f in range(3))
    assert independent.marginal_check(rows, is_current, 19, 0).statistic == pytest.approx(expected)
    x, y = rows[~is_current], rows[is_current]

    def mean_distance(a, b):
        return np.mean([np.linalg.norm(one - other) for one in a for other in b])

    expected = 2 * mean_distance(x, y) - mean_distance(x, x) - mean_distance(y, y)
    assert independent.energy_check(rows, is_current, 19, 0).statistic == pytest.approx(expected, abs=1e-5)


def test_area_is_that_of_models_of_the_past(monkeypatch: pytest.MonkeyPatch):
    """Against scikit-learn's area on each fold, where scores have no ties."""
    rng = np.random.default_rng(6)
    is_current = rng.random(300) < 0.5
    rows = rng.standard_normal((300, 2)) + is_current[:, None]
    areas, sizes, seen = [], [], []

    def first_column(past, labels, points, _):
        """A model without ties; what it may learn from is remembered."""
        seen.append(past)
        assert not (past[:, None] == points).all(axis=2).any()
        np.testing.assert_array_equal(labels, is_current[[np.flatnonzero(rows[:, 0] == one)[0] for one in past[:, 0]]])
        return points[:, 0]

    monkeypatch.setattr(independent, "boosted_scores", first_column)
    folds = [now for _, now in StratifiedKFold(independent.FOLDS, shuffle=True, random_state=0).split(rows, is_current)]
    for now in folds[1:]:
        areas.append(roc_auc_score(is_current[now], rows[now, 0]))
        sizes.append(now.size)
    found = independent.boosting_checks(rows, is_current, 19, 0)[0].statistic
    assert found == pytest.approx(np.average(areas, weights=sizes))
    assert [len(past) for past in seen] == np.cumsum([fold.size for fold in folds])[:-1].tolist()
