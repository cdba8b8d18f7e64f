"""Modes of the full space: what stands alone beside another mode, what is left, and what is not touched."""

from __future__ import annotations

from itertools import combinations
from math import comb, exp, log

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.stats import binom

from shiftscope.full_space.search import calibrated, full_space_graph
from shiftscope.modes.excess import excess_mass
from shiftscope.modes.from_full_space import full_space_modes, stands_alone
from shiftscope.modes.mode import Settled
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams
from tests.pairs import job_on

N = 500  # rows of either sample
IS_CURRENT = np.arange(2 * N) >= N
SEEDS = 60
LEVEL = 0.1


def job(points, alpha=LEVEL, **settings):
    """A comparison without the scan, which is held against alpha itself."""
    return job_on(points, IS_CURRENT, CompareParams(alpha=alpha, scan=None, **settings))


def mode(features, rows):
    return Settled(bool(IS_CURRENT[rows[0]]), features, rows, True, None, 0.01, "full space")


def noise(seed, d=4):
    return np.random.default_rng(seed).standard_normal((2 * N, d))


def planted(seed, size, features=(1, 3), d=4, first=N):
    """A compact group in some features, of the sample that row `first` belongs to."""
    points, rows = noise(seed, d), np.arange(first, first + size)
    group = np.random.default_rng([seed, 1]).standard_normal((size, len(features)))
    points[np.ix_(rows, features)] = 0.9 + 0.1 * group
    return points, mode(features, rows)


def densest(points, held=40):
    """Of all pairs of features and all current rows: where most of the nearest rows are current by chance."""
    best = (0.0, (0, 1), np.empty(0, np.intp))
    for features in combinations(range(points.shape[1]), 2):
        columns = points[:, features]
        _, near = cKDTree(columns).query(columns[N:], k=held)
        share = IS_CURRENT[near].mean(axis=1)
        at = int(np.argmax(share))
        best = max(best, (share[at], features, near[at][IS_CURRENT[near[at]]]), key=lambda found: found[0])
    return mode(best[1], np.sort(best[2]))


def evidence(task, found):
    """Half the deviance in the core of a mode, where its rows are counted that did not draw the region."""
    columns = np.ascontiguousarray(task.points[:, list(found.features)])
    params = task.params.modes
    return excess_mass(columns, task.is_current, found.rows, params, reach=params.core_share).evidence


# --- stands_alone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, N], ids=["reference", "current"])
def test_a_compact_group_stands_alone(first):
    for seed in range(10):
        points, group = planted(seed, 60, first=first)
        assert stands_alone(job(points, alpha=0.01), group)


def test_rows_that_chance_made_dense_stand_alone_at_the_level_stated():
    """The densest place of either sample anywhere; held against the level alone, it would stand far too often."""
    tasks = [job(noise(seed)) for seed in range(SEEDS)]
    chance = [densest(task.points) for task in tasks]
    alone = sum(stands_alone(task, found) for task, found in zip(tasks, chance, strict=True))
    naive = sum(evidence(task, found) > log(1 / LEVEL) for task, found in zip(tasks, chance, strict=True))
    most = binom.ppf(0.999, SEEDS, LEVEL)
    assert alone <= most < naive


def test_rows_drawn_at_random_do_not_stand_alone():
    rng = np.random.default_rng(0)
    task = job(noise(0))
    found = [mode((0, 2), np.sort(rng.choice(N, 60, replace=False)) + side) for side in (0, N) for _ in range(20)]
    assert sum(stands_alone(task, one) for one in found) <= binom.ppf(0.999, len(found), LEVEL)


def test_a_group_in_one_pair_of_features_does_not_stand_alone_in_another():
    points, group = planted(0, 60)
    assert not stands_alone(job(points), mode((0, 2), group.rows))


def test_rows_that_the_other_sample_has_in_excess_do_not_stand_alone():
    """Reference rows in the midst of a group of the current sample: there is evidence, but of the other side."""
    points, group = planted(0, 100)
    points[:20, group.features] = points[group.rows[:20]][:, group.features] + 0.01
    assert stands_alone(job(points), group)
    assert not stands_alone(job(points), mode(group.features, np.arange(20)))


@pytest.mark.parametrize(("size", "features"), [(26, (1, 3)), (30, (0, 1, 3))])
def test_the_price_is_a_region_around_each_row_in_each_choice_of_as_many_features(size, features):
    points, group = planted(3, size, features)
    regions = 2 * N * comb(4, len(features))
    just = regions * exp(-evidence(job(points), group))
    assert 1e-6 < just < 0.4
    assert stands_alone(job(points, alpha=1.01 * just), group)
    assert not stands_alone(job(points, alpha=0.99 * just), group)
    # Twice as many columns, which hold nothing: the same evidence has more regions to stand out from.
    wide = np.hstack([points, noise(9)])
    more = comb(8, len(features)) / comb(4, len(features))
    assert not stands_alone(job(wide, alpha=1.01 * just), group)
    assert stands_alone(job(wide, alpha=1.01 * more * just), group)


# --- full_space_modes -------------------------------------------------------------------------------------


def searched(points, rows):
    """The search of the full space, of all rows or of some of them; its calibration."""
    task = job(
        points,
        alpha=0.05,
        n_permutations=99,
        max_iterations=2,
        full_space_rows=rows,
        equalise=EqualiseParams(k_max=40, n_permutations=99),
        localise=LocaliseParams(epochs=60),
    )
    graph = full_space_graph(task)
    return task, graph, calibrated(task, graph, 99)


def state(graph):
    """All that can change in a graph, copied."""
    return [part.copy() for part in (graph.alive, graph._lists.index, graph._lists.tied, graph._base, graph.rows)]


def two_groups():
    """100 current rows in features 1 and 3, 100 reference rows in features 0 and 2."""
    points, group = planted(5, 100)
    other = np.arange(100)
    points[np.ix_(other, [0, 2])] = -0.9 + 0.1 * np.random.default_rng(6).standard_normal((100, 2))
    return points, group, mode((0, 2), other)


@pytest.mark.parametrize("rows", [2 * N, 600], ids=["all rows", "some rows"])
def test_modes_are_found_and_what_is_kept_is_in_none_of_them(rows):
    points, current, reference = two_groups()
    task, graph, calibration = searched(points, rows)
    before = state(graph)
    found = full_space_modes(task, graph, calibration, ())
    assert len(before[4]) == rows
    for one, other in zip(before, state(graph), strict=True):
        np.testing.assert_array_equal(one, other)
    assert {(one.is_current, frozenset(one.features)) for one in found.modes} == {
        (True, frozenset({1, 3})),
        (False, frozenset({0, 2})),
    }
    for one in found.modes:
        own = (current if one.is_current else reference).rows
        assert np.mean(np.isin(one.rows, own)) > 0.7
        assert np.intersect1d(found.kept, one.all_rows).size == 0
    np.testing.assert_array_equal(found.kept, np.unique(found.kept))
    assert 0 <= found.kept[0] <= found.kept[-1] < 2 * N
    injected = np.append(current.rows, reference.rows)
    assert np.isin(injected, found.kept).mean() < 0.3
    assert np.isin(np.setdiff1d(np.arange(2 * N), injected), found.kept).mean() > 0.85
    assert found.equalisation.trace


@pytest.mark.parametrize("rows", [2 * N, 600], ids=["all rows", "some rows"])
def test_beyond_known_modes_that_explain_it_all_nothing_is_told(rows):
    points, current, reference = two_groups()
    task, graph, calibration = searched(points, rows)
    found = full_space_modes(task, graph, calibration, (current, reference))
    assert found.modes == ()
    assert np.intersect1d(found.kept, np.append(current.rows, reference.rows)).size == 0
    assert found.kept.size > 0.9 * (2 * N - 200)
    assert graph.alive.all()


def test_beside_a_known_mode_the_other_one_is_told():
    points, current, reference = two_groups()
    task, graph, calibration = searched(points, 2 * N)
    found = full_space_modes(task, graph, calibration, (current,))
    assert [(one.is_current, frozenset(one.features)) for one in found.modes] == [(False, frozenset({0, 2}))]
    assert np.intersect1d(found.kept, np.append(current.rows, found.modes[0].rows)).size == 0
    assert np.isin(reference.rows, found.kept).mean() < 0.4


def test_known_modes_that_take_a_whole_sample_leave_nothing_to_equalise():
    task, graph, calibration = searched(noise(7), 2 * N)
    everyone = mode((0,), np.arange(N, 2 * N - 2))
    found = full_space_modes(task, graph, calibration, (everyone,))
    assert found.equalisation is None
    assert found.modes == ()
    np.testing.assert_array_equal(found.kept, np.append(np.arange(N), [2 * N - 2, 2 * N - 1]))
    assert graph.alive.all()


def test_samples_that_agree_have_no_modes():
    """Negative control: at its level the null pair is not looked into, whatever equalisation prunes."""
    task, graph, calibration = searched(noise(11), 2 * N)
    assert calibration.p_value > task.level
    found = full_space_modes(task, graph, calibration, ())
    assert found.modes == ()
    assert found.kept.size == 2 * N - sum(step.rows.size for step in found.equalisation.trace)
