from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shiftscope._compare import compare
from shiftscope.errors import InputError, ParameterError
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams, ScanParams

FULL_SPACE = CompareParams(
    n_permutations=199,
    scan=None,
    equalise=EqualiseParams(k_max=80, n_permutations=99),
    localise=LocaliseParams(epochs=60),
)
WITH_SCAN = replace(FULL_SPACE, scan=ScanParams(n_permutations=199))
N = 1000
INJECTED = 150


def planted(in_current=0, in_reference=0, n=N, d=4, seed=0):
    """Normal samples; after row `n` each may hold a cluster: current in x1 and x3, reference in x0 and x2."""
    rng = np.random.default_rng(seed)
    samples = []
    for size, features, place in ((in_reference, [0, 2], -1.0), (in_current, [1, 3], 1.0)):
        cluster = rng.standard_normal((size, d))
        cluster[:, features] = place + 0.07 * rng.standard_normal((size, 2))
        samples.append(np.vstack([rng.standard_normal((n, d)), cluster]))
    return samples


def check_mode(mode, side, features, words):
    """A mode of the planted kind, `INJECTED` rows after row `N`."""
    assert mode.side == side
    assert set(mode.features) == set(features)
    assert {one.feature: one.word for one in mode.directions} == dict.fromkeys(features, words)
    assert [one.feature for one in mode.directions] == list(mode.features)
    assert np.mean(mode.rows >= N) > 0.8
    assert np.sum(mode.rows >= N) > 0.6 * INJECTED
    assert np.array_equal(mode.rows, np.unique(mode.rows))
    assert mode.excess_interval[0] <= INJECTED / (N + INJECTED) <= mode.excess_interval[1]
    assert mode.excess_interval[0] < mode.excess < mode.excess_interval[1]
    assert 0.5 < mode.purity <= 1


def check_book(result, reference, current):
    """Kept rows are rows of their sample, ascending, and none of them belongs to a mode."""
    for rows, kept, side in (
        (reference, result.kept_reference, "reference"),
        (current, result.kept_current, "current"),
    ):
        assert np.array_equal(kept, np.unique(kept))
        assert np.all((kept >= 0) & (kept < len(rows)))
        for mode in result.modes:
            assert mode.side != side or np.intersect1d(kept, mode.rows).size == 0
    assert result.detected == (result.p_value <= result.alpha)
    assert result.scores.reference.shape == (len(reference),)
    assert result.scores.current.shape == (len(current),)
    assert [mode.p_value for mode in result.modes] == sorted(mode.p_value for mode in result.modes)


CURRENT, REFERENCE = ("current", ("x1", "x3"), "higher"), ("reference", ("x0", "x2"), "lower")


@pytest.mark.parametrize("params", [FULL_SPACE, WITH_SCAN], ids=["full space", "with scan"])
@pytest.mark.parametrize(
    ("in_current", "in_reference", "expected"),
    [(INJECTED, 0, [CURRENT]), (0, INJECTED, [REFERENCE]), (INJECTED, INJECTED, [CURRENT, REFERENCE])],
    ids=["current", "reference", "both"],
)
def test_a_planted_excess_is_found_with_its_rows_and_features(params, in_current, in_reference, expected):
    reference, current = planted(in_current, in_reference)
    result = compare(reference, current, params=params)
    assert result.detected
    check_book(result, reference, current)
    assert len(result.modes) == len(expected)
    for mode, (side, features, words) in zip(sorted(result.modes, key=lambda mode: mode.side), expected, strict=True):
        check_mode(mode, side, features, words)
    left = sum(np.sum(kept >= N) for kept in (result.kept_current, result.kept_reference))
    assert left < 0.4 * (in_current + in_reference)
    assert min(result.kept_current.size, result.kept_reference.size) > 0.9 * N


@pytest.mark.parametrize("params", [FULL_SPACE, WITH_SCAN], ids=["full space", "with scan"])
def test_nothing_is_found_where_nothing_is(params):
    reference, current = planted()
    result = compare(reference, current, params=params)
    assert not result.detected
    assert result.modes == ()
    assert result.equalisation is None
    np.testing.assert_array_equal(result.kept_reference, np.arange(N))
    np.testing.assert_array_equal(result.kept_current, np.arange(N))
    assert result.n_reference == result.n_current == N


def test_names_units_and_seed_are_in_the_result():
    reference, current = (
        pd.DataFrame(rows * [1, 1e3, 1, 1e-3], columns=["age", "dose", "site", "rate"])
        for rows in planted(INJECTED, n=500)
    )
    current = current[["rate", "site", "dose", "age"]]
    result = compare(reference, current.assign(extra=1.0), params=FULL_SPACE, random_state=5)
    assert result.names == ("age", "dose", "rate", "site")  # in canonical order
    assert result.random_state == 5
    mode = result.modes[0]
    assert set(mode.features) == {"dose", "rate"}
    medians = {one.feature: one.median for one in mode.directions}
    assert medians == {"dose": pytest.approx(1e3, rel=0.1), "rate": pytest.approx(1e-3, rel=0.1)}
    assert [one.name for one in result.encoded.left_out] == ["extra"]
    assert all(seconds >= 0 for _, seconds in result.timings)


def test_one_feature_is_enough():
    rng = np.random.default_rng(0)
    reference = rng.standard_normal((500, 1))
    current = np.vstack([rng.standard_normal((440, 1)), 2 + 0.02 * rng.standard_normal((60, 1))])
    result = compare(reference, current, params=FULL_SPACE)
    assert result.detected
    check_book(result, reference, current)
    assert result.modes[0].features == ("x0",)
    assert np.mean(result.modes[0].rows >= 440) > 0.8


@pytest.mark.parametrize("params", [FULL_SPACE, WITH_SCAN], ids=["full space", "with scan"])
@pytest.mark.parametrize("n", [2, 5])
def test_a_handful_of_rows_is_compared(params, n):
    rows = np.random.default_rng(n).standard_normal((2 * n, 3))
    result = compare(rows[:n], rows[n:], params=params)
    check_book(result, rows[:n], rows[n:])
    assert 0 < result.p_value <= 1
    assert not result.detected


@pytest.mark.parametrize("params", [FULL_SPACE, WITH_SCAN], ids=["full space", "with scan"])
def test_separated_samples_have_nothing_in_common(params):
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((60, 2)), 20 + rng.standard_normal((80, 2))
    result = compare(reference, current, params=params)
    check_book(result, reference, current)
    assert result.detected
    assert max(mode.excess for mode in result.modes) > 0.9
    assert min(result.kept_reference.size, result.kept_current.size) <= 5


@pytest.mark.parametrize("params", [FULL_SPACE, WITH_SCAN], ids=["full space", "with scan"])
def test_a_lone_sample_of_two_rows(params):
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((2, 2)), 9 + rng.standard_normal((300, 2))
    result = compare(reference, current, params=params)
    check_book(result, reference, current)


def test_neighbourhoods_larger_than_the_pool_are_cut():
    reference, current = planted(n=40)
    result = compare(reference, current, params=replace(FULL_SPACE, equalise=EqualiseParams(k_max=4000)))
    assert result.scores.nulls.current.k_max == 79


@pytest.mark.parametrize("params", [FULL_SPACE, WITH_SCAN], ids=["full space", "with scan"])
def test_integer_values_with_many_ties(params):
    reference, current = (np.round(2 * rows) for rows in planted(120, n=400))
    result = compare(reference, current, params=params)
    check_book(result, reference, current)
    assert result.detected
    assert all({"x1", "x3"} & set(mode.features) for mode in result.modes)
    assert result.modes or params.scan is None  # groups of ties beyond K_M are no step: in few features modes dissolve
    none = compare(reference[:200], reference[200:], params=params)
    assert not none.detected


def test_nearly_identical_rows():
    reference, current = np.zeros((3000, 2)), np.zeros((3000, 2))
    reference[:5], current[:5] = np.random.default_rng(0).standard_normal((2, 5, 2))
    result = compare(reference, current, params=FULL_SPACE)
    check_book(result, reference, current)
    assert not result.detected


def test_identical_rows_are_refused():
    with pytest.raises(InputError, match="none of the common columns"):
        compare(np.ones((9, 2)), np.ones((9, 2)))


def test_a_level_that_the_permutations_cannot_reach_is_refused():
    rows = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.raises(ParameterError, match=r"n_permutations = 499 can never give .* alpha = 0\.0001 or less"):
        compare(rows[:20], rows[20:], alpha=1e-4, params=CompareParams(alpha=0.05, n_permutations=499))


def test_progress_names_each_stage():
    seen: list[tuple[str, float]] = []
    compare(*planted(INJECTED, n=300), params=FULL_SPACE, progress=lambda stage, done: seen.append((stage, done)))
    assert {"neighbours", "calibrate", "equalise", "refine"} <= {stage for stage, _ in seen}
    assert all(0 <= done <= 1 for _, done in seen)


@pytest.mark.parametrize("seed", [0, 7])
def test_beside_a_large_mode_only_those_with_evidence_of_their_own_are_told(seed):
    rng = np.random.default_rng(seed)
    reference, current = rng.standard_normal((2, 1500, 3))
    current[:350] = 0.8 + 0.5 * rng.standard_normal((350, 3))
    current[350:400] = -1.2 + 0.12 * rng.standard_normal((50, 3))
    params = CompareParams(
        scan=None, equalise=EqualiseParams(k_max=30, n_permutations=199), localise=LocaliseParams(epochs=200)
    )
    found = compare(reference, current, params=params)
    assert [mode.side for mode in found.modes] == ["current", "current"]  # the reference lacks what the current gained
    assert np.mean(found.modes[0].rows < 350) > 0.6
    assert np.mean((found.modes[1].rows >= 350) & (found.modes[1].rows < 400)) > 0.8


def test_a_change_of_dependence_is_told_by_the_scan_alone():
    """Its own test stands for it: such a change need not put more rows anywhere than it takes away."""
    rng = np.random.default_rng(3)
    reference, current = rng.standard_normal((2, 1500, 4))
    current[:, 1] = 0.6 * current[:, 0] + 0.8 * current[:, 1]
    found = compare(reference, current)
    assert found.modes
    assert {mode.origin for mode in found.modes} == {"scan"}
    assert {column for mode in found.modes for column in mode.features} == {"x0", "x1"}
