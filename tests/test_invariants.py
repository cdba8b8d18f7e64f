"""What must hold for any data: style rule 11."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope._compare import compare
from shiftscope.full_space import calibrate
from shiftscope.full_space.equalise import equalise
from shiftscope.full_space.score import score
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams
from validation.unchanged import digests

EQUALISE = EqualiseParams(k_max=15, n_permutations=39)
COMPARE = CompareParams(
    alpha=0.05,
    n_permutations=59,
    max_iterations=2,
    equalise=replace(EQUALISE, k_max=40),
    localise=LocaliseParams(epochs=10),
)
SEARCHES = {"scan": COMPARE, "full space": replace(COMPARE, scan=None)}


@st.composite
def pairs(draw):
    """Two small samples: normal or integer-valued, of equal or unequal sizes, apart or not, with repeated rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.integers(1, 3))
    reference, current = (rng.standard_normal((draw(st.sampled_from([6, 20, 20, 35])), d)) for _ in range(2))
    current[: len(current) // 2] += draw(st.sampled_from([0.0, 0.5, 6.0]))
    if draw(st.booleans()):
        reference, current = np.round(reference), np.round(current)
    if draw(st.booleans()):
        current[-4:] = reference[:4]
    return reference, current


def planted(n=250, injected=50, seed=0):
    """Normal samples in three dimensions, with a compact cluster at the end of current."""
    rng = np.random.default_rng(seed)
    cluster = rng.standard_normal((injected, 3))
    cluster[:, 1:] = 1 + 0.05 * rng.standard_normal((injected, 2))
    return rng.standard_normal((n, 3)), np.vstack([rng.standard_normal((n, 3)), cluster])


def assert_same_result(one, other):
    """Equal to the last bit in every field but timings and settings; pytest names the fields that differ."""
    assert digests(one) == digests(other)


# --- what `assert_same_result` sees ---------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SEARCHES)
def search(request):
    return SEARCHES[request.param]


@pytest.fixture(scope="module")
def found(search):
    """The planted group, as the scan tells it, or as equalisation and localisation do."""
    result = compare(*planted(), alpha=0.05, params=search)
    assert result.detected
    assert result.modes
    assert (result.scan is None) == bool(result.equalisation.trace)
    return result


def test_every_part_of_a_result_is_compared(found):
    """Negative control: the slightest change of any field, however deep, is a difference with that field's name."""
    seen = digests(found)
    for name, other in changes(found).items():
        told = digests(other)
        assert [field for field in seen if told.get(field) != seen[field]] == [name]


def changes(result):
    """The result with one field changed, by the name of that field."""
    mode = result.modes[0]
    changed = {
        "p_value": replace(result, p_value=np.nextafter(result.p_value, 1)),
        "modes.excess": with_first(result, "modes", replace(mode, excess=mode.excess + 1e-12)),
        "modes.excess_interval": with_first(result, "modes", replace(mode, excess_interval=(0.0, 1.0))),
        "modes.directions": with_first(result, "modes", replace(mode, directions=())),
        "modes.rows": with_first(result, "modes", replace(mode, rows=mode.rows[1:])),
        "modes.purity": with_first(result, "modes", replace(mode, purity=0.0)),
        "calibration.permuted_reference": replace(
            result, calibration=replace(result.calibration, permuted_reference=np.zeros((59, 4)))
        ),
        "calibration.p_current": replace(result, calibration=replace(result.calibration, p_current=0.123)),
        "scores.scale_reference": replace(
            result, scores=replace(result.scores, scale_reference=result.scores.scale_reference + 1)
        ),
    }
    if result.scan is None:
        step, weights = result.equalisation.trace[0], mode.localisation.weights
        longer = with_first(result.equalisation, "trace", replace(step, rows=step.rows + 1))
        other = replace(mode, localisation=replace(mode.localisation, weights=np.nextafter(weights, 9)))
        changed["equalisation.trace.rows"] = replace(result, equalisation=longer)
        changed["modes.localisation"] = with_first(result, "modes", other)
        return changed
    for name in ("p_value", "pairs", "localised_null", "broad_null", "n_permutations"):
        other = replace(result.scan, **{name: np.nextafter(getattr(result.scan, name), np.inf)})
        changed[f"scan.{name}"] = replace(result, scan=other)
    for name in ("features", "value", "evidence", "box", "rows_reference", "rows_current", "side", "statistic"):
        other = replace(result.scan.sets[0], **{name: None})
        changed[f"scan.sets.{name}"] = replace(result, scan=with_first(result.scan, "sets", other))
    return changed


def with_first(whole, name, part):
    """The same with another first part."""
    return replace(whole, **{name: (part, *getattr(whole, name)[1:])})


# --- swapping the samples -----------------------------------------------------------------------------------


@given(pairs())
@settings(max_examples=40)
def test_swapping_the_samples_swaps_their_scores(pair):
    one, other = score(*pair, 15), score(*pair[::-1], 15)
    np.testing.assert_array_equal(one.reference, other.current)
    np.testing.assert_array_equal(one.current, other.reference)
    np.testing.assert_array_equal(one.scale_current, other.scale_reference)


@given(pairs())
@settings(max_examples=15)
def test_swapping_the_samples_swaps_their_equalisation(pair):
    one, other = equalise(*pair, 15, params=EQUALISE), equalise(*pair[::-1], 15, params=EQUALISE)
    assert_same_result(one, other.swapped())


@pytest.mark.parametrize("rounded", [False, True])
def test_swapping_the_samples_swaps_the_comparison(search, rounded):
    reference, current = planted()
    if rounded:
        reference, current = np.round(4 * reference) / 4, np.round(4 * current) / 4
    one, other = (
        compare(reference, current, alpha=0.05, params=search),
        compare(current, reference, alpha=0.05, params=search),
    )
    assert one.detected
    assert_same_result(one, other.swapped())


def test_a_sample_compared_with_itself_shows_nothing_on_either_side():
    rows = np.random.default_rng(0).standard_normal((60, 2))
    result = compare(rows, rows.copy(), alpha=0.05, params=COMPARE)
    np.testing.assert_array_equal(result.scores.reference, result.scores.current)
    assert result.calibration.reference == result.calibration.current
    assert not result.detected
    assert result.kept_reference.size == result.kept_current.size == 60


# --- permuting rows and columns -----------------------------------------------------------------------------


@given(pairs(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_permuting_rows_permutes_their_scores(pair, seed):
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(rows)) for rows in pair]
    one, other = score(*pair, 15), score(*(rows[order] for rows, order in zip(pair, orders, strict=True)), 15)
    np.testing.assert_array_equal(one.reference[orders[0]], other.reference)
    np.testing.assert_array_equal(one.current[orders[1]], other.current)
    np.testing.assert_array_equal(one.scale_current[orders[1]], other.scale_current)


def test_columns_are_matched_by_name():
    reference, current = (pd.DataFrame(rows, columns=list("abc")) for rows in planted())
    one, other = score(reference, current, 15), score(reference, current[["c", "a", "b"]], 15)
    np.testing.assert_array_equal(one.reference, other.reference)
    np.testing.assert_array_equal(one.current, other.current)


# --- doing it again -----------------------------------------------------------------------------------------


@given(pairs())
@settings(max_examples=15)
def test_equalising_an_equalised_pair_removes_nothing(pair):
    reference, current = pair
    once = equalise(reference, current, 15, params=EQUALISE)
    survivors = reference[once.kept_reference], current[once.kept_current]
    if not once.converged or np.ptp(np.vstack(survivors), axis=0).max() == 0:
        return
    again = equalise(*survivors, 15, params=EQUALISE)
    assert again.trace == ()
    assert again.kept_reference.size == once.kept_reference.size
    assert again.kept_current.size == once.kept_current.size


def test_the_seed_decides_and_a_new_one_moves_p_values_only_a_little():
    reference, current = planted(injected=12)
    params = replace(COMPARE, n_permutations=199)
    one, same, other = (compare(reference, current, alpha=1e-2, params=params, random_state=seed) for seed in (1, 1, 2))
    assert_same_result(one, same)
    np.testing.assert_array_equal(one.scores.current, other.scores.current)
    assert one.calibration.current == other.calibration.current
    error = np.sqrt(max(one.p_value, other.p_value) / 200)  # standard error of a permutation p-value, at most
    assert abs(one.p_value - other.p_value) <= 5 * error


# --- how the work is cut up ---------------------------------------------------------------------------------


def test_threads_lanes_and_chunks_do_not_change_a_comparison(monkeypatch, threads, search, found):
    reference, current = planted()
    threads(numba.config.NUMBA_NUM_THREADS)
    assert_same_result(found, compare(reference, current, alpha=0.05, params=search))
    threads(1)
    monkeypatch.setattr(calibrate, "WALKED_TOGETHER", 7)
    monkeypatch.setattr(calibrate, "CHUNK_ROWS", 33)
    assert_same_result(found, compare(reference, current, alpha=0.05, params=search))
    monkeypatch.setattr(calibrate, "LARGE_POOL", 1)
    assert_same_result(found, compare(reference, current, alpha=0.05, params=search))
