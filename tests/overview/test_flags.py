"""What is odd about a column: seen where it is, and not where it is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import shiftscope as ss
from shiftscope.encoding.units import UNITS, Unit
from shiftscope.overview.column_overview import ColumnOverview
from shiftscope.overview.flags import step_of, tidy
from shiftscope.overview.overview import overview
from tests.pairs import job_of

N = 400


def columns(reference: object, current: object) -> dict[str, ColumnOverview]:
    return {column.name: column for column in overview(job_of(reference, current), None)}


def kinds(reference: object, current: object) -> set[str]:
    return {flag.kind for column in columns(reference, current).values() for flag in column.flags}


def normal(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(20.0, 3.0, N)


def gaps(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(N) < 0.3, np.nan, rng.normal(20.0, 3.0, N))


def words(rng: np.random.Generator) -> np.ndarray:
    return rng.choice(["a", "b", "c"], N)


def other_words(rng: np.random.Generator) -> np.ndarray:
    return rng.choice(["a", "b", "d"], N)


@pytest.mark.parametrize(
    ("flag", "usual", "odd"),
    [
        ("missing", normal, gaps),
        ("constant", normal, lambda rng: np.full(N, 20.0)),
        ("separate", normal, lambda rng: normal(rng) + 100.0),
        ("separate", words, lambda rng: rng.choice(["d", "e"], N)),
        ("rounding", lambda rng: (normal(rng) * 4).round() / 4, lambda rng: (normal(rng) * 5).round() / 5),
        ("rounding", normal, lambda rng: normal(rng).round(1)),
        ("heap", normal, lambda rng: np.where(rng.random(N) < 0.2, 20.0, normal(rng))),
        ("unit", normal, lambda rng: normal(rng) * 1.8 + 32.0),
        ("new levels", words, other_words),
        ("lost levels", words, other_words),
    ],
)
def test_each_is_seen_in_either_order(flag: str, usual: Callable, odd: Callable) -> None:
    rng = np.random.default_rng(0)
    first, second = (pd.DataFrame({"x": make(rng)}) for make in (usual, odd))
    assert flag in kinds(first, second)
    swapped = {"new levels": "lost levels", "lost levels": "new levels"}.get(flag, flag)
    assert swapped in kinds(second, first)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.words)
def test_every_unit_is_known_again(unit: Unit) -> None:
    rng = np.random.default_rng(1)
    first = pd.DataFrame({"x": rng.normal(20.0, 3.0, N)})
    second = pd.DataFrame({"x": unit.factor * rng.normal(20.0, 3.0, N) + unit.offset})
    told = f"looks like another unit: {{}} = {unit.formula}"
    sentences = [flag.sentence for flag in columns(first, second)["x"].flags]
    assert told.format("current", other="reference") in sentences
    swapped = [flag.sentence for flag in columns(first, second)["x"].swapped().flags]
    assert told.format("reference", other="current") in swapped
    first["y"], second["y"] = rng.normal(size=N), rng.normal(size=N)  # beside another column, one apart is set aside
    aside = job_of(first, second).encoded.left_out
    assert [left.reason.split("; ")[1] for left in aside] == [told.format("current", other="reference")] * len(aside)


def test_nothing_is_odd_about_samples_of_one_distribution() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame(
                {
                    "smooth": rng.standard_normal(n),
                    "rounded": rng.normal(50, 9, n).round(),
                    "coarse": 0.25 * rng.integers(0, 40, n),
                    "heavy": rng.standard_cauchy(n),
                    "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.random(n)),
                    "rare": (rng.random(n) < 0.02).astype(float),
                    "level": rng.choice(list("abcdefgh"), n, p=[0.4, 0.3, 0.1, 0.1, 0.04, 0.03, 0.02, 0.01]),
                }
            )
            for n in (60, 150)
        ]
        assert kinds(*tables) == set()


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([1.0, 2.0, 4.0], 1.0),
        ([0.25, 1.0, 2.5], 0.75),
        ([10.0, 25.0, 40.0, 45.0], 5.0),
        ([0.1, 0.3, 0.4], 0.1),
        ([np.pi, np.e, 1.0], 0.0),
        ([3.0, 3.0], 0.0),
        ([1e300, 2e300], 0.0),
    ],
)
def test_step(values: list[float], step: float) -> None:
    assert step_of(np.array(values)) == pytest.approx(step)


def test_tidy_undoes_the_rounding_of_the_matrix() -> None:
    values = np.random.default_rng(0).integers(-2000, 90_000, 500) / 100.0
    assert np.array_equal(tidy(values * (1.0 + 1e-15)), np.round(values, 2))
    assert np.array_equal(tidy(np.zeros(3)), np.zeros(3))


def test_facts_are_told_without_a_scan() -> None:
    rng = np.random.default_rng(0)
    first = pd.DataFrame({"x": normal(rng), "y": rng.normal(size=N)})
    second = pd.DataFrame({"x": gaps(rng), "y": rng.normal(size=N)})
    found = columns(first, second)["x"]
    assert np.isnan(found.p_value)
    assert found.change.startswith(f"missing: 0 % -> {100 * second['x'].isna().mean():.0f} %")
    assert ss.CompareParams().scan is not None  # the default has one
