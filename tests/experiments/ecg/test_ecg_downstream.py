from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from experiments.ecg import downstream, elastic_net
from experiments.ecg.cohorts import CASES, draw_cohorts
from experiments.ecg.recordings import read


@pytest.mark.parametrize("task", downstream.TASKS)
def test_no_patient_is_learned_from_and_tested_on(folder, task):
    ecg = read(folder)
    pair = draw_cohorts(ecg, CASES["C"], 1)
    split = downstream.task_split(ecg, pair, task, np.random.default_rng(0))
    train = np.concatenate([split.train_healthy, split.train_diseased])
    test = np.concatenate([split.test_healthy, split.test_diseased])
    assert not set(ecg.patient[train]) & set(ecg.patient[test])
    assert split.train_diseased.size > 0
    assert split.test_diseased.size > 0
    assert not np.any(ecg.device[split.train_diseased] == CASES["C"].y)
    assert not np.any(ecg.device[split.test_diseased] == CASES["C"].x)
    assert all(task in ecg.statements[row] for row in (*split.train_diseased, *split.test_diseased))
    fewer = downstream.without(split, split.train_healthy[:5], split.test_healthy[:7])
    assert (fewer.train_healthy.size, fewer.test_healthy.size) == (
        split.train_healthy.size - 5,
        split.test_healthy.size - 7,
    )
    assert np.array_equal(fewer.test_diseased, split.test_diseased)


@pytest.mark.parametrize(
    ("which", "settings"),
    [
        ("LR-L2", {"C": 0.01, "solver": "lbfgs", "max_iter": 2000}),
        ("LR-EN", {"C": 0.01, "l1_ratio": 0.5}),
        (
            "HGBT",
            {
                "max_depth": 3,
                "learning_rate": 0.03,
                "min_samples_leaf": 30,
                "max_iter": 500,
                "validation_fraction": 0.15,
                "n_iter_no_change": 20,
            },
        ),
    ],
)
def test_classifiers_have_the_supplements_settings(which, settings):
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((90, 2)), np.arange(90) % 2
    points[labels == 1, 0] += 3
    model = downstream.classifier(which, seed=0)
    assert settings.items() <= model.get_params().items()
    with threadpool_limits(1):
        scores = model.fit(points, labels).predict_proba(points)[:, 1]
    assert downstream.auc(scores[labels == 0], scores[labels == 1]) > 0.9


def test_elastic_net_reaches_the_optimum_of_saga():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((200, 12))
    points[:, 1] += points[:, 0]
    labels = (points[:, 0] + rng.standard_normal(200) > 0.9).astype(int)
    weight = {0: 1.0, 1: 2.5}
    penalty = {"C": 0.05, "l1_ratio": 0.5, "class_weight": weight}
    ours = elastic_net.ElasticNetLogistic(**penalty).fit(points, labels)
    saga = LogisticRegression(**penalty, **saga_penalty(), solver="saga", max_iter=20_000, tol=1e-7).fit(points, labels)
    assert ours.converged_
    assert 0 < np.sum(ours.coef_ == 0) < 12
    assert ours.coef_ == pytest.approx(saga.coef_, abs=1e-4)
    assert ours.predict_proba(points) == pytest.approx(saga.predict_proba(points), abs=1e-4)


def saga_penalty():
    """Newer scikit-learn infers the penalty from l1_ratio and warns if it is given."""
    inferred = inspect.signature(LogisticRegression).parameters["penalty"].default == "deprecated"
    return {} if inferred else {"penalty": "elasticnet"}


def test_auc_curve_and_interval_against_all_pairs():
    rng = np.random.default_rng(0)
    healthy, diseased = rng.integers(0, 9, 60) / 9, rng.integers(2, 12, 40) / 9
    wins = (diseased[:, None] > healthy) + 0.5 * (diseased[:, None] == healthy)
    assert downstream.auc(healthy, diseased) == pytest.approx(wins.mean())
    low, high = downstream.bootstrap_interval(healthy, diseased, seed=0)
    assert low < wins.mean() < high
    curve = downstream.roc(healthy, diseased)
    assert np.all(np.diff(curve) >= 0)
    assert np.trapezoid(curve, downstream.CURVE) == pytest.approx(wins.mean(), abs=0.01)


def test_a_change_is_held_against_all_random_removals():
    def unit(draw, after, *random):
        aucs = {"before": 0.8, "after": after, **{f"random {k}": value for k, value in enumerate(random)}}
        conditions = {name: {"LR-L2": {"auc": value}} for name, value in aucs.items()}
        return {"task": "1AVB", "draw": draw, "conditions": conditions}

    found = downstream.change([unit(0, 0.9, 0.79, 0.81), unit(1, 0.85, 0.8, 0.82)], "1AVB", "LR-L2")
    assert found.changes == pytest.approx([0.1, 0.05])
    assert np.sort(found.random) == pytest.approx([-0.01, 0.0, 0.01, 0.02])
    assert (found.outside, found.exceeds) == (2, True)
    assert not downstream.change([unit(0, 0.8, 0.79, 0.81)], "1AVB", "LR-L2").exceeds
