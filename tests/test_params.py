from __future__ import annotations

import re
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import shiftscope as ss
from shiftscope.errors import ParameterError, ShiftscopeError
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams, ModeParams, ScanParams, changed_settings


def test_defaults_can_reach_their_level():
    params = CompareParams()
    assert 1 / (params.labellings + 1) <= params.alpha
    assert params.k_max == params.equalise.k_max == 400


def test_k_max_is_that_of_the_equalisation():
    assert CompareParams(equalise=EqualiseParams(k_max=70)).k_max == 70


@pytest.mark.parametrize(
    ("alpha", "scan", "needed"), [(0.05, None, 499), (0.001, None, 1000), (0.001, ScanParams(), 2000)]
)
def test_permutations_follow_from_alpha(alpha, scan, needed):
    assert CompareParams(alpha=alpha, scan=scan).labellings == needed


@pytest.mark.parametrize(
    ("kind", "name"), [(LocaliseParams, "batch"), (EqualiseParams, "threshold"), (EqualiseParams, "null")]
)
@pytest.mark.parametrize("value", [np.array([]), np.array(["exact", "x"]), ["paper"], None])
def test_words_are_words(kind, name, value):
    with pytest.raises(ParameterError, match=f"{name} must be '"):
        kind(**{name: value})


@pytest.mark.parametrize("names", [np.array(3.0), np.zeros(4, dtype=[("a", "f8")]), 3, b"a", [1]])
def test_names_are_names(names):
    for choice in ({"include": names}, {"exclude": names}):
        with pytest.raises(ParameterError, match="include and exclude must be sequences of names"):
            ss.Columns(**choice)
    with pytest.raises(ParameterError, match="include and exclude must be sequences of names"):
        ss.compare(np.eye(4), np.eye(4), columns=names)


def test_levels_beyond_any_patience_are_refused():
    with pytest.raises(ParameterError, match="alpha must be at least 1e-07"):
        CompareParams(alpha=1e-300)
    with pytest.raises(ParameterError, match="alpha must be at least 1e-07"):
        ss.explain_rows(np.eye(4), np.eye(4), [0], alpha=1e-300)


def test_small_levels_can_be_reached():
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((2, 60, 2))
    result = ss.compare(reference, current + 3.0, alpha=0.002, params=CompareParams(equalise=EqualiseParams(k_max=20)))
    assert result.scan is not None
    assert result.p_value <= 0.002
    assert min(result.scan.n_permutations, len(result.calibration.permuted_reference)) + 1 >= 1000


@pytest.mark.parametrize(("scan", "searches"), [(None, 1), (ScanParams(), 2)])
@pytest.mark.parametrize("alpha", [0.001, 0.003, 0.05, 1 / 3])
def test_the_number_of_permutations_advised_is_enough_and_nearly_needed(alpha, scan, searches):
    """The scan and the full space share alpha."""
    advised = int(searches / alpha)
    assert CompareParams(alpha=alpha, n_permutations=advised, scan=scan).alpha == alpha
    with pytest.raises(ParameterError, match=f"take at least {advised} permutations or a larger alpha"):
        CompareParams(alpha=alpha, n_permutations=advised - 2, scan=scan)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0}, "alpha must lie strictly between 0 and 1, got 0"),
        ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1, got 1.0"),
        ({"n_permutations": 0}, "n_permutations must be a whole number of at least 1, got 0"),
        ({"max_iterations": 2.5}, "max_iterations must be a whole number of at least 1, got 2.5"),
        ({"scan": 3}, "scan must be of the class ScanParams, got 3"),
        ({"equalise": None}, "equalise must be of the class EqualiseParams, got None"),
        ({"alpha": -1, "max_modes": 0}, "alpha must .*, got -1; max_modes must .*, got 0"),
        ({"test_kept": 1}, "test_kept must be True or False, got 1"),
    ],
)
def test_impossible_settings_are_named_together(settings, message):
    with pytest.raises(ParameterError, match=f"^{message}$"):
        CompareParams(**settings)


NO_NUMBERS = ["a", True, float("nan"), 1j, [1]]


@pytest.mark.parametrize("kind", [CompareParams, ScanParams, EqualiseParams, LocaliseParams, ModeParams])
@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_by_name(kind, value):
    """Every setting that is a number by default, or whose default is chosen later."""
    usual = kind()
    numbers = [name for name, default in vars(usual).items() if isinstance(default, int | float | None)]
    numbers = [name for name in numbers if not isinstance(getattr(usual, name), bool)]
    assert len(numbers) >= 5
    for name in numbers:
        with pytest.raises(ParameterError, match=rf"\b{name} must .*{re.escape(repr(value))}"):
            kind(**{name: value})


@pytest.mark.parametrize("name", [field.name for field in fields(ModeParams)])
def test_settings_of_modes_are_counts_from_one_or_shares_above_none(name):
    usual = getattr(ModeParams(), name)
    wrong, right = (
        ((0, -1, 1.5), (1, 10**6)) if isinstance(usual, int) else ((0.0, -0.1, 1.0001, np.inf), (1e-9, 1, 1.0))
    )
    for value in wrong:
        with pytest.raises(ParameterError, match=rf"^{name} must .*, got {re.escape(repr(value))}$"):
            ModeParams(**{name: value})
    for value in right:
        assert getattr(ModeParams(**{name: value}), name) == value


def test_faults_of_modes_are_told_together_and_reach_the_comparison():
    with pytest.raises(ParameterError, match=r"^least_rows must .* got 0; core_share must .* got 2$"):
        ModeParams(core_share=2, least_rows=0)
    assert CompareParams(modes=ModeParams(least_rows=3)).modes.least_rows == 3
    with pytest.raises(ParameterError, match=r"^modes must be of the class ModeParams, got None$"):
        CompareParams(modes=None)


@pytest.mark.parametrize("value", [*NO_NUMBERS, None], ids=repr)
def test_what_is_no_number_is_refused_by_functions(value):
    rows = np.random.default_rng(0).standard_normal((20, 2))
    for name, call in (
        ("k_max", lambda: ss.ScoreNull(value, 0.5)),
        ("p", lambda: ss.ScoreNull(10, value)),
        ("z", lambda: ss.partition(rows, z=value)),
        ("alpha", lambda: ss.explain_rows(rows[:10], rows[10:], [1, 2], alpha=value)),
        ("k_max", lambda: ss.explain_rows(rows[:10], rows[10:], [1, 2], k_max=value)),
        ("random_state", lambda: ss.localise(rows, rows[:, 0] > 0, random_state=value)),
        ("engine", lambda: ss.compare(rows[:10], rows[10:], engine=value if value is not None else 3)),
        ("horizon", lambda: ss.monitor(ss.ShiftDetector(alpha=0.1).fit(rows), [rows], horizon=value, history="no/h")),
    ):
        with pytest.raises(ParameterError, match=rf"^{name} must "):
            call()


def test_settings_of_another_class_are_refused():
    rows = np.random.default_rng(0).standard_normal((20, 2))
    for stage in (ss.compare, ss.scan, ss.equalise):
        with pytest.raises(ParameterError, match=r"^params must be of the class .*Params, got 'quick'$"):
            stage(rows[:10], rows[10:], params="quick")


def test_what_is_no_detector_or_result_is_refused():
    with pytest.raises(ParameterError, match=r"^detector must be of the class ShiftDetector, got None$"):
        ss.monitor(None, [])
    with pytest.raises(ParameterError, match=r"^result must be of the class ShiftResult, got None$"):
        ss.certify(None)


def test_one_frame_is_no_sequence_of_batches():
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 2)), columns=["a", "b"])
    with pytest.raises(ParameterError, match=r"^batches must be a sequence of tables, got a single one"):
        ss.monitor(ss.ShiftDetector().fit(frame), frame)


def test_columns_that_exclude_each_other_are_refused():
    rows = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ParameterError, match=r"^columns: include and exclude leave no column"):
        ss.compare(rows[:10], rows[10:], columns=ss.Columns(include=("x0",), exclude=("x0",)))


@pytest.mark.parametrize("columns", ["x0", 3, [0, 1], ss.Columns])
def test_columns_are_names(columns):
    rows = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ParameterError, match=r"^columns: include and exclude must be sequences of names, got "):
        ss.compare(rows[:10], rows[10:], columns=columns)
    with pytest.raises(ParameterError, match=r"^columns: kinds must map names to kinds, got 3$"):
        ss.Columns(kinds=3)


def test_k_max_is_within_reach_of_the_counters():
    assert EqualiseParams(k_max=4094).k_max == 4094
    with pytest.raises(ParameterError, match=r"^k_max must be at most 4094, .*, got 4095$"):
        EqualiseParams(k_max=4095)


def test_a_wrong_setting_is_a_value_error_of_ours():
    with pytest.raises(ValueError, match="alpha") as caught:
        CompareParams(alpha=7)
    assert isinstance(caught.value, ShiftscopeError)


@pytest.mark.parametrize("seed", [-1, None, 1.5, "a"])
def test_a_seed_is_a_whole_number(seed):
    rows = np.random.default_rng(0).standard_normal((20, 2))
    for stage in (ss.compare, ss.equalise):
        with pytest.raises(ParameterError, match="random_state must be a whole number of at least 0"):
            stage(rows[:10], rows[10:], random_state=seed)


def test_the_level_of_the_settings_counts_unless_one_is_given():
    rows = np.random.default_rng(0).standard_normal((20, 2))
    params = ss.CompareParams(alpha=0.05)
    assert ss.compare(rows[:10], rows[10:], params=params).alpha == 0.05
    assert ss.compare(rows[:10], rows[10:], params=params, alpha=0.02).alpha == 0.02
    assert ss.compare(rows[:10], rows[10:]).alpha == 0.01


@pytest.mark.parametrize(
    ("params", "changed"),
    [
        (CompareParams(), {}),
        (CompareParams(scan=None, alpha=0.05), {"alpha": 0.05, "scan": None}),
        (
            CompareParams(modes=ModeParams(least_rows=5), scan=ScanParams(beam=3, max_sets=9)),
            {"scan": {"beam": 3, "max_sets": 9}, "modes": {"least_rows": 5}},
        ),
    ],
)
def test_changed_settings_are_those_that_are_not_the_usual_ones(params, changed):
    assert changed_settings(params) == changed
