"""What findings mean for rows: subsets under conditions, positions, and both samples exchanged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.engines.base import Gathered
from tests.quick import QUICK


@pytest.fixture(scope="module")
def result() -> ss.ShiftResult:
    """120 of 720 current rows gather in x0 and x1, 80 of 680 reference rows in x1 and x2."""
    rng = np.random.default_rng(2)
    samples = []
    for count, features, place in ((80, [1, 2], 1.2), (120, [0, 1], -1.2)):
        group = rng.standard_normal((count, 3))
        group[:, features] = place + 0.1 * rng.standard_normal((count, 2))
        samples.append(np.vstack([rng.standard_normal((600, 3)), group]))
    found = ss.compare(*samples, params=QUICK)
    assert {mode.side for mode in found.modes} == {"reference", "current"}
    return found


def test_subsets_under_conditions(result: ss.ShiftResult):
    whole = result.equalised()
    assert np.array_equal(whole.kept_reference, result.kept_reference)
    assert np.array_equal(whole.kept_current, result.kept_current)
    kept = result.equalised(keep="current")
    assert kept.kept_current.size == result.n_current
    assert np.array_equal(kept.removed_reference, whole.removed_reference)
    for at, mode in enumerate(result.modes):
        one = result.equalised(modes=[at])
        assert np.array_equal(getattr(one, f"removed_{mode.side}"), mode.rows)
    nothing = result.equalised(modes=[])
    assert nothing.removed_reference.size == nothing.removed_current.size == 0
    capped = result.equalised(max_share=0.05)
    assert capped.removed_current.size == int(0.05 * result.n_current)
    assert set(capped.removed_current) < set(whole.removed_current)
    assert set(capped.removed_current) <= set(next(m.rows for m in result.modes if m.side == "current"))


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"keep": "both"}, "keep must be 'reference', 'current' or None, got 'both'"),
        ({"modes": 1}, r"modes must be a sequence of positions, got 1"),
        ({"modes": "1"}, r"modes must be a sequence of positions, got '1'"),
        ({"max_share": "half"}, r"max_share must lie between 0 and 1, got 'half'"),
        ({"max_share": 1.5}, r"max_share must lie between 0 and 1, got 1\.5"),
        ({"modes": [9]}, r"modes must be positions from 0 to \d, got 9"),
    ],
)
def test_wrong_conditions_are_told(result: ss.ShiftResult, conditions: dict[str, object], message: str):
    with pytest.raises(ss.ParameterError, match=message):
        result.equalised(**conditions)  # type: ignore[arg-type]


def test_modes_of_a_result_without_any_are_refused(result: ss.ShiftResult):
    with pytest.raises(ss.ParameterError, match="modes: the result has none"):
        replace(result, modes=()).equalised(modes=[0])


def test_rows_go_mode_by_mode_then_the_rest_each_by_falling_score(result: ss.ShiftResult):
    """Against a plain loop, for every cap on the share."""
    scores = result.scores.current
    groups = [mode.rows.tolist() for mode in result.modes if mode.side == "current"]
    groups.append(sorted(set(range(result.n_current)) - set(result.kept_current.tolist())))
    order: list[int] = []
    for rows in groups:
        order += [row for row in sorted(rows, key=lambda row: (-scores[row], row)) if row not in order]
    for share in (0.0, 0.01, 0.1, 1.0):
        capped = result.equalised(max_share=share)
        assert set(capped.removed_current.tolist()) == set(order[: int(share * result.n_current + 1e-9)])


def test_a_subset_knows_what_it_lacks():
    subset = ss.Subset(np.array([0, 2, 3]), np.array([], dtype=np.intp), 5, 2)
    assert subset.removed_reference.tolist() == [1, 4]
    assert subset.removed_current.tolist() == [0, 1]


def test_positions_of_gathered_rows_are_those_of_the_samples(result: ss.ShiftResult):
    rows = np.array([1, 0])
    assert result.positions("current", rows).tolist() == [1, 0]
    gathered = replace(result, gathered=Gathered(np.array([10, 30]), np.array([20, 40]), 1234, 5678, (), ()))
    assert gathered.positions("reference", rows).tolist() == [30, 10]
    assert gathered.positions("current", rows).tolist() == [40, 20]
    assert gathered.swapped().positions("current", rows).tolist() == [30, 10]
    for number in ("1,234", "5,678", "680", "720"):
        assert number in gathered.notes[0]


def test_rows_of_a_mode_stand_behind_each_other_in_the_pool(result: ss.ShiftResult):
    for mode in result.modes:
        first = result.n_reference if mode.side == "current" else 0
        np.testing.assert_array_equal(result.in_pool(mode), mode.rows + first)
