from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.benchmark20d import Pair, local_pair
from experiments.paper import protocols
from experiments.paper.outcome import compared
from tests.quick import QUICK

INJECTED = 60


@pytest.fixture(scope="module")
def pair():
    """A compact group in x0 and x2 of the current sample: its last rows."""
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((2, 400, 3))
    current[-INJECTED:, [0, 2]] = (1.5, -1.0) + 0.1 * rng.standard_normal((INJECTED, 2))
    return Pair(reference, current, np.arange(400) >= 400 - INJECTED, (0, 2))


def test_a_result_is_held_against_the_truth(pair):
    result, unit = compared(pair, QUICK)
    assert unit["detected"] is True
    assert unit["support"] == unit["truth"] == [0, 2]
    named = set(np.concatenate([mode.rows for mode in result.modes if mode.side == "current"]).tolist())
    injected = set(range(400 - INJECTED, 400))
    assert unit["rows"] == len(named)
    assert unit["recall"] == len(named & injected) / INJECTED > 0.8
    assert unit["purity"] == len(named & injected) / len(named) > 0.8
    assert unit["sizes"] == [400, 400]
    assert unit["kept"] == [result.kept_reference.size, result.kept_current.size]
    assert [mode["side"] for mode in unit["modes"]] == [mode.side for mode in result.modes]
    assert unit["cpu_seconds"] > 0
    assert json.loads(json.dumps(unit))["modes"][0]["features"] == [0, 2]


def test_rows_of_the_other_side_are_never_true(pair):
    swapped = Pair(pair.current, pair.reference, np.ones(400, dtype=bool), (0, 2))
    _, unit = compared(swapped, QUICK)
    assert {mode["side"] for mode in unit["modes"]} == {"reference"}
    assert [mode["true"] for mode in unit["modes"]] == [0] * len(unit["modes"])
    assert (unit["rows"], unit["recall"], unit["purity"]) == (0, 0.0, None)


def test_where_nothing_is_shifted_there_is_no_recall():
    _, unit = compared(local_pair(0, seed=0, n=150), protocols.PAPER)
    assert (unit["truth"], unit["support"], unit["recall"], unit["detected"]) == ([], [], None, False)
    assert sum(unit["kept"]) == 300


def test_the_papers_unit_tells_what_its_own_rule_prunes():
    unit = protocols.paper_unit(local_pair(0, seed=1, n=150), 1)
    assert unit["detected"] is False
    assert min(unit["p_formula"]) <= 1.0
    assert (sum(unit["removed"]) > 0) == (min(unit["p_formula"]) <= 0.05)
    assert unit["removed_true"] == 0
