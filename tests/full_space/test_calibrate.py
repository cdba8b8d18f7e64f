from __future__ import annotations

import numpy as np
import pytest

from shiftscope.full_space import calibrate as stage
from shiftscope.full_space.calibrate import calibrate
from shiftscope.full_space.neighbours import neighbours
from shiftscope.full_space.score import nulls_for, score_graph
from shiftscope.full_space.tail_test import TailTest
from shiftscope.labellings.labellings import random_labels
from tests.labellings.twins import slow_smallest_p_value


def graph_of(n_reference=70, n_current=50, k_max=20, seed=0, ties=False):
    points = np.random.default_rng(seed).standard_normal((n_reference + n_current, 2))
    points = np.round(points) if ties else points
    return neighbours(points, k_max), np.arange(len(points)) >= n_reference


def calibrated(graph, is_current, **options):
    scores = score_graph(graph, is_current)
    options = {"q_tail": 0.9, "n_permutations": 39, "random_state": 5} | options
    return calibrate(graph, is_current, np.concatenate([scores.reference, scores.current]), **options)


# --- permutations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
def test_permuted_statistics_are_those_of_rescoring_each_labelling(ties):
    graph, is_current = graph_of(ties=ties)
    found = calibrated(graph, is_current)
    nulls = nulls_for(70, 50, 20)
    tests = TailTest(nulls.reference, 0.9), TailTest(nulls.current, 0.9)
    labels = random_labels(is_current, range(39), 5)
    assert np.all(labels.sum(axis=0) == 50)
    for permutation, label in enumerate(labels.T.astype(bool)):
        scores = score_graph(graph, label)
        expected = tests[0].compare(scores.reference), tests[1].compare(scores.current)
        np.testing.assert_array_equal(found.permuted_reference[permutation], expected[0].statistics())
        np.testing.assert_array_equal(found.permuted_current[permutation], expected[1].statistics())
    both = np.hstack([found.permuted_reference, found.permuted_current])
    observed = np.array(found.reference.statistics() + found.current.statistics())
    assert found.p_value == pytest.approx(slow_smallest_p_value(observed, both))
    for side, p_value in ((slice(4), found.p_reference), (slice(4, 8), found.p_current)):
        assert p_value == pytest.approx(slow_smallest_p_value(observed[side], both[:, side]))


def test_shape_p_value_counts_labellings_with_as_much_distance_or_excess():
    graph, is_current = graph_of(seed=3)
    found = calibrated(graph, is_current)
    for tail, permuted, current in (
        (found.reference, found.permuted_reference, False),
        (found.current, found.permuted_current, True),
    ):
        as_much = [sum(permuted[:, i] >= tail.statistics()[i]) for i in (0, 1)]
        assert found.shape_p_value(tail, current=current) == (1 + min(as_much)) / 40


def test_batches_threads_and_chunks_do_not_matter(monkeypatch, threads):
    graph, is_current = graph_of()
    whole = calibrated(graph, is_current)
    monkeypatch.setattr(stage, "WALKED_TOGETHER", 5)
    monkeypatch.setattr(stage, "CHUNK_ROWS", 70)
    threads(1)
    parts = calibrated(graph, is_current)
    np.testing.assert_array_equal(whole.permuted_reference, parts.permuted_reference)
    np.testing.assert_array_equal(whole.permuted_current, parts.permuted_current)
    assert whole.p_value == parts.p_value
    fewer = calibrated(graph, is_current, n_permutations=20)
    np.testing.assert_array_equal(whole.permuted_current[:20], fewer.permuted_current)


def test_the_seed_chooses_the_labellings():
    graph, is_current = graph_of()
    same, other = calibrated(graph, is_current), calibrated(graph, is_current, random_state=6)
    np.testing.assert_array_equal(same.permuted_current, calibrated(graph, is_current).permuted_current)
    assert not np.array_equal(same.permuted_current, other.permuted_current)
    assert (same.reference, same.current) == (other.reference, other.current)


def test_progress_ends_at_one():
    graph, is_current = graph_of()
    seen: list[float] = []
    calibrated(graph, is_current, progress=seen.append)
    assert seen[-1] == 1
    assert seen == sorted(seen)
