"""Shifts that only categories and missing values show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shiftscope._compare import compare
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams, ScanParams
from tests.mixed_frames import frames
from validation.unchanged import digests

QUICK = CompareParams(
    alpha=0.05,
    n_permutations=59,
    max_iterations=2,
    equalise=EqualiseParams(k_max=40, n_permutations=39),
    localise=LocaliseParams(epochs=10),
    scan=ScanParams(n_permutations=63),
)


def test_swapped_samples_and_columns_in_another_order_give_the_same_answer():
    reference, current = frames("level", n=150)
    one = compare(reference, current, params=QUICK)
    assert one.detected
    assert digests(compare(current, reference, params=QUICK).swapped()) == digests(one)
    shuffled = reference[["w", "x", "device", "age"]], pl.from_pandas(current)[["age", "w", "device", "x"]]
    assert digests(compare(*shuffled, params=QUICK)) == digests(one)


def test_a_level_that_became_more_frequent():
    result = compare(*frames("level"), params=QUICK)
    assert [mode.features for mode in result.modes] == [("device",)]
    assert str(result.modes[0].directions[0]).startswith("device = B: 30 % -> 5")
    assert result.modes[0].excess == pytest.approx(0.25, abs=0.08)


@pytest.mark.parametrize("seed", [0, 3])
def test_missing_values_of_one_level(seed):
    """One mode: the reference sample has more rows of B with an age instead, which is the same change."""
    reference, current = frames("missing", seed=seed)
    result = compare(reference, current, params=QUICK)
    (mode,) = result.modes
    assert (mode.side, set(mode.features)) == ("current", {"age", "device"})
    assert current["age"].iloc[mode.rows].isna().all()
    said = {direction.feature: direction.change for direction in mode.directions}
    assert said["age"].startswith("missing: ")
    assert said["device"].startswith("= B")


def test_a_category_and_a_number_that_go_together_otherwise():
    """Each level of either side is told by itself: together they would be higher here and lower there."""
    result = compare(*frames("pairing"), params=QUICK)
    told = {
        (mode.side, mode.directions[0].level, mode.directions[1].word): mode.directions[0].share
        for mode in result.modes
        if mode.features == ("device", "x")
    }
    assert told == {
        ("current", "A", "higher"): 1.0,
        ("current", "B", "lower"): 1.0,
        ("reference", "A", "lower"): 1.0,
        ("reference", "B", "higher"): 1.0,
    }
    assert len(result.modes) == 4


def test_levels_alone_if_a_number_adds_next_to_nothing():
    (mode,) = compare(*frames("level", seed=4), params=QUICK).modes
    assert mode.features == ("device",)


def test_yes_or_no_is_told_in_shares():
    rng = np.random.default_rng(0)
    first, second = (pd.DataFrame({"smoker": rng.random(300) < p, "v": rng.normal(size=300)}) for p in (0.2, 0.6))
    (mode,) = compare(first, second, params=QUICK).modes
    assert mode.features == ("smoker",)
    assert str(mode.directions[0]).startswith(("smoker = 0: 81 % -> 40", "smoker = 1: 19 % -> 5"))


def test_equal_samples_of_mixed_kinds_agree():
    assert not compare(*frames(), params=QUICK).detected


def levels_and(seed, n=300, shift="group"):
    """The shares of c0 change, and 80 rows gather in x1 and x2, or x1 moves."""
    rng = np.random.default_rng(seed)
    tables = []
    for shares in ((0.4, 0.3, 0.2, 0.1), (0.2, 0.2, 0.25, 0.35)):
        table = pd.DataFrame({f"x{at}": rng.standard_normal(n) for at in range(6)})
        table["c0"] = rng.choice(list("abcd"), n, p=shares)
        table["c1"] = rng.choice(list("abcd"), n, p=(0.4, 0.3, 0.2, 0.1))
        tables.append(table)
    if shift == "group":
        tables[1].loc[:79, ["x1", "x2"]] = (0.4, -0.4) + 0.15 * rng.standard_normal((80, 2))
    elif shift == "moved":
        tables[1]["x1"] += 1.0
    return tables


@pytest.mark.parametrize(("shift", "columns", "seed"), [("group", ("x1", "x2"), 0), ("moved", ("x1",), 1)])
def test_a_second_shift_beside_a_level_is_told_in_its_own_columns(shift, columns, seed):
    """Half of it would go with the rows of the level; and both together are no third thing."""
    result = compare(*levels_and(seed, shift=shift), params=QUICK)
    assert {mode.features for mode in result.modes} == {("c0",), columns}


@pytest.mark.parametrize(
    ("max_modes", "said"),
    [(1, "Compared by themselves, they still differ"), (5, "Compared by themselves, they show no difference")],
)
def test_what_is_said_of_the_rows_kept_is_what_a_comparison_of_them_says(max_modes, said):
    reference, current = levels_and(1, shift="moved")
    result = compare(reference, current, params=replace(QUICK, max_modes=max_modes))
    fresh = compare(reference.iloc[result.kept_reference], current.iloc[result.kept_current], params=QUICK)
    assert fresh.detected == (max_modes == 1)
    assert (result.kept_p_value <= result.alpha) == fresh.detected
    assert said in " ".join(str(result).split())


def test_nothing_is_said_of_rows_that_were_not_tested():
    result = compare(*frames("level", n=150), params=replace(QUICK, test_kept=False))
    assert result.detected
    assert result.kept_p_value is None
    assert "whether they still differ was not tested" in " ".join(str(result).split())


def test_levels_that_the_samples_do_not_share_leave_nothing_to_look_at_beside_them():
    rng = np.random.default_rng(4)
    reference, current = (
        pd.DataFrame({"x": rng.standard_normal(200), "c": rng.choice(list(levels), 200, p=(0.6, 0.4))})
        for levels in ("ab", "cd")
    )
    result = compare(reference, current, columns=["x", "c"], params=QUICK)  # named, so it is not set aside
    assert {mode.features for mode in result.modes} == {("c",)}


def test_rows_without_any_value_are_told_once():
    """What goes missing together is one change; that x1 has no large values any more is another."""
    reference, current = levels_and(2, shift="none")
    current = current.mask(current["x1"] > 1)
    result = compare(reference, current, params=QUICK)
    gaps = [mode for mode in result.modes if mode.side == "current" and mode.directions[0].gap]
    assert len(gaps) == 1
    assert np.isin(np.flatnonzero(current.isna().all(axis=1)), gaps[0].rows).all()
