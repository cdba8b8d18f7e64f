from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.encoding import quantiles
from shiftscope.encoding.bins import bin_features, bin_tables, code_table
from shiftscope.encoding.quantiles import Question, Tally, level_limits, number_limits

SPECIAL = np.array([0.0, 5e-324, -5e-324, 1.0, np.nextafter(1.0, 2.0), -1.0, 1e308, -1e308, 1e-300])


def column(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    values = {
        "smooth": lambda: rng.standard_normal(n),
        "rounded": lambda: np.round(3 * rng.standard_normal(n)) + 0.0,
        "mass": lambda: np.where(rng.random(n) < 0.4, 0.0, rng.standard_normal(n)),
        "close": lambda: 1.0 + 2.0**-52 * rng.integers(0, 50, n),
        "wide": lambda: rng.standard_normal(n) * 10.0 ** rng.integers(-250, 250, n),
        "special": lambda: rng.choice(SPECIAL, n),
        "two": lambda: rng.choice([0.0, 1.0], n, p=[0.999, 0.001]),
        "gaps": lambda: np.where(rng.random(n) < 0.3, -np.inf, rng.standard_normal(n)),
        "few": lambda: np.where(rng.random(n) < 0.9, -np.inf, np.round(rng.standard_normal(n)) + 0.0),
    }[kind]()
    values[0] = 0.5  # never all missing
    return values


KINDS = ("smooth", "rounded", "mass", "close", "wide", "special", "two", "gaps", "few")


def asked(points: np.ndarray, parts: int) -> tuple[quantiles.Ask, list[int]]:
    """Questions to a table cut at random into parts, and the largest answers of each pass."""
    edges = np.sort(np.random.default_rng(parts).integers(0, len(points) + 1, parts - 1))
    pieces = np.split(points, edges)
    sizes: list[int] = []

    def ask(questions: Sequence[Question]) -> list[Tally]:
        answers = [[question.answer(piece) for piece in pieces] for question in questions]
        sizes.append(max(len(one.counts) for several in answers for one in several))
        return [reduce(add, several) for several in answers]

    return ask, sizes


def same_bins(points: np.ndarray, parts: int) -> int:
    expected = bin_features(points)
    ask, sizes = asked(points, parts)
    missing = np.isneginf(points).sum(axis=0).tolist()
    limits = number_limits(ask, range(points.shape[1]), len(points), missing)
    tables = bin_tables(limits, expected.tables.categories)
    for name in ("smallest", "largest", "scores"):
        np.testing.assert_array_equal(getattr(tables, name), getattr(expected.tables, name))
    np.testing.assert_array_equal(code_table(limits).apply(points), expected.codes)
    return len(sizes)


@pytest.mark.parametrize("parts", [1, 3, 16])
@pytest.mark.parametrize("n", [2, 7, 400, 5000])
def test_parts_give_the_bins_of_all_rows(parts: int, n: int) -> None:
    rng = np.random.default_rng([parts, n])
    same_bins(np.column_stack([column(kind, n, rng) for kind in KINDS]), parts)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0), min_size=1, max_size=60),
    st.integers(0, 20),
    st.integers(1, 5),
)
@settings(max_examples=60, deadline=None)
def test_any_numbers_and_gaps(values: list[float], gaps: int, parts: int) -> None:
    points = np.array([*values, *[-np.inf] * gaps])[:, None]
    same_bins(np.random.default_rng(0).permutation(points), parts)


def test_buckets_are_refined_where_too_many_rows_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    points = np.column_stack([column(kind, 3000, rng) for kind in KINDS])
    few = same_bins(points, 3)
    monkeypatch.setattr(quantiles, "LISTED", 0)  # to the last bit
    assert same_bins(points, 3) > few == 2
    monkeypatch.setattr(quantiles, "FEATURES_AT_ONCE", 2)
    same_bins(points, 3)


def test_large_pools_need_few_passes_and_small_answers() -> None:
    points = np.random.default_rng(2).standard_normal((200_000, 1))
    ask, sizes = asked(points, 2)
    number_limits(ask, [0], len(points), [0])
    assert len(sizes) == 2
    assert max(sizes) < 20_000


@pytest.mark.parametrize("missing", [0, 1, 500])
@pytest.mark.parametrize("levels", [1, 2, 5, 300])
def test_levels_from_their_counts(levels: int, missing: int) -> None:
    counts = np.sort(np.random.default_rng(levels).geometric(0.01, levels))[::-1]
    points = np.concatenate([np.full(missing, -np.inf), np.repeat(np.arange(float(levels)), counts)])[:, None]
    expected = bin_features(points, np.ones(1, np.bool_))
    limits = [level_limits(counts.tolist(), missing)]
    tables = bin_tables(limits, np.ones(1, np.bool_))
    for name in ("smallest", "largest", "scores"):
        np.testing.assert_array_equal(getattr(tables, name), getattr(expected.tables, name))
    np.testing.assert_array_equal(code_table(limits).apply(points), expected.codes)
