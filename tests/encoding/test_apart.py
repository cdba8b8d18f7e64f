"""Columns that tell the samples apart are told, set aside, and hide nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shiftscope as ss
from tests.quick import QUICK

N = 120


def tables(seed: int = 0, **apart: tuple[object, object]) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    made = [pd.DataFrame({"x": rng.normal(size=N), "y": rng.normal(size=N)}) for _ in range(2)]
    for name, values in apart.items():
        for table, value in zip(made, values, strict=True):
            table[name] = value
    return made[0], made[1]


def test_a_date_says_when_and_is_no_part_of_the_verdict() -> None:
    days = pd.date_range("2026-01-01", periods=N), pd.date_range("2026-06-01", periods=N)
    found = ss.compare(*tables(1, day=days), params=QUICK)
    plain = ss.compare(*tables(1), params=QUICK)
    assert (found.detected, found.p_value) == (plain.detected, plain.p_value)
    assert [left.name for left in found.set_aside] == ["day"]
    assert not found.detected
    said = " ".join(str(found).split())
    assert "2026-01-01 to 2026-04-30 in the reference and 2026-06-01 to 2026-09-28 in the current sample" in said
    assert "Apart from day, no difference was found" in said


@pytest.mark.parametrize("values", [(range(N), range(500, 500 + N)), ("a", "b")], ids=["numbers", "levels"])
def test_other_columns_are_part_of_the_verdict(values: tuple[object, object]) -> None:
    numbers = tuple(
        np.random.default_rng(0).permutation(one) + 0.5 if isinstance(one, range) else one for one in values
    )
    found = ss.compare(*tables(2, z=numbers), params=QUICK)
    plain = ss.compare(*tables(2), params=QUICK)
    assert found.detected
    assert found.p_value < 1e-6
    assert found.p_compared == plain.p_value
    assert found.names == plain.names
    assert "The samples differ" in str(found)
    assert "tells the samples apart by itself" in " ".join(str(found).split())


def test_what_is_behind_it_is_found() -> None:
    first, second = tables(3, z=("a", "b"))
    second["y"] += 1.5
    found = ss.compare(first, second, params=QUICK)
    assert ("y",) in [mode.features for mode in found.modes]


@pytest.mark.parametrize("columns", [["z", "x"], ss.Columns(kinds={"z": "category"})])
def test_what_the_user_names_stays(columns: object) -> None:
    found = ss.compare(*tables(4, z=("a", "b")), columns=columns, params=QUICK)
    assert "z" in found.names
    assert found.set_aside == ()


def test_the_only_column_stays() -> None:
    rng = np.random.default_rng(0)
    found = ss.compare(rng.normal(size=(N, 1)), rng.normal(size=(N, 1)) + 50, params=QUICK)
    assert found.names == ("x0",)
    assert found.detected


def test_few_rows_may_be_apart_by_chance() -> None:
    first, second = (table[:8] for table in tables(5, z=(np.linspace(0, 1, N), np.linspace(3, 4, N))))
    assert "z" in ss.compare(first, second, params=QUICK).names


def test_the_order_of_the_samples_does_not_matter() -> None:
    first, second = tables(6, z=("a", "b"))
    one, other = ss.compare(first, second, params=QUICK), ss.compare(second, first, params=QUICK)
    assert one.p_value == other.p_value
    assert "a in the reference and b in the current" in one.set_aside[0].reason
    assert "b in the reference and a in the current" in other.set_aside[0].reason
