"""The studies of levels and intervals, in small."""

from __future__ import annotations

import json

import numpy as np
import pytest

import shiftscope as ss
from experiments.calibration import (
    excess_interval,
    false_alarms,
    monitoring,
    real_halves,
    suspected_rows,
    tail_tests,
    two_shifts,
)

SMALL = ss.EqualiseParams(k_max=40)


def units_in(folder):
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


# ---- score tails ----


def test_the_study_of_tails_goes_on_where_it_stopped(tmp_path, capsys):
    command = ["--n", "40", "--dims", "3", "--out", str(tmp_path), "--seeds"]
    tail_tests.main([*command, "2"])
    written = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert {file.name for file in written} == {f"n40_d3_k400_b199_pair{seed:04d}.json" for seed in range(2)}
    tail_tests.main([*command, "3"])
    assert len(list(tmp_path.iterdir())) == 3
    assert all(file.stat().st_mtime_ns == time for file, time in written.items())
    verdicts = np.array([unit["verdict"] for unit in units_in(tmp_path).values()])
    line = capsys.readouterr().out.splitlines()[-6]
    assert f"{np.sum(verdicts <= 0.05)} of 3" in line


def test_the_formula_is_that_of_equalisation():
    reference, current = tail_tests.null_pair(150, 3, 0)
    for moved in (0.0, 0.4):
        found = tail_tests.p_values(reference, current + moved, params=ss.CompareParams(scan=None, equalise=SMALL))
        params = ss.EqualiseParams(threshold="formula", max_rounds=1)
        before = ss.equalise(reference, current + moved, SMALL.k_max, params=params).before
        assert found["formula"] == pytest.approx([state.p_value for state in before])
        assert (min(found["verdict"], *found["shape"]) <= 0.01) == (moved > 0)


# ---- false alarms and intervals ----


@pytest.mark.parametrize("kind", sorted({setting[0] for setting in false_alarms.SETTINGS.values()}))
def test_distributions_have_the_rows_and_the_look_they_are_named_for(kind):
    rows = false_alarms.draw(kind, 400, 6, np.random.default_rng(0))
    assert rows.shape == (400, 6)
    if kind == "mixed":
        assert rows["dose"].is_nan().sum() > 10
        return
    far = np.abs(rows).max()
    correlation = np.corrcoef(rows.T)[0, 1]
    assert (far > 15) == (kind == "heavy")
    assert bool(np.all(rows == np.round(rows))) == (kind == "integer")
    assert (correlation > 0.9) == (kind == "correlated")


def test_false_alarms_are_counted_by_setting(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(false_alarms.SETTINGS, "small-d10", ("gaussian", 60, 60, 2))
    false_alarms.main(["--quick", "--settings", "small-d10", "--seeds", "2", "--out", str(tmp_path)])
    units = units_in(tmp_path / "quick")
    assert set(units) == {"small-d10_0", "small-d10_1"}
    for unit in units.values():
        assert unit["p_value"] == min(1.0, 2 * min(unit["p_scan"], unit["p_full"]))
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()[1:]] == [["small-d10", "2"], ["all", "2"]]


def test_more_alarms_than_an_exact_test_gives_are_marked():
    units = [{"setting": "a", "p_value": p, "p_scan": 0.5, "p_full": 0.5} for p in (0.001, 0.002, 0.003, 0.5)]
    cells = false_alarms.table(units).splitlines()[1].split("  ")
    assert [cell.strip() for cell in cells if "!" in cell] == ["3 [0, 2] !", "3 [0, 1] !"]


def test_the_interval_is_that_of_the_mode_with_most_of_the_group(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(excess_interval, "N", 800)
    excess_interval.main(["--quick", "--injected", "150", "--seeds", "1", "--out", str(tmp_path)])
    unit = units_in(tmp_path / "quick")["coverage_150_0"]
    low, high = unit["interval"]
    assert low < unit["excess"] < high
    covered = int(low <= 150 / 800 <= high)
    assert capsys.readouterr().out.splitlines()[1].split()[:4] == ["150", "1", "1", str(covered)]


# ---- batches and suspected rows ----


def test_monitoring(capsys, tmp_path):
    command = ["--quick", "--seeds", "1", "--out", str(tmp_path)]
    monitoring.main(command)
    out = capsys.readouterr().out
    assert set(units_in(tmp_path / "quick")) == {"null_0", "shifted_0"}
    assert out.splitlines()[-1].split()[:6] == ["0", "0", "3", "1", "of", "1"]
    monitoring.main(command)
    assert capsys.readouterr().out == out


def test_sequences_with_a_false_alarm_are_counted_once():
    calm = {"alarms": [], "p_values": [0.5, 0.2, 0.04], "permutations": [9, 9, 9]}
    units = [calm, {**calm, "alarms": [1, 3], "p_values": [0.001, 0.6, 0.002]}]
    first, second = monitoring.null_table(monitoring.QUICK, units).splitlines()
    assert "1 of 2 " in first
    assert "3 of 6" in second


def test_suspected_rows(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(suspected_rows, "NULL_ROWS", 100)
    suspected_rows.main(["--quick", "--seeds", "1", "--suspicions", "mixed", "--out", str(tmp_path)])
    units = units_in(tmp_path / "quick")
    assert set(units) == {"equal_0", "local_0", "global_0", "40_300_mixed_0"}
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == list(suspected_rows.SHIFTS)
    assert lines[-1].split()[:5] == ["40", "300", "mixed", "1", "1"]
    assert units["40_300_mixed_0"]["recall"] == 1.0
    assert 0.4 < units["40_300_mixed_0"]["purity"] < 1.0  # half of the suspected rows are ordinary ones


# ---- halves of files ----


def test_halves_of_a_file_are_cut_as_they_stand(tmp_path, capsys):
    tables = tmp_path / "tables"
    tables.mkdir()
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b}\n" for a, b in zip(rng.normal(size=60), rng.integers(9, size=60), strict=True)]
    (tables / "headed.csv").write_text("a,b\n" + "".join(rows) + ",\n")
    (tables / "bare.csv").write_text("".join(rows))
    for name in ("headed.csv", "bare.csv"):
        paths = real_halves.halves(tables / name, 50, 1, tmp_path)
        found = [path.read_text().splitlines(keepends=True) for path in paths]
        assert [lines[0] == "a,b\n" for lines in found] == [name == "headed.csv"] * 2
        body = [line for lines in found for line in lines if line != "a,b\n"]
        assert len(body) == 50
        assert {*body} <= {*rows}
    real_halves.main(["--tables", str(tables), "--seeds", "1", "--out", str(tmp_path / "units")])
    assert len(units_in(tmp_path / "units")) == 2
    assert "all" in capsys.readouterr().out


def test_two_shifts(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(two_shifts, "N", 150)
    two_shifts.main(["--quick", "--seeds", "1", "--designs", "level + scale", "--out", str(tmp_path)])
    unit = units_in(tmp_path / "quick")["level + scale_0"]
    assert unit["detected"]
    assert (unit["fresh"] is not None) == unit["cleared"]
    told, named = all(unit["told"]), all(unit["named"])
    line = ["level", "+", "scale", "1", str(int(told)), str(int(named)), str(unit["others"]), str(int(unit["cleared"]))]
    assert capsys.readouterr().out.splitlines()[1].split()[:8] == line


def test_a_sentence_that_a_fresh_comparison_contradicts_is_counted():
    unit = {"design": "gap", "told": [True], "named": [True], "others": 0, "cleared": True, "fresh": 0.5}
    units = [unit, {**unit, "fresh": 0.01}, {**unit, "told": [False], "cleared": False, "fresh": None}]
    assert two_shifts.table(units).splitlines()[1].split() == ["gap", "3", "2", "3", "0", "2", "1"]
