from __future__ import annotations

import numpy as np
import pytest

from experiments.baselines import methods, ulsif
from experiments.baselines.methods import Finding, holm, judged
from experiments.benchmark20d import Pair
from experiments.cost import Cost

N, D = 600, 4
SHIFTED = 200


def make_pair(shift, seed=0, n=N, shifted=SHIFTED):
    """Normal samples; the last rows of the current one lie `shift` higher in x1 and x3."""
    rng = np.random.default_rng(seed)
    reference, current = rng.standard_normal((2, n, D))
    moved = np.arange(n) >= n - shifted if shift else np.zeros(n, dtype=bool)
    current[np.ix_(moved, [1, 3])] += shift
    return Pair(reference, current, moved, (1, 3) if shift else ())


TESTS = {
    "mlp_early": methods.mlp_early_unit,
    "lightgbm": methods.lightgbm_unit,
    "ks": methods.ks_unit,
    "mmd": methods.mmd_unit,
    "ulsif": methods.ulsif_unit,
    "l1": methods.l1_unit,
}
RANKINGS = ("mlp_early", "lightgbm", "ulsif", "l1")
ATTRIBUTIONS = ("lightgbm", "ks", "l1")


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Baselines of a size for samples of a few hundred rows."""
    monkeypatch.setattr(methods, "TREES", 30)
    monkeypatch.setattr(methods, "BOOSTING", methods.BOOSTING | {"num_leaves": 8, "learning_rate": 0.1})
    monkeypatch.setattr(ulsif, "CENTRES", 50)


@pytest.mark.parametrize("method", TESTS)
def test_an_obvious_shift_is_detected_and_none_is_seen_where_there_is_none(method):
    shifted, still = TESTS[method](make_pair(2.5), 0), TESTS[method](make_pair(0.0), 0)
    assert shifted["detected"] is True
    assert still["detected"] is False
    assert (shifted["truth"], still["truth"]) == ([1, 3], [])
    assert still["recall"] is still["recall_400"] is None
    assert shifted["cpu_seconds"] > 0
    if method in RANKINGS:
        assert shifted["recall"] == shifted["purity"] > 0.7
        assert shifted["recall_400"] >= shifted["recall"]
    else:
        assert shifted["recall"] is None
    if method in ATTRIBUTIONS:
        assert shifted["support"] == shifted["support_top"] == [1, 3]
        assert still["support"] == []
    else:
        assert shifted["support"] is shifted["support_top"] is None


def test_the_papers_mlp_ranks_rows_and_tests_nothing():
    found = methods.mlp_unit(make_pair(2.5, n=300, shifted=100), 0)
    assert found["detected"] is None
    assert found["recall"] > 0.7


def test_the_same_seed_gives_the_same_finding():
    pair = make_pair(1.0, n=200)
    first, second = (methods.density_ratio(pair, 5) for _ in range(2))
    assert np.array_equal(first.ranking, second.ranking)
    assert first.p_value == second.p_value


def test_findings_are_held_against_the_truth():
    pair = make_pair(1.0, n=10, shifted=4)  # rows 6 to 9
    ranking = np.array([9.0, 0, 0, 0, 0, 0, 8, 7, 1, 0])
    found = Finding(0.01, ranking, (3, 1), np.array([0.0, 2.0, 1.0, 3.0]))
    unit = judged(pair, found, Cost(1.0, 2.0), 0)
    assert unit["detected"] is True
    assert (unit["support"], unit["support_top"]) == ([1, 3], [1, 3])
    assert unit["recall"] == unit["purity"] == 3 / 4
    assert (unit["recall_400"], unit["purity_400"]) == (1.0, 4 / 10)


def test_features_without_strength_are_not_named():
    assert methods.top_features(np.array([0.0, 3.0, 0.0, 5.0]), 3) == (3, 1)


def test_holm_against_the_rule_step_by_step():
    p_values = np.array([0.04, 0.001, 0.9, 0.02])
    assert np.allclose(holm(p_values), [0.08, 0.004, 0.9, 0.06])
