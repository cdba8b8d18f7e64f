from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from experiments.baselines.l1_logistic import fit_logistic, largest_penalty, path


def test_the_penalised_fit_is_a_minimum():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 3))
    label = rng.random(300) < 1 / (1 + np.exp(-(rows[:, 0] - 0.5 * rows[:, 1])))
    penalty = 0.1 * largest_penalty(rows, label)

    def objective(w):
        odds = rows @ w[:3] + w[3]
        return np.mean(np.log1p(np.exp(np.where(label, -odds, odds)))) + penalty * np.abs(w[:3]).sum()

    model = path(rows, label, np.array([2 * penalty, penalty]))[-1]
    found = np.append(model.coefficients, model.intercept)
    best = minimize(objective, found, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 4000})
    assert objective(found) <= best.fun + 1e-9
    away = minimize(objective, np.zeros(4), method="Nelder-Mead", options={"fatol": 1e-12, "maxiter": 4000})
    assert objective(found) <= away.fun + 1e-7


def test_the_largest_penalty_leaves_no_feature():
    rng = np.random.default_rng(0)
    rows, label = rng.standard_normal((200, 4)), np.arange(200) >= 80
    top = largest_penalty(rows, label)
    assert not path(rows, label, np.array([1.001 * top]))[0].coefficients.any()
    assert path(rows, label, np.array([0.98 * top]))[0].coefficients.any()


def test_one_standard_error_keeps_few_features():
    rng = np.random.default_rng(3)
    rows, label = rng.standard_normal((2000, 10)), np.arange(2000) >= 1000
    rows[label, 4] += 0.5
    assert np.flatnonzero(fit_logistic(rows, label, 0).coefficients).tolist() == [4]
