"""The other studies on the benchmark, in small: what they count is what is there."""

from __future__ import annotations

import json

import numpy as np
import pytest

import shiftscope as ss
from experiments.paper import full_space_rows, planted_shifts, refinement, remaining_shift, true_coordinates
from tests.quick import QUICK


def units_in(folder):
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


def test_true_coordinates(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(true_coordinates, "QUICK_ROWS", 600)
    true_coordinates.main(["--quick", "--seeds", "1", "--injected", "60", "--out", str(tmp_path)])
    units = units_in(tmp_path / "quick")
    assert set(units) == {"calibrated_60_0", "formula_60_0"}
    lines = capsys.readouterr().out.splitlines()[1:]
    for line, name in zip(lines, ("calibrated", "formula"), strict=True):
        unit = units[f"{name}_60_0"]
        removed = unit["removed"][1]
        assert 0.8 < removed / 60 < 1.2
        assert line.split()[:4] == [name, "60", "0", str(removed)]
        assert float(line.split()[5]) == pytest.approx(unit["removed_true"] / removed, abs=5e-4)
        assert unit["removed_true"] / removed > 0.9


def test_refinement_tells_of_each_mode_and_of_the_literal_form(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(refinement, "QUICK_ROWS", 300)
    monkeypatch.setattr(refinement, "PARAMS", ss.CompareParams(scan=None, localise=QUICK.localise, max_iterations=1))
    refinement.main(["--quick", "--seeds", "1", "--injected", "90", "--out", str(tmp_path)])
    unit = units_in(tmp_path / "quick")["90_0"]
    assert unit["detected"] is True
    assert unit["removed"] >= unit["removed_true"] > 0
    assert len(unit["literal"]) >= 1
    line = capsys.readouterr().out.splitlines()[1]
    assert line.split()[:2] == ["90", "0"]
    assert ("yes" in line.split()) == (unit["support"] == [2, 4, 6, 8, 9])


def test_a_part_of_the_rows_sees_an_obvious_group_and_none(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(full_space_rows, "INJECTED", (0, 150))
    full_space_rows.main(["--quick", "--seeds", "1", "--out", str(tmp_path)])
    units = units_in(tmp_path / "quick")
    assert min(units["0_0"][search] for search in full_space_rows.SEARCHES) > full_space_rows.LEVEL
    assert max(units["150_0"][search] for search in ("all", "design")) <= full_space_rows.LEVEL
    none, group = ([cell.split(",")[0] for cell in line.split(" | ")[1:3]] for line in tail(capsys, 2))
    assert (none, group) == (["0 of 1"] * 2, ["1 of 1"] * 2)


def tail(capsys, count):
    return capsys.readouterr().out.splitlines()[-count:]


@pytest.mark.parametrize("name", planted_shifts.DESIGNS)
def test_planted_groups_are_compact_and_nothing_else_is_touched(name):
    design = planted_shifts.DESIGNS[name](2000, np.random.default_rng(0))
    for planted in design.planted:
        if planted.side is None or name == "hole":
            continue
        rows = getattr(design, planted.side)[planted.rows]
        spread = rows.std(axis=0)
        assert np.all(spread[list(planted.features)] < 0.25)
        assert np.all(np.delete(spread, planted.features) > 0.5)


def test_the_hole_is_empty_in_the_current_sample_only():
    design = planted_shifts.hole(4000, np.random.default_rng(0))
    inside = [np.hypot(rows[:, 3], rows[:, 14]) < 0.25 for rows in (design.reference, design.current)]
    assert inside[1].sum() == 0
    assert np.array_equal(np.flatnonzero(inside[0]), design.planted[0].rows)
    assert inside[0].sum() > 10


def test_correlation_and_interaction_leave_smaller_sets_of_columns_alone():
    rng = np.random.default_rng(0)
    error = 5 / np.sqrt(20_000)
    pair = planted_shifts.correlation(20_000, rng)
    for sample, r in ((pair.reference, 0.0), (pair.current, 0.1)):
        assert np.corrcoef(sample[:, [12, 17]].T)[0, 1] == pytest.approx(r, abs=error)
    triple = planted_shifts.interaction(20_000, rng)
    for sample, share in ((triple.reference, 0.5), (triple.current, 0.56)):
        signs = np.sign(sample[:, [11, 15, 19]])
        assert np.mean(signs.prod(axis=1) > 0) == pytest.approx(share, abs=error)
        assert np.corrcoef(signs.T)[np.triu_indices(3, 1)] == pytest.approx(0.0, abs=error)


def two_groups(n, rng):
    """Groups in two of four columns, one on either side; a third shift is claimed and not there."""
    reference, current = rng.standard_normal((2, 400, 4))
    planted = [
        planted_shifts.Planted("current", (0, 2), planted_shifts.group(current, 80, (0, 2), rng)),
        planted_shifts.Planted("reference", (1, 3), planted_shifts.group(reference, 80, (1, 3), rng)),
        planted_shifts.Planted("current", (1, 3), np.arange(80)),
    ]
    return planted_shifts.Design(reference, current, tuple(planted))


def testrecovered_are_shifts_whose_columns_a_mode_of_their_side_has(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(planted_shifts.DESIGNS, "two groups", two_groups)
    planted_shifts.main(["--quick", "--seeds", "1", "--designs", "two groups", "--out", str(tmp_path)])
    unit = units_in(tmp_path / "quick")["two groups_0"]
    assert [planted["exact"] for planted in unit["planted"]] == [True, True, False]
    assert {(mode[0], *mode[1]) for mode in unit["modes"]} == {("current", 0, 2), ("reference", 1, 3)}
    assert all(planted["recall"] > 0.4 for planted in unit["planted"][:2])
    assert unit["planted"][2]["recall"] is None
    assert "2 of 3" in capsys.readouterr().out.splitlines()[1]


def test_what_remains_after_equalisation(tmp_path, capsys, monkeypatch):
    quick = ss.CompareParams(scan=ss.ScanParams(n_permutations=199, n_seeds=0, max_features=2))
    monkeypatch.setattr(remaining_shift, "PARAMS", quick)
    options = ["--shifts", "local", "--strengths", "60", "--rows", "200", "--out", str(tmp_path)]
    remaining_shift.main(options)
    unit = units_in(tmp_path)["local_60.0_200_0"]
    assert unit["removed"][1] >= unit["removed_shifted"] > 30
    names = [subset["name"] for subset in unit["subsets"]]
    assert [line[:16].strip() for line in capsys.readouterr().out.splitlines()[2:]] == names
    everything, equalised = (unit["subsets"][names.index(name)] for name in ("all rows", "equalised"))
    assert everything["removed"] == [0.0, 0.0]
    assert equalised["removed"][1] == pytest.approx(unit["removed"][1] / 260)
    assert remaining_shift.benchmark_pair("global", 1.0, 50, 0).support == (0, 1, 3)


def test_the_share_of_removed_rows_that_were_shifted_is_told():
    unit = {
        "shift": "local", "strength": 5, "rows": 9, "seed": 0, "shifted": 4, "removed": [1, 4], "removed_shifted": 3,
        "subsets": [{"name": "all rows", "removed": [0.0, 0.5], "checks": {"a": [0.5, 0.25]}}],
    }  # fmt: skip
    first, _, row = remaining_shift.table(unit).splitlines()
    assert "75%" in first
    assert " ".join(row.split()) == "all rows 0.00 %, 50.00 % 0.5 (p 0.25)"
    assert "nan%" in remaining_shift.table({**unit, "removed": [0, 0], "removed_shifted": 0})
