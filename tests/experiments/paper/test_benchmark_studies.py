"""The two studies of the paper: their units, tables, figures and page."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import experiments
from experiments.paper import figures, global_shift, local_shift
from experiments.paper.outcome import table
from experiments.paper.protocols import PAPER
from experiments.paper.study import METHODS, run, unit_name
from experiments.paper.summaries import reaches, read_units, recall_at_budget, summarise

PAGE = Path(experiments.__file__).parents[1] / "docs" / "results" / "benchmark.md"


def test_the_papers_protocol_has_the_papers_values():
    equalise, localise = PAPER.equalise, PAPER.localise
    assert PAPER.scan is None
    assert (equalise.k_max, equalise.q_tail, equalise.alpha) == (400, 0.97, 0.05)
    assert (equalise.threshold, equalise.null) == ("formula", "simulated")
    assert (localise.k, localise.l1, localise.folds, localise.beta) == (100, 1e-2, 5, 0.2)
    assert (localise.tau_start, localise.tau_end) == (1.0, 0.1)
    assert (localise.batch_size, localise.query_fraction) == (200, 0.5)


def unit_of(study, setting, method, *, detected, support, truth, recall):
    """A unit as the studies write it."""
    unit = {
        study.setting: setting,
        "seed": 0,
        "method": method,
        "detected": detected,
        "support": support,
        "truth": truth if setting else [],
        "recall": recall if setting else None,
        "purity": recall if setting else None,
        "seconds": 2.0,
        "cpu_seconds": 3.0,
    }
    if method in ("default", "paper"):
        other = [] if method == "default" else [{"side": "reference", "features": [0, 19]}]
        modes = [{"side": "current", "features": support}] if support else []
        counts = {"rows": 2 * int(setting), "kept": [90, 80], "sizes": [100, 100], "p_formula": [0.5, 0.01]}
        return unit | counts | {"modes": modes + other}
    return unit | {"recall_400": recall if setting else None, "support_top": None}


def tiny_runs(folder):
    """Units of all methods: nothing at the first setting, everything at the last; one seed is missing in the middle."""
    for study, truth in ((local_shift.STUDY, [2, 4, 6, 8, 9]), (global_shift.STUDY, [0, 1, 3])):
        (folder / study.name).mkdir(parents=True)
        for setting, seeds in ((study.values[0], 2), (study.values[4], 1), (study.values[-1], 2)):
            for method in METHODS:
                names = method in ("default", "paper", "lightgbm", "ks", "l1")
                hit = setting == study.values[-1]
                unit = unit_of(
                    study,
                    setting,
                    method,
                    detected=None if method == "mlp" else hit,
                    support=(truth if hit else []) if names else None,
                    truth=truth,
                    recall=None if method in ("ks", "mmd") else 0.5,
                )
                for seed in range(seeds):
                    path = folder / study.name / f"{unit_name(setting, seed, method)}.json"
                    path.write_text(json.dumps(unit))


def test_rows_count_the_units_that_are_there(tmp_path):
    tiny_runs(tmp_path)
    rows = summarise(local_shift.STUDY, tmp_path / "local_shift")
    assert len(rows) == 3 * len(METHODS)
    by = {(row.method, row.setting): row for row in rows}
    assert [by["default", setting].seeds for setting in (0, 100, 500)] == [2, 1, 2]
    assert by["default", 500].detected == by["default", 500].exact == 2
    assert by["default", 100].exact == 0
    assert by["paper", 500].exact_current == 2  # whatever is found on the other side
    assert by["paper", 100].exact_current == 0
    assert by["ks", 500].exact_current is None
    assert by["default", 500].pruned.mean == 2.0
    assert by["default", 500].recall_400.mean == 0.5 * 400 / 1000  # 400 of the 1,000 rows it names
    assert by["default", 500].inclusion == tuple(float(f in (2, 4, 6, 8, 9)) for f in range(20))
    assert by["paper", 0].formula_rejects == 2
    assert by["mlp", 500].detected is None
    assert by["mlp", 500].recall_400.mean == 0.5
    assert by["ks", 500].recall is None
    reach = {one.method: one for one in reaches(local_shift.STUDY, rows)}
    assert (reach["default"].detected_from, reach["default"].exact_from) == (500, 500)
    assert reach["default"].false_alarms == 0
    assert reach["mlp"].detected_from is None


def test_small_sets_of_rows_are_not_filled_up_to_the_budget():
    assert recall_at_budget({"rows": 100, "recall": 0.5}) == 0.5
    assert recall_at_budget({"rows": 800, "recall": 1.0}) == 0.5
    assert recall_at_budget({"rows": 0, "recall": None}) is None


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder with what the figure command makes of tiny runs: runs/, out/, and a copy of the page of the docs."""
    folder = tmp_path_factory.mktemp("drawn")
    tiny_runs(folder / "runs")
    page = folder / "page.md"
    shutil.copy(PAGE, page)
    with redirect_stdout(io.StringIO()) as told:
        figures.main(["--runs", str(folder / "runs"), "--out", str(folder / "out"), "--page", str(page)])
    assert {Path(line) for line in told.getvalue().split()} == {page, *(folder / "out").iterdir()}
    return folder


def test_the_figure_command_writes_tables_and_pictures(drawn):
    written = {path.name for path in (drawn / "out").iterdir()}
    pictures = {"global_shift.png", "local_shift.png", "detection.png"}
    tables = {f"{study}{end}.csv" for study in ("global_shift", "local_shift") for end in ("", "_inclusion")}
    assert pictures | tables | {"smallest_shift.csv"} <= written
    for name in pictures:
        assert (drawn / "out" / name).stat().st_size <= 200_000
        assert np.ptp(np.asarray(Image.open(drawn / "out" / name).convert("L"))) > 200
    lines = (drawn / "out" / "local_shift.csv").read_text().splitlines()
    assert lines[0].startswith("injected,method,seeds,detected,exact")
    assert lines[1].startswith("0,default,2,0,2")
    assert len(lines) == 1 + 3 * len(METHODS)


def test_the_figure_command_fills_the_page_of_the_docs(drawn):
    lines = (drawn / "page.md").read_text().splitlines()
    assert lines[0] == PAGE.read_text().splitlines()[0]
    ours = "2/2 | 2/2 | 2/2 | 0.500 | 0.500 | 2.000"
    assert f"| 500 | {ours} | {ours} | 2/2 |" in lines
    assert any(line.startswith("| 100 | 0/1 | 0/1 | 0/1 |") for line in lines)
    start = lines.index("<!-- local detected -->") + 2
    detected = lines[start : lines.index("<!-- / -->", start) - 1]
    assert detected[:3] == [
        "| method | 0 | 100 | 500 |",
        "| --- | --- | --- | --- |",
        "| shiftscope (default) | 0/2 | 0/1 | 2/2 |",
    ]
    assert len(detected) == 2 + len(METHODS) - 1  # the paper's MLP has no test
    assert "| local shift | shiftscope (default) | 0 | 500 | 500 | - |" in lines


def test_a_study_draws_its_figures_from_whatever_units_there_are(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(figures, "DPI", 40)
    command = ["--quick", "--methods", "ks", "--injected", "300", "--seeds", "1", "--out", str(tmp_path)]
    run(local_shift.STUDY, None, command)
    drawn = tmp_path / "quick" / "figures"
    assert {path.name for path in drawn.glob("*.png")} == {"local_shift.png", "detection.png"}
    assert str(drawn / "local_shift.csv") in capsys.readouterr().out
    (unit,) = (tmp_path / "quick").glob("*.json")
    unit.write_text(json.dumps({**json.loads(unit.read_text()), "detected": None}))  # as of a method without a test
    (drawn / "detection.png").unlink()
    run(local_shift.STUDY, None, command)
    assert not (drawn / "detection.png").exists()


def test_the_same_rows_give_the_same_files(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "DPI", 40)
    tiny_runs(tmp_path)
    rows = summarise(global_shift.STUDY, tmp_path / "global_shift")
    first, second = ({path.name: path.read_bytes() for path in _saved(rows, tmp_path)} for _ in range(2))
    assert set(first) == {"global.png", "global.svg"}
    assert first == second


def _saved(rows, folder):
    return figures.save(figures.global_figure(rows), folder, "global")


def test_the_figure_command_says_when_there_is_nothing(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        figures.main(["--runs", str(tmp_path), "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert str(tmp_path) in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_the_printed_table_counts_units_and_shows_a_dash_where_a_method_is_silent(tmp_path):
    tiny_runs(tmp_path)
    units = read_units(tmp_path / "local_shift")
    of = {method: [unit for unit in units if unit["method"] == method] for method in ("default", "mlp")}
    ours, silent = (table(of[method], "injected").splitlines()[-1].split() for method in of)
    assert ours == ["500", "2", "2", "2", "0.500", "0.500", "2.0"]
    assert silent == ["500", "2", "-", "-", "0.500", "0.500", "2.0"]


def test_names_of_units():
    assert unit_name(0.05, 3, "default") == "0.05_3"
    assert unit_name(300, 3, "mlp") == "300_3_mlp"
