from __future__ import annotations

import threading

import numpy as np
import pytest

from shiftscope.engines.local import LocalEngine
from shiftscope.engines.local_neighbours import GROUP, Layout, choose_layout
from tests.brute_force import LAYOUTS, brute_force, squares_from, tables


def test_one_arrangement_serves_many_searches():
    points = np.random.default_rng(6).standard_normal((500, 3))
    index = LocalEngine(n_threads=1).index(points, 10)
    for k in (1, 10, 60):
        np.testing.assert_array_equal(index.knn(k, np.arange(5)).index, brute_force(points, k, range(5))[0])


def test_an_interrupt_ends_the_search():
    points = np.random.default_rng(8).standard_normal((2000, 3))

    def interrupt(_):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        LocalEngine(2, LAYOUTS[0]).index(points, 5).knn(5, None, interrupt)
    assert threading.active_count() == before


def test_layouts_bound_memory_and_the_time_of_a_group():
    assert choose_layout(100_000, 20, 400) == Layout(1024, GROUP)
    assert choose_layout(100_000, 8, 400).block_size < 1024
    assert choose_layout(100_000, 565, 400).block_size < 1024
    assert choose_layout(100_000, 10**6, 400).block_size > 0
    assert choose_layout(10**6, 12, 10**5).group_size < GROUP
    assert choose_layout(10**6, 5000, 400).group_size < GROUP


@pytest.mark.parametrize("name", ["normal", "one feature", "duplicates", "integer grid", "constant", "far 1e8"])
@pytest.mark.parametrize("k", [1, 30, 100])
def test_rows_from_outside_see_all_points(name, k):
    points, rows = tables()[name][:100], tables()[name][100:150]
    expected, tied = [], []
    for i in range(len(rows)):
        squares = squares_from(np.vstack([points, rows[i]]), 100)[:100]
        order = np.lexsort((np.arange(100), squares))
        expected.append(order[:k])
        tied.append(np.append(squares[order[:-1]] == squares[order[1:]], False)[:k])
    for engine in (LocalEngine(n_threads=2), LocalEngine(layout=LAYOUTS[0])):
        found = engine.index(points, k).nearest(k, rows)
        np.testing.assert_array_equal(found.index, expected)
        np.testing.assert_array_equal(found.tied, tied)
