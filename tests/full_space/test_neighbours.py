from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shiftscope.engines.local import LocalEngine
from shiftscope.engines.local_neighbours import Layout
from shiftscope.errors import InputError, ParameterError
from shiftscope.full_space.neighbours import neighbours, pair_distances
from tests.brute_force import LAYOUTS, brute_force, squares_from, tables


@pytest.mark.parametrize("name", tables())
def test_every_layout_equals_brute_force(name):
    points = tables()[name]
    n = len(points)
    for k in sorted({1, min(7, n - 1), n - 1}):
        index, tied = brute_force(points, k)
        for layout in (*LAYOUTS, None):
            found = neighbours(points, k, engine=LocalEngine(layout=layout))
            np.testing.assert_array_equal(found.index, index)
            np.testing.assert_array_equal(found.tied, tied)
            assert found.index.dtype == np.int32
            assert found.tied.dtype == np.bool_


def test_full_size_blocks_equal_brute_force():
    rng = np.random.default_rng(2)
    points = rng.standard_normal((5000, 6))
    points[1000:1500] = points[:500]
    queries = rng.choice(5000, 50, replace=False)
    index, tied = brute_force(points, 700, queries)
    for layout in (Layout(256, 64), Layout(2048, 512)):
        found = neighbours(points, 700, queries=queries, engine=LocalEngine(layout=layout))
        np.testing.assert_array_equal(found.index, index)
        np.testing.assert_array_equal(found.tied, tied)


def test_queries_come_back_in_the_order_given():
    points = np.random.default_rng(3).standard_normal((200, 4))
    queries = np.array([150, 3, 3, 77])
    everything = neighbours(points, 9)
    found = neighbours(points, 9, queries=queries)
    np.testing.assert_array_equal(found.index, everything.index[queries])
    np.testing.assert_array_equal(found.tied, everything.tied[queries])
    assert neighbours(points, 9, queries=np.array([], dtype=int)).index.shape == (0, 9)


@pytest.mark.parametrize("shape", ["grid", "normal"])
def test_threads_blocks_and_groups_do_not_matter(shape):
    rng = np.random.default_rng(4)
    points = rng.integers(0, 5, (700, 4)).astype(float) if shape == "grid" else rng.standard_normal((700, 12))
    reference = neighbours(points, 30, engine=LocalEngine(n_threads=1))
    for threads, block, group in ((1, 32, 1), (2, 48, 17), (4, 1000, 1000)):
        found = neighbours(points, 30, engine=LocalEngine(threads, Layout(block, group)))
        np.testing.assert_array_equal(found.index, reference.index)
        np.testing.assert_array_equal(found.tied, reference.tied)


@settings(max_examples=40, deadline=None)
@given(
    points=arrays(np.float64, st.tuples(st.integers(2, 40), st.integers(1, 4)), elements=st.integers(-3, 3)),
    seed=st.integers(0, 2**32 - 1),
)
def test_permuting_rows_permutes_distances_and_ties(points, seed):
    n = len(points)
    k = n - 1
    shuffle = np.random.default_rng(seed).permutation(n)
    direct = neighbours(points, k, engine=LocalEngine(layout=LAYOUTS[0]))
    shuffled = neighbours(points[shuffle], k, engine=LocalEngine(layout=LAYOUTS[0]))
    np.testing.assert_array_equal(
        pair_distances(points[shuffle], shuffled.index), pair_distances(points, direct.index)[shuffle]
    )
    np.testing.assert_array_equal(shuffled.tied, direct.tied[shuffle])


def test_huge_groups_of_identical_rows_stay_fast():
    n, k = 200_000, 50
    found = neighbours(np.zeros((n, 3)), k)
    expected = np.tile(np.arange(k), (n, 1))
    for i in range(k):
        expected[i] = np.delete(np.arange(k + 1), i)
    np.testing.assert_array_equal(found.index, expected)
    assert found.tied.all()


def test_pair_distances_order_the_neighbours():
    points = np.random.default_rng(5).standard_normal((100, 3)) + 1e4
    queries = np.array([4, 90])
    found = neighbours(points, 99, queries=queries)
    distances = pair_distances(points, found.index, queries)
    for row, query, listed in zip(distances, queries, found.index, strict=True):
        np.testing.assert_array_equal(row, np.sqrt(squares_from(points, query))[listed])
        assert (np.diff(row) >= 0).all()
    back = pair_distances(points, np.array([[4]]), np.array([90]))
    assert back[0, 0] == distances[0, list(found.index[0]).index(90)]


def test_progress_rises_to_one():
    seen = []
    points = np.random.default_rng(7).standard_normal((300, 3))
    neighbours(points, 5, engine=LocalEngine(2, LAYOUTS[0]), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[0] >= 0
    assert seen[-1] == 1.0


@pytest.mark.parametrize("kind", ["plain", "misleading", "duplicates"])
def test_a_sample_that_misleads_costs_nothing_but_time(kind, monkeypatch):
    rng = np.random.default_rng(9)
    points = rng.standard_normal((3000, 4))
    if kind == "duplicates":
        points[:1500] = points[0]
    if kind == "misleading":
        monkeypatch.setattr("shiftscope.engines.local_neighbours.SAMPLE_DEVIATIONS", -3.0)
    queries = rng.choice(3000, 100, replace=False)
    for k in (60, 400, 2900):
        index, tied = brute_force(points, k, queries)
        found = neighbours(points, k, queries=queries)
        np.testing.assert_array_equal(found.index, index)
        np.testing.assert_array_equal(found.tied, tied)


@pytest.mark.parametrize(
    ("points", "k", "queries", "error", "message"),
    [
        (np.zeros(5), 1, None, InputError, "points must be a table"),
        (np.zeros((5, 0)), 1, None, InputError, "at least one column"),
        (np.array([[0.0], [np.nan]]), 1, None, InputError, "points must be finite"),
        (np.zeros((1, 2)), 1, None, InputError, "at least 2 points, found 1"),
        (np.zeros((5, 2)), 5, None, ParameterError, "k must lie between 1 and n - 1 = 4, found 5"),
        (np.zeros((5, 2)), 0, None, ParameterError, "found 0"),
        (np.zeros((5, 2)), 2.0, None, ParameterError, "k must be an integer, found 2.0"),
        (np.zeros((5, 2)), 2, np.array([5]), ParameterError, "queries must lie between 0 and n - 1 = 4"),
        (np.zeros((5, 2)), 2, np.array([0.5]), ParameterError, "queries must be a vector of row positions"),
    ],
)
def test_bad_input_is_named(points, k, queries, error, message):
    with pytest.raises(error, match=message):
        neighbours(points, k, queries=queries)
