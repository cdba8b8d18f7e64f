"""Shifts that only categories and missing values show."""

from __future__ import annotations

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
