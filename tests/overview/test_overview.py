"""Columns by themselves: figures recomputed from the data, p-values family-wise, both orders alike."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import shiftscope as ss
from tests.quick import QUICK

N = 300


def tables(seed: int = 0, move: float = 0.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    made = []
    for shift, n in ((0.0, N), (move, N - 40)):
        made.append(
            pd.DataFrame(
                {
                    "moved": rng.normal(10.0 + 3 * shift, 2.0, n),
                    "level": rng.choice(["a", "b", "c"], n, p=[0.6 - 0.3 * shift, 0.3, 0.1 + 0.3 * shift]),
                    "gaps": np.where(rng.random(n) < 0.1 + 0.5 * shift, np.nan, rng.normal(size=n)),
                    "score": rng.integers(0, 5, n).astype(float),
                    "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
                    "same": rng.normal(size=n),
                }
            )
        )
    return made[0], made[1]


@pytest.fixture(scope="module")
def moved() -> tuple[ss.ShiftResult, pd.DataFrame, pd.DataFrame]:
    first, second = tables(1, 1.0)
    return ss.compare(first, second, params=QUICK), first, second


def test_figures_are_those_of_the_data(moved: tuple[ss.ShiftResult, pd.DataFrame, pd.DataFrame]) -> None:
    result, *samples = moved
    assert {column.name for column in result.overview} == set(result.names)
    for column in result.overview:
        for side, sample in zip((column.reference, column.current), samples, strict=True):
            values = sample[column.name]
            assert (side.rows, side.missing) == (len(values), values.isna().sum())
            assert side.distinct == values.nunique()
            assert dict(side.levels).items() <= values.map(_text).value_counts().to_dict().items() | {
                (level, 0) for level, rows in side.levels if rows == 0
            }
            if column.kind == "number":
                places = (side.low, side.quarter, side.median, side.three_quarters, side.high)
                assert places == pytest.approx(values.quantile([0, 0.25, 0.5, 0.75, 1]).tolist())


def _text(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.4g}" if isinstance(value, float) else str(value)


def test_changes_are_true(moved: tuple[ss.ShiftResult, pd.DataFrame, pd.DataFrame]) -> None:
    result, first, second = moved
    changes = {column.name: column.change for column in result.overview}
    assert changes["moved"] == f"median {first['moved'].median():.4g} -> {second['moved'].median():.4g}"
    level = re.fullmatch(r"= (\w): (.*) % -> (.*) %", changes["level"])
    assert level is not None
    assert [float(level[2]), float(level[3])] == pytest.approx(
        [100 * (sample["level"] == level[1]).mean() for sample in (first, second)], abs=0.5
    )
    gaps = [f"{100 * sample['gaps'].isna().mean():.2g} %" for sample in (first, second)]
    assert changes["gaps"].startswith(f"missing: {gaps[0]} -> {gaps[1]}")


def test_p_values_are_those_of_the_columns_alone(moved: tuple[ss.ShiftResult, pd.DataFrame, pd.DataFrame]) -> None:
    result = moved[0]
    scan = result.scan
    assert scan is not None
    found = {column.name: column for column in result.overview}
    for at, name in enumerate(result.names):
        column = found[name]
        assert column.evidence == scan.pairs[at, at]
        reached = int(np.sum(scan.columns_null >= column.evidence - 1e-9))
        assert column.p_value == pytest.approx((1 + reached) / (1 + scan.n_permutations))
    assert np.all(scan.columns_null <= scan.null + 1e-12)
    assert [column.evidence for column in result.overview] == sorted(scan.columns, reverse=True)
    assert found["moved"].p_value < 0.05 < found["same"].p_value


def test_swapped_samples_swap_the_overview() -> None:
    first, second = tables(2, 1.0)
    one, other = ss.compare(first, second, params=QUICK), ss.compare(second, first, params=QUICK)
    assert repr(one.overview) == repr(other.swapped().overview)
    assert [c.name for c in one.overview] == [c.name for c in other.overview]


def test_family_wise_level_holds() -> None:
    smallest = [
        min(c.p_value for c in ss.compare(*tables(seed), params=QUICK, random_state=seed).overview)
        for seed in range(100, 130)
    ]
    assert sum(p <= 0.1 for p in smallest) <= 8  # of 30, three expected: more have a chance of 0.2 %


def test_told_on_every_page(moved: tuple[ss.ShiftResult, pd.DataFrame, pd.DataFrame]) -> None:
    result = moved[0]
    strongest = result.overview[0]
    assert f"{strongest.name} {strongest.change}" in " ".join(str(result).split())
    assert strongest.name in result.to_markdown()
    assert '"effect_interval"' in result.to_json()
