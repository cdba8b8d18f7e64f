from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from shiftscope.modes.refine import prune_around, pruned_positions, refine, same_mode, settle
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams
from shiftscope.progress import silent
from tests.pairs import job_on


def job(points, is_current, *, progress=silent, **settings):
    params = CompareParams(equalise=EqualiseParams(k_max=60), localise=LocaliseParams(epochs=60), **settings)
    return job_on(points, is_current, params, progress=progress)


def planted(*clusters, n=600, d=5, seed=0):
    """Pool of two normal samples; each cluster (is_current, features, place, size) is added at its end."""
    rng = np.random.default_rng(seed)
    points, is_current, rows = [rng.standard_normal((2 * n, d))], [np.arange(2 * n) >= n], []
    start = 2 * n
    for side, features, place, size in clusters:
        cluster = rng.standard_normal((size, d))
        cluster[:, features] = place + 0.05 * rng.standard_normal((size, len(features)))
        points.append(cluster)
        is_current.append(np.full(size, side))
        rows.append(np.arange(start, start + size))
        start += size
    order = np.argsort(np.concatenate(is_current), kind="stable")  # as the pool has them: reference rows first
    place = np.argsort(order)
    return np.vstack(points)[order], np.concatenate(is_current)[order], [place[own] for own in rows]


def anchors(rows, is_current, rng):
    """Half of the true rows, and as many wrong ones of the same sample."""
    own = np.flatnonzero(is_current == is_current[rows[0]])
    wrong = rng.choice(np.setdiff1d(own, rows), rows.size // 2, replace=False)
    return np.concatenate([rng.choice(rows, rows.size // 2, replace=False), wrong])


@pytest.mark.parametrize("side", [False, True])
def test_noisy_anchors_settle_in_the_true_subspace(side):
    points, is_current, (rows,) = planted((side, [1, 3], 0.8, 80))
    start = anchors(rows, is_current, np.random.default_rng(1))
    mode = settle(job(points, is_current, max_iterations=4), start, 0.005)
    assert mode is not None
    assert mode.settled
    assert set(mode.features) == {1, 3}
    assert mode.is_current == side
    assert np.all(is_current[mode.rows] == side)
    assert np.mean(np.isin(mode.rows, rows)) > 0.8
    assert np.mean(np.isin(rows, mode.rows)) > 0.7


def test_one_iteration_cannot_confirm_itself():
    points, is_current, (rows,) = planted((True, [1, 3], 0.8, 80))
    mode = settle(job(points, is_current, max_iterations=1), rows, 0.005)
    assert mode is not None
    assert not mode.settled


def test_rows_without_excess_dissolve():
    points, is_current, _ = planted(seed=1)
    start = np.flatnonzero(is_current)[:60]
    assert settle(job(points, is_current, max_iterations=2), start, 0.005) is None


def test_pruning_around_a_mode_takes_its_excess_and_stops():
    points, is_current, (rows,) = planted((True, [1, 3], 0.8, 80))
    task, subspace = job(points, is_current), np.ascontiguousarray(points[:, [1, 3]])
    pruned = prune_around(task, subspace, is_current, rows[:20])
    assert np.all(is_current[pruned])
    assert np.mean(np.isin(pruned, rows)) > 0.85
    assert np.mean(np.isin(rows, pruned)) > 0.7
    survivors = np.setdiff1d(np.arange(len(points)), pruned)
    some = np.flatnonzero(is_current[survivors])[:50]
    again = prune_around(task, subspace[survivors], is_current[survivors], some)
    assert again.size <= 5


def test_each_cluster_of_pruned_rows_is_followed():
    points, is_current, (left, right) = planted((False, [0, 2], -0.8, 80), (True, [1, 3], 0.8, 90))
    seen: list[tuple[str, float]] = []
    task = job(
        points,
        is_current,
        max_iterations=3,
        max_modes=3,
        progress=lambda stage, fraction: seen.append((stage, fraction)),
    )
    modes = tuple(refine(task, np.concatenate([left, right]), (0.02, 0.01)))
    assert {(mode.is_current, frozenset(mode.features), mode.p_value) for mode in modes} == {
        (False, frozenset({0, 2}), 0.02),
        (True, frozenset({1, 3}), 0.01),
    }
    assert seen[-1] == ("refine", 1)


def test_a_handful_of_rows_is_no_mode():
    points, is_current, (rows,) = planted((True, [1, 3], 0.8, 80))
    found = refine(job(points, is_current, max_iterations=2), rows[:9], (0.01, 0.01))
    assert tuple(found) == ()


def test_pruned_positions_count_from_the_pool():
    is_current = np.array([False, True, False, True, True])
    done = SimpleNamespace(removed_reference=np.array([1]), removed_current=np.array([2, 0]))
    np.testing.assert_array_equal(pruned_positions(done, is_current), [2, 4, 1])


@pytest.mark.parametrize(
    ("side", "features", "rows", "same"),
    [
        (True, (4, 1), range(10), True),
        (True, (1, 2), range(5, 30), True),
        (False, (1, 2), range(10), False),
        (True, (5, 6), range(10), False),
        (True, (1, 2), range(6, 30), False),
    ],
)
def test_same_mode_needs_side_feature_and_half_of_the_smaller_rows(side, features, rows, same):
    one = SimpleNamespace(is_current=True, features=(1, 2), rows=np.arange(10))
    other = SimpleNamespace(is_current=side, features=features, rows=np.array(rows))
    assert same_mode(one, other, 0.5) == same_mode(other, one, 0.5) == same
