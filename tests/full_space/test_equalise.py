from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shiftscope.errors import ParameterError
from shiftscope.full_space import shrinking_graph as living
from shiftscope.full_space.equalise import MIN_SAMPLE, equalise, equalise_graph
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.params import EqualiseParams

QUICK = EqualiseParams(n_permutations=99)
K_MAX = 40


def planted(in_current=0, in_reference=0, n=400, d=2, seed=0):
    """Normal samples; each may hold a compact cluster of its own after its first `n` rows."""
    rng = np.random.default_rng(seed)
    reference, current = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    at_right = 1 + 0.05 * rng.standard_normal((in_current, d))
    at_left = -1 + 0.05 * rng.standard_normal((in_reference, d))
    return np.vstack([reference, at_left]), np.vstack([current, at_right])


def check_book(result, reference, current):
    """Kept and removed rows are all rows, each once, and the trace adds up to the removed ones."""
    for rows, kept, removed, side in (
        (reference, result.kept_reference, result.removed_reference, "reference"),
        (current, result.kept_current, result.removed_current, "current"),
    ):
        np.testing.assert_array_equal(np.sort(np.concatenate([kept, removed])), np.arange(len(rows)))
        steps = [step for step in result.trace if step.side == side]
        np.testing.assert_array_equal(np.concatenate([[], *(step.rows for step in steps)]), removed)
        assert all(step.point == step.rows[0] for step in steps)
        assert kept.size >= MIN_SAMPLE
    assert [step.round for step in result.trace] == sorted(step.round for step in result.trace)


VARIANTS = {
    "calibrated": QUICK,
    "formula": replace(QUICK, threshold="formula"),
    "simulated": replace(QUICK, threshold="formula", null="simulated"),
    "simulated and calibrated": replace(QUICK, null="simulated"),
    "several at once": replace(QUICK, step=5),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_injected_cluster_is_what_gets_removed(variant):
    reference, current = planted(in_current=60)
    result = equalise(reference, current, K_MAX, params=VARIANTS[variant])
    check_book(result, reference, current)
    assert result.converged
    assert 40 <= result.removed_current.size <= 90
    assert np.mean(result.removed_current >= 400) > 0.75
    assert result.removed_reference.size <= 15
    assert result.before[1].p_value <= QUICK.alpha < min(state.p_value for state in result.after)


def test_both_sides_at_once():
    reference, current = planted(in_current=60, in_reference=60)
    result = equalise(reference, current, K_MAX, params=QUICK)
    check_book(result, reference, current)
    assert np.mean(result.removed_current >= 400) > 0.75
    assert np.mean(result.removed_reference >= 400) > 0.75
    assert {step.side for step in result.trace} == {"reference", "current"}


def test_equal_samples_lose_little():
    removed = 0
    for seed in range(4):
        reference, current = planted(seed=seed, n=250)
        result = equalise(reference, current, K_MAX, params=QUICK)
        check_book(result, reference, current)
        removed += result.removed_reference.size + result.removed_current.size
    assert removed <= 0.03 * 4 * 500


def test_the_same_sample_twice_loses_nothing():
    rows = np.random.default_rng(0).standard_normal((200, 2))
    result = equalise(rows, rows, K_MAX, params=QUICK)
    assert result.trace == ()
    assert result.removed_current.size == result.removed_reference.size == 0
    assert result.rounds == 1


def test_separated_samples_are_pruned_but_never_emptied():
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((60, 2)), 50 + rng.standard_normal((80, 2))
    result = equalise(reference, current, K_MAX, params=QUICK)
    check_book(result, reference, current)
    assert result.kept_reference.size == result.kept_current.size == MIN_SAMPLE


def test_an_atom_in_both_samples_is_thinned_on_the_side_with_more():
    """60 rows at one place against 10: about 50 are in excess, whichever sample holds them."""
    rng = np.random.default_rng(0)
    many = np.vstack([np.zeros((60, 2)), rng.standard_normal((300, 2))])
    few = np.vstack([np.zeros((10, 2)), rng.standard_normal((350, 2))])
    one, other = equalise(many, few, 100, params=QUICK), equalise(few, many, 100, params=QUICK)
    np.testing.assert_array_equal(one.removed_reference, other.removed_current)
    assert 30 <= np.sum(one.removed_reference < 60) <= 55
    assert one.removed_current.size <= 5


def test_lists_that_run_out_change_nothing(monkeypatch):
    reference, current = planted(in_current=60, n=250)
    roomy = equalise(reference, current, K_MAX, params=QUICK)
    monkeypatch.setattr(living, "MIN_RESERVE", 1)
    monkeypatch.setattr(living, "RESERVE", 1000)
    tight = equalise(reference, current, K_MAX, params=QUICK)
    np.testing.assert_array_equal(roomy.removed_current, tight.removed_current)
    np.testing.assert_array_equal(roomy.removed_reference, tight.removed_reference)


def test_the_trace_tells_the_state_before_each_step():
    reference, current = planted(in_current=60)
    graph = ShrinkingGraph(np.vstack([reference, current]), np.arange(860) >= 400, K_MAX)
    seen: list[float] = []
    result = equalise_graph(graph, QUICK, progress=seen.append)
    assert seen == sorted(seen)
    assert 0 < seen[0] < 1
    assert seen[-1] == 1
    first = result.trace[0]
    assert first.before == result.before[first.side == "current"]
    assert all(step.before.p_value <= QUICK.alpha for step in result.trace)
    tails = [step.before.tail.count for step in result.trace if step.side == "current" and step.round == 1]
    assert tails == sorted(tails, reverse=True)
    assert result.rounds == result.trace[-1].round + 1


def test_the_last_round_is_followed_by_a_look_at_what_it_left():
    reference, current = planted(in_current=60)
    points, is_current = np.vstack([reference, current]), np.arange(860) >= 400
    graph = ShrinkingGraph(points, is_current, K_MAX)
    one = equalise_graph(graph, replace(QUICK, max_rounds=1))
    assert {step.round for step in one.trace} == {1}
    assert one.rounds == 2
    left = np.concatenate([one.kept_reference, 400 + one.kept_current])
    fresh = equalise_graph(ShrinkingGraph(points[left], is_current[left], K_MAX), QUICK)
    assert one.after == fresh.before
    assert one.converged == (not fresh.trace)


def test_a_level_beyond_the_permutations_is_refused_unless_the_formula_judges():
    with pytest.raises(ParameterError, match=r"n_permutations = 199 can never .* alpha = 0\.001 .* at least 1000 "):
        EqualiseParams(alpha=0.001)
    assert EqualiseParams(alpha=0.001, threshold="formula").alpha == 0.001


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k_max": 0}, "k_max must be a whole number of at least 1, got 0"),
        ({"n_permutations": 5}, "n_permutations must be a whole number of at least 19, got 5"),
        ({"step": 0.5}, "step must be a whole number of at least 1, got 0.5"),
        ({"q_tail": 1.0}, "q_tail must lie strictly between 0 and 1, got 1.0"),
        ({"threshold": "guess"}, "threshold must be 'calibrated' or 'formula', got 'guess'"),
        ({"null": "none"}, "null must be 'exact' or 'simulated', got 'none'"),
        ({"alpha": 2, "max_rounds": 0}, "max_rounds must .*, got 0; alpha must .*, got 2"),
    ],
)
def test_impossible_settings_are_named_together(settings, message):
    with pytest.raises(ParameterError, match=f"^{message}$"):
        EqualiseParams(**settings)
