"""The studies of batches, suspected rows and equalised subsets, in small."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import shiftscope as ss
from experiments import equalised, monitoring, suspected_rows


def called(monkeypatch: pytest.MonkeyPatch, module, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
    module.main()
    return capsys.readouterr().out


def test_monitoring(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    for name, value in {"BATCHES": 3, "SHIFT_FROM": 3, "ROWS": 400, "BATCH": 200, "ALPHA": 0.2}.items():
        monkeypatch.setattr(monitoring, name, value)
    out = called(monkeypatch, monitoring, capsys, "--sequences", 2, "--shifted", 1, "--out", tmp_path)
    assert "of 2 sequences of 3 batches with a false alarm" in out
    assert out.splitlines()[-1].split()[:6] == ["0", "0", "3", "1", "of", "1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["null_0.json", "null_1.json", "shifted_0.json"]
    assert called(monkeypatch, monitoring, capsys, "--sequences", 2, "--shifted", 1, "--out", tmp_path) == out


def test_suspected_rows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    monkeypatch.setattr(suspected_rows, "POWER", ((40, 300),))
    monkeypatch.setattr(suspected_rows, "NULL_ROWS", 100)
    monkeypatch.setattr(suspected_rows, "POWER_SCAN", ss.ScanParams(n_permutations=127, n_seeds=32, beam=4))
    options = ("--nulls", 1, "--runs", 1, "--suspicions", "mixed", "--out", tmp_path)
    lines = called(monkeypatch, suspected_rows, capsys, *options).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == list(suspected_rows.SHIFTS)
    assert lines[-1].split()[:5] == ["40", "300", "mixed", "1", "1"]


def test_equalised(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    quick = ss.CompareParams(scan=ss.ScanParams(n_permutations=199, n_seeds=0, max_features=2))
    monkeypatch.setattr(equalised, "PARAMS", quick)
    options = ("--shifts", "local", "--strengths", 60, "--rows", 200, "--out", tmp_path)
    out = called(monkeypatch, equalised, capsys, *options)
    assert out.startswith("local 60, 200 rows, seed 0: removed ")
    assert [line.split("  ")[0] for line in out.splitlines()[2:]] == [
        "all rows",
        "equalised",
        "random removal",
        "density ratio",
    ]
    moved = equalised.benchmark_pair("global", 1.0, 50, 0)
    assert moved.support == (0, 1, 3)


def test_truth_of_the_removed_rows_is_told():
    unit = {
        "shift": "local", "strength": 5, "rows": 9, "seed": 0, "shifted": 4, "removed": [1, 4], "removed_shifted": 3,
        "subsets": [{"name": "all rows", "removed": [0.0, 0.5], "checks": {"a": [0.5, 0.25]}}],
    }  # fmt: skip
    text = equalised.table(unit)
    assert "removed 1 reference and 4 current rows, 75% of the latter truly shifted (4 are)" in text
    assert " ".join(text.splitlines()[-1].split()) == "all rows 0.00 %, 50.00 % 0.5 (p 0.25)"
    assert "nan%" in equalised.table({**unit, "removed": [0, 0], "removed_shifted": 0})
