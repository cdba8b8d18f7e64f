from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, mannwhitneyu, norm

from experiments import baselines, kernel_test, ulsif
from experiments.baselines import Finding, holm, judged
from experiments.benchmark20d import Pair
from experiments.cost import Cost
from experiments.l1_logistic import fit_logistic, largest_penalty, path
from experiments.predictive_test import FOLDS, assign_folds, forward_p_value, out_of_fold, rank_z, strongest

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
    "mlp_early": baselines.mlp_early_unit,
    "lightgbm": baselines.lightgbm_unit,
    "ks": baselines.ks_unit,
    "mmd": baselines.mmd_unit,
    "ulsif": baselines.ulsif_unit,
    "l1": baselines.l1_unit,
}
RANKINGS = ("mlp_early", "lightgbm", "ulsif", "l1")
ATTRIBUTIONS = ("lightgbm", "ks", "l1")


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Baselines of a size for samples of a few hundred rows."""
    monkeypatch.setattr(baselines, "TREES", 30)
    monkeypatch.setattr(baselines, "BOOSTING", baselines.BOOSTING | {"num_leaves": 8, "learning_rate": 0.1})
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
    found = baselines.mlp_unit(make_pair(2.5, n=300, shifted=100), 0)
    assert found["detected"] is None
    assert found["recall"] > 0.7


def test_the_same_seed_gives_the_same_finding():
    pair = make_pair(1.0, n=200)
    first, second = (baselines.density_ratio(pair, 5) for _ in range(2))
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
    assert baselines.top_features(np.array([0.0, 3.0, 0.0, 5.0]), 3) == (3, 1)


def test_holm_against_the_rule_step_by_step():
    p_values = np.array([0.04, 0.001, 0.9, 0.02])
    assert np.allclose(holm(p_values), [0.08, 0.004, 0.9, 0.06])


# ---- the forward test ----


def mean_difference(rows, label):
    """A linear score: the direction between the sample means."""
    weights = rows[label].mean(axis=0) - rows[~label].mean(axis=0)
    return lambda part: part @ weights


def test_the_forward_test_keeps_its_level_and_the_sum_over_folds_does_not():
    pairs, level = 400, 0.05
    label = np.arange(120) >= 60
    p_values, sums = [], []
    for seed in range(pairs):
        rows = np.random.default_rng([seed, 1]).standard_normal((120, 20))
        folds = assign_folds(label, seed)
        p_values.append(forward_p_value(mean_difference, rows, label, folds, seed))
        scores = out_of_fold(mean_difference, rows, label, folds)
        sums.append(sum(rank_z(scores[folds == f], label[folds == f]) for f in range(FOLDS)) / np.sqrt(FOLDS))
    assert np.sum(np.array(p_values) <= level) <= binom.ppf(0.999, pairs, level)
    assert np.var(sums) > 1.4  # the negative control: about 2, where independent folds would give 1


def test_the_forward_test_sees_a_shift():
    rng = np.random.default_rng(0)
    label = np.arange(400) >= 200
    rows = rng.standard_normal((400, 3)) + 0.6 * label[:, None]
    assert forward_p_value(mean_difference, rows, label, assign_folds(label, 0), 0) < 0.001


def test_folds_are_even_in_both_samples():
    label = np.arange(57) >= 23
    folds = assign_folds(label, 4)
    for part in (folds[label], folds[~label]):
        sizes = np.bincount(part, minlength=FOLDS)
        assert sizes.max() - sizes.min() <= 1


def test_rank_sums_against_scipy():
    rng = np.random.default_rng(2)
    scores, label = rng.integers(0, 8, 90).astype(float), rng.random(90) < 0.4
    expected = mannwhitneyu(
        scores[label], scores[~label], alternative="greater", method="asymptotic", use_continuity=False
    )

    assert norm.sf(rank_z(scores, label)) == pytest.approx(expected.pvalue)
    assert rank_z(np.ones(10), np.arange(10) < 5) == 0.0


def test_ties_are_broken_at_random():
    order = strongest(np.array([1.0, 1, 1, 1, 2]), np.random.default_rng(0))
    assert order[0] == 4
    firsts = {int(strongest(np.ones(4), np.random.default_rng(seed))[0]) for seed in range(40)}
    assert firsts == {0, 1, 2, 3}


# ---- uLSIF ----


def slow_ratio(current, reference, centres, width, ridge):
    """The estimator from its definition, one entry after the other."""
    b = len(centres)

    def phi(x):
        return [np.exp(-sum((x - c) ** 2) / (2 * width**2)) for c in centres]

    values = [phi(x) for x in reference]
    second = [[np.mean([v[i] * v[j] for v in values]) for j in range(b)] for i in range(b)]
    first = np.mean([phi(x) for x in current], axis=0)
    solution = np.linalg.solve(np.array(second) + ridge * np.eye(b), first)
    return np.where(solution > 0, solution, 0.0), np.array(second), first


def test_ulsif_against_its_definition():
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((30, 2)), rng.standard_normal((25, 2)) + 0.5
    centres, width, ridge = current[:6], 0.8, 0.01
    expected, second, first = slow_ratio(current, reference, centres, width, ridge)
    assert np.allclose(ulsif.mean_product(reference, centres, width), second)
    assert np.allclose(ulsif.mean_kernel(current, centres, width), first)
    assert np.allclose(ulsif.solve(second, first, ridge), expected)
    model = ulsif.Ratio(centres, expected, width, ridge)
    row = reference[3]
    by_hand = sum(a * np.exp(-sum((row - c) ** 2) / (2 * width**2)) for a, c in zip(expected, centres, strict=True))
    assert model(reference)[3] == pytest.approx(by_hand)


def test_ulsif_folds_against_their_definition():
    rng = np.random.default_rng(1)
    parts = [(rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 1) for _ in range(ulsif.FOLDS)]
    centres, width = parts[0][1][:4], 1.0
    second = np.array([ulsif.mean_product(reference, centres, width) for reference, _ in parts])
    first = np.array([ulsif.mean_kernel(current, centres, width) for _, current in parts])
    expected = []
    for ridge in ulsif.RIDGES:
        errors = []
        for held in range(ulsif.FOLDS):
            others = [part for number, part in enumerate(parts) if number != held]
            train = [np.vstack(side) for side in zip(*others, strict=True)]
            a, _, _ = slow_ratio(train[1], train[0], centres, width, ridge)
            r = [ulsif.kernel(side, centres, width) @ a for side in parts[held]]
            errors.append(np.mean(r[0] ** 2) / 2 - np.mean(r[1]))
        expected.append(np.mean(errors))
    assert np.allclose(ulsif.held_out_errors(second, first), expected)


def test_ulsif_finds_a_known_ratio():
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((3000, 1)), 0.5 + 0.5 * rng.standard_normal((3000, 1))
    rows, label = np.vstack([reference, current]), np.arange(6000) >= 3000
    model = ulsif.fit_ratio(rows, label, seed=0, n_centres=50)
    grid = np.linspace(-1.5, 2.0, 60)[:, None]
    truth = 2.0 * np.exp(-2.0 * (grid[:, 0] - 0.5) ** 2 + grid[:, 0] ** 2 / 2)
    assert np.abs(model(grid) - truth).max() < 0.2 * truth.max()


# ---- the kernel test ----


def test_mmd_against_its_definition():
    rng = np.random.default_rng(0)
    gram = rng.random((9, 9)).astype(np.float32)
    gram = gram + gram.T
    np.fill_diagonal(gram, 0.0)
    label = np.arange(9) < 4
    labellings = np.column_stack([label, rng.permutation(label)])
    expected = []
    for one in labellings.T:
        c, r = np.flatnonzero(one), np.flatnonzero(~one)
        cc = np.mean([gram[i, j] for i in c for j in c if i != j])
        rr = np.mean([gram[i, j] for i in r for j in r if i != j])
        expected.append(cc + rr - 2 * np.mean([gram[i, j] for i in c for j in r]))
    assert np.allclose(kernel_test.mmd_squared(gram, labellings), expected, atol=1e-6)


def test_the_gram_matrix_has_the_median_width():
    rows = np.random.default_rng(0).standard_normal((40, 3))
    distances = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    width = np.median(distances[np.triu_indices(40, 1)])
    expected = np.exp(-(distances**2) / (2 * width**2)) - np.eye(40)
    assert np.allclose(kernel_test.gaussian_gram(rows, np.random.default_rng(0)), expected, atol=1e-6)


# ---- L1 logistic regression ----


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
