from __future__ import annotations

import numpy as np
import pytest

from experiments.benchmark20d import global_pair, local_pair
from shiftscope.errors import InputError, ParameterError
from shiftscope.modes.localise import batch_neighbours, localise, soft_enrichment
from shiftscope.params import LocaliseParams

QUICK = LocaliseParams(epochs=40)


def planted(n=1500, d=6, support=(1, 4), injected=150, seed=0):
    """A standard normal pool, half of it targets, with a compact cluster of targets in `support`."""
    rng = np.random.default_rng(seed)
    pool = rng.standard_normal((n + injected, d))
    target = np.arange(n + injected) % 2 == 0
    target[n:] = True
    pool[n:, list(support)] = 1.0 + 0.1 * rng.standard_normal((injected, len(support)))
    return pool, target, np.arange(n + injected) >= n


def standardised(pair):
    pool = np.vstack([pair.reference, pair.current])
    pool = (pool - pool.mean(axis=0)) / pool.std(axis=0)
    target = np.arange(len(pool)) >= len(pair.reference)
    return pool, target, np.append(np.zeros(len(pair.reference), bool), pair.shifted)


def some(mask, size, rng):
    """`size` random rows of `mask`, as a mask."""
    chosen = np.zeros(len(mask), bool)
    chosen[rng.choice(np.flatnonzero(mask), size, replace=False)] = True
    return chosen


# --- the objective and its gradient ---------------------------------------------------------------------


def evaluate(rows, target, offset, weights, n_queries, sharpness, k):
    chosen, distance = batch_neighbours(rows, weights, n_queries, k)
    return soft_enrichment(rows, target, offset, weights, chosen, distance, sharpness)


def slow_enrichment(rows, target, offset, weights, n_queries, sharpness, k):
    """The mean soft target mass, written out (Supp. S3-S4)."""
    masses = []
    for i in range(n_queries):
        distance = {j: np.sum((weights * rows[i] - weights * rows[j]) ** 2) for j in range(len(rows)) if j != i}
        kept = sorted(distance, key=distance.get)[:k]
        shares = np.exp([offset[j] - sharpness[i, 0] * distance[j] for j in kept])
        masses.append(np.sum(shares * target[kept]) / np.sum(shares))
    return np.mean(masses)


def random_batch(seed, b=60, d=7, n_queries=12):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((b, d))
    target = rng.random(b) < 0.4
    offset = np.where(np.arange(b) < n_queries, 0.3, 2.0)
    weights = rng.uniform(0.2, 2.0, d)
    return rows, target, offset, weights, n_queries, rng.uniform(0.05, 0.5, (n_queries, 1))


@pytest.mark.parametrize("k", [1, 10, 59, 500])
def test_objective_equals_the_slow_twin(k):
    batch = random_batch(seed=k)
    assert evaluate(*batch, k)[0] == pytest.approx(slow_enrichment(*batch, k), rel=1e-12)


@pytest.mark.parametrize("k", [10, 25, 500])
def test_gradient_equals_finite_differences(k):
    rows, target, offset, weights, n_queries, sharpness = random_batch(seed=3)
    _, gradient = evaluate(rows, target, offset, weights, n_queries, sharpness, k)
    step = 1e-5
    numeric = np.empty_like(weights)
    for f in range(weights.size):
        ends = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[f] += sign * step
            ends.append(evaluate(rows, target, offset, moved, n_queries, sharpness, k)[0])
        numeric[f] = (ends[0] - ends[1]) / (2 * step)
    assert np.abs(gradient).max() > 1e-3
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6 * np.abs(numeric).max())


def test_negligible_weights_change_the_objective_by_nothing_that_matters():
    rows, target, offset, weights, n_queries, sharpness = random_batch(seed=6)
    weights[2] = 0.9e-3 * np.linalg.norm(weights)
    fast, gradient = evaluate(rows, target, offset, weights, n_queries, sharpness, 10)
    slow = slow_enrichment(rows, target, offset, weights, n_queries, sharpness, 10)
    assert fast == pytest.approx(slow, abs=1e-4)
    assert gradient[2] != 0


# --- the whole stage ------------------------------------------------------------------------------------


def test_a_planted_subspace_is_found_exactly():
    pool, target, query = planted()
    found = localise(pool, target, query)
    assert sorted(found.features) == [1, 4]
    assert found.weights.sum() == pytest.approx(6)
    assert found.weights[[1, 4]].min() > 2
    assert found.objective.shape == (1000,)
    assert found.features == tuple(np.argsort(-found.weights)[:2])


@pytest.mark.slow
@pytest.mark.parametrize(("injected", "noise", "seed"), [(100, 85, 0), (80, 290, 1)])
def test_noisy_anchors_of_the_local_benchmark_give_the_true_support(injected, noise, seed):
    pair = local_pair(300, seed=seed, n=20_000)
    pool, target, shifted = standardised(pair)
    rng = np.random.default_rng(seed)
    query = some(shifted, injected, rng) | some(target & ~shifted, noise, rng)
    found = localise(pool, target, query, random_state=seed)
    assert sorted(found.features) == list(pair.support)
    idle = np.setdiff1d(np.arange(20), pair.support)
    assert found.weights[list(pair.support)].min() > found.weights[idle].max()


@pytest.mark.slow
def test_the_literal_form_saturates_and_keeps_nearly_all_features_of_such_anchors():
    pool, target, shifted = standardised(local_pair(300, seed=0, n=20_000))
    rng = np.random.default_rng(0)
    query = some(shifted, 100, rng) | some(target & ~shifted, 85, rng)
    found = localise(pool, target, query, batch="paper")
    assert found.objective.shape == (3000,)
    assert found.objective[:20].mean() > 0.8
    assert len(found.features) > 10


@pytest.mark.slow
def test_a_global_shift_gives_the_displaced_coordinates():
    pair = global_pair(0.5, seed=0, n=20_000)
    pool, target, shifted = standardised(pair)
    query = some(shifted, 400, np.random.default_rng(0))
    assert sorted(localise(pool, target, query).features) == list(pair.support)


@pytest.mark.slow
def test_random_queries_of_a_null_pair_are_not_enriched():
    pool, target, _ = standardised(local_pair(0, seed=0, n=5_000))
    query = some(target, 200, np.random.default_rng(0))
    curve = localise(pool, target, query, LocaliseParams(epochs=300)).curve
    # 200 queries with 100 neighbours each, were all of them independent: 0.0035; overlaps widen it.
    assert np.abs(curve.purity - target.mean()).max() < 0.03


# --- invariances ----------------------------------------------------------------------------------------


def test_the_seed_decides():
    pool, target, query = planted()
    one, same, other = (localise(pool, target, query, QUICK, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.weights, same.weights)
    np.testing.assert_array_equal(one.curve.score, same.curve.score)
    assert not np.array_equal(one.weights, other.weights)


def test_the_number_of_threads_changes_nothing(threads):
    pool, target, query = planted()
    threads(1)
    one = localise(pool, target, query, QUICK)
    threads(2)
    two = localise(pool, target, query, QUICK)
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.curve.score, two.curve.score)


def test_permuting_features_permutes_weights():
    pool, target, query = planted()
    order = np.array([3, 5, 0, 1, 4, 2])
    weights = localise(pool, target, query, QUICK).weights
    permuted = localise(pool[:, order], target, query, QUICK).weights
    np.testing.assert_allclose(permuted, weights[order], rtol=1e-3)


def test_moving_the_origin_changes_nothing():
    pool, target, query = planted()
    moved = localise(pool + 1e4, target, query, QUICK)
    np.testing.assert_allclose(moved.weights, localise(pool, target, query, QUICK).weights, rtol=1e-3)


def test_duplicated_rows_are_neighbours_like_any_other():
    pool, target, query = planted(n=400, injected=60)
    twice = localise(np.repeat(pool, 2, axis=0), np.repeat(target, 2), np.repeat(query, 2))
    assert sorted(twice.features) == [1, 4]


@pytest.mark.parametrize("batch", ["corrected", "paper"])
def test_small_and_odd_shapes(batch):
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((12, 1))
    target = np.arange(12) < 6
    found = localise(pool, target, batch=batch, params=LocaliseParams(epochs=5))
    assert found.features == (0,)
    assert found.weights == pytest.approx([1.0])
    everyone = localise(pool, target, np.ones(12, bool), LocaliseParams(epochs=5), batch=batch)
    assert everyone.features == (0,)


def test_targets_are_the_default_queries():
    pool, target, _ = planted(n=300, injected=40)
    implicit, explicit = localise(pool, target, params=QUICK), localise(pool, target, target, QUICK)
    np.testing.assert_array_equal(implicit.weights, explicit.weights)


def test_one_weight_per_group_of_columns():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(300, 4))
    target = np.arange(300) >= 150
    pool[target, 1:3] += 2.0
    params = LocaliseParams(epochs=20, k=20)
    plain = localise(pool, target, params=params)
    single = localise(pool, target, params=params, groups=((0,), (1,), (2,), (3,)))
    np.testing.assert_array_equal(plain.weights, single.weights)
    grouped = localise(pool, target, params=params, groups=((0,), (1, 2), (3,)))
    assert grouped.weights.shape == (3,)
    assert grouped.features[0] == 1
    assert set(grouped.curve.sizes) == {1, 2, 3}


# --- errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups", [(), ((0, 2),), ((0,), (1,), (1, 2)), ((0,), (), (1, 2)), 3, ("a", "b"), np.float32(1)]
)
def test_groups_name_every_column_once(groups):
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match=r"^groups must name each of the 3 columns of pool once"):
        localise(rng.standard_normal((40, 3)), np.arange(40) >= 20, groups=groups)


def test_all_faults_of_the_parameters_are_reported_together():
    with pytest.raises(ParameterError) as fault:
        LocaliseParams(k=0, tau_end=2.0, folds=1, batch="other")
    message = str(fault.value)
    assert "\n" not in message
    for part in ("k must be a whole number of at least 1 (got 0)", "tau_end", "folds", "'other'"):
        assert part in message


POOL = np.zeros((4, 2))
HALF = np.array([True, True, False, False])


@pytest.mark.parametrize(
    ("pool", "target", "query", "message"),
    [
        (np.zeros(4), HALF, None, "pool must be a matrix"),
        (np.zeros((0, 2)), np.zeros(0, bool), None, "pool must be a matrix"),
        ([["a", "b"]] * 4, HALF, None, "pool must be numeric"),
        (np.where(np.eye(4, 2, dtype=bool), np.nan, 0), HALF, None, "row 0, column 0"),
        (POOL, HALF[:3], None, r"target must be a boolean mask of shape \(4,\)"),
        (POOL, HALF.astype(int), None, "target must be a boolean mask"),
        (POOL, HALF, [0, 1], "query must be a boolean mask"),
        (POOL, np.ones(4, bool), None, "target must mark some rows but not all"),
        (POOL, HALF, np.arange(4) == 0, "query must mark at least 2 rows"),
    ],
)
def test_bad_input_is_named_in_one_line(pool, target, query, message):
    with pytest.raises(InputError, match=message) as fault:
        localise(pool, target, query)
    assert "\n" not in str(fault.value)
