"""Suspected rows: features where they stand out, a p-value valid after the search, or "none"."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import shiftscope as ss
from shiftscope.subspaces.scan import scan_points

QUICK = ss.ScanParams(n_permutations=127, n_seeds=16, beam=4)
SMALL = ss.ScanParams(n_permutations=39, n_seeds=0, max_features=2)
N = 600


def samples(seed: int = 0, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    reference, current = rng.standard_normal((2, N, d))
    return reference, current


def planted() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """40 of 50 suspected rows form a compact group in x1 and x3; the other 10 are ordinary."""
    reference, current = samples()
    rows = np.random.default_rng(1).choice(N, 50, replace=False)
    current[np.ix_(rows[:40], [1, 3])] = (1.0, -1.0) + 0.1 * np.random.default_rng(2).standard_normal((40, 2))
    return reference, current, rows


def test_a_planted_group_is_explained():
    reference, current, rows = planted()
    found = ss.explain_rows(reference, current, rows, params=QUICK, k_max=100)
    assert found.explained
    assert found.p_value == 1 / 128
    assert set(found.features) == {"x1", "x3"}
    assert {one.feature: one.word for one in found.directions} == {"x1": "higher", "x3": "lower"}
    assert set(found.rows) <= set(rows)
    assert np.isin(rows[:40], found.rows).mean() > 0.9
    assert np.array_equal(found.suspected, np.sort(rows))
    assert found.inside is not None
    assert found.inside.suspected >= 36
    assert found.inside.reference + found.inside.other_current < 60
    assert re.match(r"Explained\b.*\bp = 0\.0078", str(found))
    assert str(found).index(found.features[0]) < str(found).index(found.features[1])
    assert json.loads(found.to_json())["features"] == list(found.features)


def test_the_group_is_not_explained_by_other_rows():
    reference, current, rows = planted()
    others = np.setdiff1d(np.arange(N), rows)[:50]
    found = ss.explain_rows(reference, current, others, params=QUICK)
    assert not found.explained
    assert (found.features, found.rows.size, found.directions, found.inside) == ((), 0, (), None)
    assert str(found).startswith("Not explained")


def test_a_mask_is_the_same_as_positions():
    reference, current, rows = planted()
    mask = np.zeros(N, dtype=bool)
    mask[rows] = True
    found = [ss.explain_rows(reference, current, given, params=QUICK, k_max=50) for given in (mask, [*rows, rows[0]])]
    assert found[0].to_json() == found[1].to_json()


def test_a_level_is_explained_as_such():
    rng = np.random.default_rng(4)
    frames = [
        pd.DataFrame({"v": rng.standard_normal(300), "site": rng.choice(["a", "b", "c"], 300, p=(0.6, 0.3, 0.1))})
        for _ in range(2)
    ]
    rows = np.concatenate([np.flatnonzero(frames[1]["site"] == "c")[:20], [0, 1, 2]])
    found = ss.explain_rows(*frames, rows, params=QUICK)
    assert found.features == ("site",)
    assert found.directions[0].level == "c"
    assert set(found.rows) <= set(rows)


def test_rows_that_avoid_a_region_are_explained():
    reference, current = samples(3, d=2)
    rows = np.flatnonzero(current[:, 0] < 0.6)[:200]
    found = ss.explain_rows(reference, current, rows, params=QUICK)
    assert "x0" in found.features
    assert found.rows.size > 0


def test_random_rows_are_explained_at_the_rate_stated_even_in_a_shifted_current():
    """All of current is shifted; which rows are suspected is chance. A permutation of all labels would reject."""
    p_values = []
    for seed in range(60):
        reference, current = (rows[:80] for rows in samples(seed, d=2))
        rows = np.random.default_rng(seed + 999).choice(80, 25, replace=False)
        p_values.append(ss.explain_rows(reference, current + 1.0, rows, alpha=0.2, params=SMALL).p_value)
    low, high = binom.interval(0.998, len(p_values), 0.2)
    assert low <= np.sum(np.array(p_values) <= 0.2) <= high
    free = scan_points(np.vstack([reference, current + 1.0]), 80, ("x0", "x1"), SMALL)
    assert free.p_value == 1 / 40  # negative control: the shift itself is plain to see


def test_one_row_is_no_evidence():
    reference, current = samples(6, d=2)
    assert not ss.explain_rows(reference, current, [7], params=QUICK).explained


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "rows: none is given"),
        ([0, N], f"rows must lie between 0 and {N - 1}"),
        ([-1], "count from 0"),
        ([0.5], "rows must be positions in current, found float64"),
        (np.ones(3, dtype=bool), r"rows: a mask of shape \(3,\) was given"),
        (np.arange(N), "rows: all rows of current are suspected"),
    ],
)
def test_unusable_rows_are_refused(rows: object, message: str):
    with pytest.raises(ss.InputError, match=message):
        ss.explain_rows(*samples(), rows)  # type: ignore[arg-type]


def test_levels_out_of_reach_are_refused():
    with pytest.raises(ss.ParameterError, match=r"alpha = 0\.001 is out of reach of 39 labellings"):
        ss.explain_rows(*samples(), [1, 2], alpha=0.001, params=SMALL)
    with pytest.raises(ss.ParameterError, match="alpha must lie strictly between 0 and 1"):
        ss.explain_rows(*samples(), [1, 2], alpha=1.0)
