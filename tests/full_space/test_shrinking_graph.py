from __future__ import annotations

import numpy as np
import pytest

from shiftscope.full_space import shrinking_graph as living
from shiftscope.full_space.neighbours import neighbours
from shiftscope.full_space.score import score_graph
from shiftscope.full_space.shrinking_graph import ShrinkingGraph


def pool(n_reference=80, n_current=70, seed=0, ties=False):
    points = np.random.default_rng(seed).standard_normal((n_reference + n_current, 2))
    points = np.round(2 * points) if ties else points
    return points, np.arange(len(points)) >= n_reference


def line(reference, current):
    """Graph of points on a line, reference first."""
    points = np.array([*reference, *current], dtype=float)[:, None]
    return ShrinkingGraph(points, np.arange(len(points)) >= len(reference), k_max=3)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("reserve", [1, 32])
def test_after_removals_all_is_as_if_the_dead_had_never_been(monkeypatch, ties, reserve):
    monkeypatch.setattr(living, "MIN_RESERVE", reserve)
    points, is_current = pool(ties=ties)
    graph = ShrinkingGraph(points, is_current, k_max=12)
    rng = np.random.default_rng(1)
    for removals in (1, 10, 40, 60):
        graph.remove(rng.choice(graph.living(), removals, replace=False))
        alive = graph.alive
        fresh = neighbours(points[alive], 12)
        compact = graph.compact()
        np.testing.assert_array_equal(compact.index, fresh.index)
        np.testing.assert_array_equal(compact.tied, fresh.tied)
        expected = score_graph(fresh, is_current[alive])
        found = graph.all_scores()
        np.testing.assert_array_equal(found[alive & ~is_current], expected.reference)
        np.testing.assert_array_equal(found[alive & is_current], expected.current)
        assert not found[~alive].any()
        assert (graph.size(0), graph.size(1)) == (np.sum(alive & ~is_current), np.sum(alive & is_current))


def test_the_graph_of_a_few_survivors_has_shorter_lists():
    points, is_current = pool(15, 15)
    graph = ShrinkingGraph(points, is_current, k_max=20)
    graph.remove(np.arange(4, 26))
    np.testing.assert_array_equal(graph.compact().index, neighbours(points[graph.alive], 7).index)
    assert graph.nulls().current.k_max == 7


def test_scores_of_the_untouched_pool():
    points, is_current = pool(ties=True)
    graph = ShrinkingGraph(points, is_current, k_max=10)
    found, expected = graph.full_scores(), score_graph(neighbours(points, 10), is_current)
    np.testing.assert_array_equal(found.reference, expected.reference)
    np.testing.assert_array_equal(found.current, expected.current)
    np.testing.assert_array_equal(found.scale_current, expected.scale_current)


def test_excess_neighbourhood_ends_before_the_other_sample():
    graph = line(reference=[0.0, 3.5], current=[1.0, 1.4, 2.0, 2.9, 5.0])
    np.testing.assert_array_equal(graph.excess_neighbourhood(2), [2, 3])  # 1.0 and 1.4; then 0.0 and 2.0 tie
    np.testing.assert_array_equal(graph.excess_neighbourhood(4), [4, 3, 5, 2])  # 2.0; 1.4, 2.9, 1.0; then 3.5
    np.testing.assert_array_equal(graph.excess_neighbourhood(5), [5])  # 2.9; then 3.5
    graph.remove(np.array([1, 3]))
    np.testing.assert_array_equal(graph.excess_neighbourhood(4), [4, 5, 2])  # 0.0 at 2.0 is now the first other one


def test_excess_neighbourhood_stops_before_ties_with_the_other_sample_on_either_side():
    atom = [0.0, 0.0, 0.0]
    for graph, point in ((line(atom, [0.0, 1.0]), 0), (line([0.0, 1.0], atom), 2)):
        np.testing.assert_array_equal(graph.excess_neighbourhood(point), [point])


def test_excess_neighbourhood_asks_for_more_when_its_list_runs_out(monkeypatch):
    monkeypatch.setattr(living, "MIN_RESERVE", 1)
    graph = line(reference=[100.0, 101.0], current=np.arange(40) ** 1.1)
    assert graph._lists.index.shape[1] == 4
    np.testing.assert_array_equal(graph.excess_neighbourhood(2), np.arange(2, 42))
    graph.remove(np.array([0, 1]))
    np.testing.assert_array_equal(graph.excess_neighbourhood(2), np.arange(2, 42))  # nobody else is left


def test_exhausted_looks_at_the_smaller_sample():
    graph = line(reference=[0.0, 1.0, 2.0], current=[3.0, 4.0, 5.0, 6.0])
    assert not graph.exhausted(2)
    graph.remove(np.array([0]))
    assert graph.exhausted(2)
