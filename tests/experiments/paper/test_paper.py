from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from experiments import figures, global_shift, local_shift
from experiments.benchmark20d import (
    DIMENSION,
    GLOBAL_COMPONENT,
    LOCAL_COMPONENT,
    LOCAL_SCALES,
    MEANS,
    VARIANCES,
    WEIGHTS,
    background,
    global_pair,
    local_cluster,
    local_pair,
    random_rotation,
)
from experiments.protocols import PAPER
from experiments.shared_search import SharedSearch
from experiments.study import METHODS, parse_seeds, run, unit_name
from experiments.summaries import reaches, read_units, recall_at_budget, summarise
from experiments.units import compared, duration, run_units, table, write_whole
from shiftscope.engines.local import LocalEngine

# The supplement's lines, typed again as they stand there.
SUPPLEMENT_MEANS = """
0.0,0.0,0.5,-0.5,0.0,0.3,0.0,0.0,0.2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
2.5,-1.0,-0.5,1.0,0.5,-0.3,0.0,0.2,-0.2,0.0,0.0,0.1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
-2.0,1.5,0.0,0.5,-1.0,0.0,0.3,-0.2,0.0,0.0,0.2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
1.0,2.0,-1.0,-1.0,0.0,0.5,-0.5,0.0,0.0,0.3,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
"""
SUPPLEMENT_VARIANCES = """
1.2,1.0,0.8,0.9,0.7,0.8,1.0,1.0,0.9,1.0,1.0,1.0,1.0,0.8,0.8,0.8,0.9,0.9,0.9,0.9
0.9,1.1,0.7,0.8,0.8,0.7,1.0,0.9,1.0,1.0,1.0,0.9,1.0,0.8,0.8,0.8,1.0,1.0,0.9,0.9
1.0,0.8,1.0,0.9,0.7,1.1,0.8,0.9,1.0,1.0,0.9,1.0,1.0,0.9,0.8,0.8,0.8,0.9,0.9,1.0
1.1,0.9,0.8,1.0,0.8,0.8,0.9,1.0,1.0,0.9,1.0,1.0,0.9,0.8,0.8,0.8,0.9,0.9,1.0,1.0
"""
SIGMAS = 5.0  # allowed deviation of an estimate, in its standard errors


def numbers(text):
    return np.array([[float(word) for word in line.split(",")] for line in text.split()])


def test_the_mixture_is_that_of_the_supplement():
    assert np.array_equal(MEANS, numbers(SUPPLEMENT_MEANS))
    assert np.array_equal(VARIANCES, numbers(SUPPLEMENT_VARIANCES))
    assert WEIGHTS.tolist() == [0.35, 0.30, 0.20, 0.15]
    assert WEIGHTS[GLOBAL_COMPONENT] == 0.30
    assert WEIGHTS[LOCAL_COMPONENT] == 0.35


def test_background_rows_have_the_moments_of_their_component():
    rows, component = background(20_000, np.random.default_rng(0))
    for m in range(4):
        mine = rows[component == m]
        error = np.sqrt(VARIANCES[m] / len(mine))
        assert np.all(np.abs(mine.mean(axis=0) - MEANS[m]) < SIGMAS * error)
        assert np.all(np.abs(mine.var(axis=0) / VARIANCES[m] - 1) < SIGMAS * np.sqrt(2 / len(mine)))
        assert abs(len(mine) / len(rows) - WEIGHTS[m]) < SIGMAS * np.sqrt(WEIGHTS[m] / len(rows))


def test_a_global_pair_displaces_one_component_along_three_coordinates():
    still, moved = global_pair(0.0, seed=3, n=2000), global_pair(0.2, seed=3, n=2000)
    assert still.support == ()
    assert not still.shifted.any()
    assert moved.support == (0, 1, 3)
    assert np.array_equal(still.reference, moved.reference)
    expected = np.zeros((2000, DIMENSION))
    expected[np.ix_(moved.shifted, [0, 1, 3])] = 0.2
    assert np.allclose(moved.current - still.current, expected)
    assert abs(moved.shifted.mean() - 0.30) < SIGMAS * np.sqrt(0.3 / 2000)


def test_a_local_pair_adds_the_cluster_to_the_current_sample_only():
    pair = local_pair(40, seed=3, n=500)
    assert pair.reference.shape == (500, DIMENSION)
    assert pair.current.shape == (540, DIMENSION)
    assert np.flatnonzero(pair.shifted).tolist() == list(range(500, 540))
    assert pair.support == (2, 4, 6, 8, 9)


def test_the_cluster_lies_where_the_supplement_puts_it():
    rows = local_cluster(20_000, np.random.default_rng(0))
    active = [2, 4, 6, 8, 9]
    deviation = np.sqrt(VARIANCES[0])
    standard = (rows - MEANS[0]) / deviation
    anchor = np.array([1.1, -0.4, 0.4, -0.2, 0.3])
    error = 0.11 / np.sqrt(len(rows))
    assert np.all(np.abs(standard[:, active].mean(axis=0) - anchor) < SIGMAS * error)
    axes = np.sqrt(np.linalg.eigvalsh(np.cov(standard[:, active].T)))[::-1]
    assert np.allclose(axes, np.sort(LOCAL_SCALES)[::-1], rtol=0.05)
    assert LOCAL_SCALES.tolist() == [0.11, 0.08, 0.04, 0.04, 0.03]
    inactive = np.setdiff1d(np.arange(DIMENSION), active)
    assert np.allclose(standard[:, inactive].std(axis=0), 0.7, rtol=0.05)


def test_rotations_are_proper():
    turn = random_rotation(5, np.random.default_rng(0))
    assert np.allclose(turn @ turn.T, np.eye(5))
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_units_there_are_not_computed_again_and_parts_are_ignored(tmp_path):
    (tmp_path / "1_0.json").write_text('{"value": "kept"}')
    (tmp_path / "2_0.part").write_text('{"value": "dama')
    (tmp_path / "2_0.77.part").write_text("")
    asked = []

    def compute(setting, seed):
        asked.append((setting, seed))
        return {"value": setting}

    assert run_units([(1, 0), (2, 0)], compute, tmp_path) == [{"value": "kept"}, {"value": 2}]
    assert asked == [(2, 0)]
    assert run_units([(1, 0), (2, 0)], compute, tmp_path)[1] == {"value": 2}
    assert asked == [(2, 0)]


def test_an_interrupt_keeps_what_is_done(tmp_path, capsys):
    def compute(setting):
        if setting == 2:
            raise KeyboardInterrupt
        return {"value": setting}

    with pytest.raises(SystemExit) as stopped:
        run_units([(1,), (2,), (3,)], compute, tmp_path)
    assert stopped.value.code == 130
    assert "stopped after 1 of 3 missing units" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["1.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_whole(path, "new")
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("words", "seeds"),
    [(["3"], [0, 1, 2]), (["3-5"], [3, 4, 5]), (["1", "4-6", "1"], [1, 4, 5, 6]), (["7", "2"], [7, 2])],
)
def test_seeds_are_a_number_a_list_or_a_range(words, seeds):
    assert parse_seeds(words) == seeds


@pytest.mark.parametrize("words", [["many"], ["0"], ["5-3"], ["5-3", "7"]])
def test_a_wrong_seed_is_one_clear_line(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(local_shift.STUDY, None, ["--seeds", *words])
    assert stopped.value.code == 2
    expected = f"expected a number from 1, a list, or ranges such as 3-10, found {' '.join(words)}"
    assert expected in capsys.readouterr().err


def test_names_of_units():
    assert unit_name(0.05, 3, "default", quick=False) == "0.05_3"
    assert unit_name(300, 3, "mlp", quick=False) == "300_3_mlp"
    assert unit_name(300, 3, "mlp", quick=True) == "quick_300_3_mlp"


def test_durations():
    assert [duration(seconds) for seconds in (4.4, 125, 3 * 3600 + 61)] == ["4 s", "2 min", "3 h 1 min"]


def test_a_search_is_shared_and_its_cost_is_not_forgotten():
    points = np.random.default_rng(0).standard_normal((300, 4))
    engine = SharedSearch(features=4)
    first = engine.knn(points, 7)
    assert engine.spared.seconds == 0.0
    assert engine.knn(points.copy(), 7) is first
    cost = engine.spared.seconds
    assert cost > 0.0
    assert engine.knn(points, 8).index.shape == (300, 8)
    assert engine.knn(points + 1e-9, 8) is not first
    narrow = engine.knn(points[:, :2], 5)
    some = engine.knn(points, 5, np.array([4, 9]))
    assert engine.spared.seconds == cost
    expected = LocalEngine().knn(points[:, :2], 5)
    assert np.array_equal(narrow.index, expected.index)
    assert np.array_equal(some.index, LocalEngine().knn(points, 5, np.array([4, 9])).index)
    assert np.array_equal(first.index, LocalEngine().knn(points, 7).index)
    others = points[:20] + 0.1
    assert np.array_equal(engine.nearest(points, 3, others).index, LocalEngine().nearest(points, 3, others).index)


def test_the_papers_protocol_has_the_papers_values():
    equalise, localise = PAPER.equalise, PAPER.localise
    assert PAPER.scan is None
    assert (equalise.k_max, equalise.q_tail, equalise.alpha) == (400, 0.97, 0.05)
    assert (equalise.threshold, equalise.null) == ("formula", "simulated")
    assert (localise.k, localise.l1, localise.folds, localise.beta) == (100, 1e-2, 5, 0.2)
    assert (localise.tau_start, localise.tau_end) == (1.0, 0.1)
    assert (localise.batch_size, localise.query_fraction) == (200, 0.5)


def test_a_compared_pair_is_held_against_the_truth():
    pair = global_pair(0.0, seed=0, n=150)
    unit = compared(pair, PAPER)
    assert unit["truth"] == []
    assert unit["sizes"] == [150, 150]
    assert unit["recall"] is None
    assert sum(unit["kept"]) == 300
    assert unit["cpu_seconds"] > 0
    assert {"p_value", "p_scan", "p_full", "detected", "support", "modes", "rows", "purity", "timings"} < set(unit)
    assert json.loads(json.dumps(unit)) is not None


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
                    path = folder / study.name / f"{unit_name(setting, seed, method, quick=False)}.json"
                    path.write_text(json.dumps(unit))


def test_rows_count_the_units_that_are_there(tmp_path):
    tiny_runs(tmp_path)
    rows = summarise(local_shift.STUDY, tmp_path / "local_shift", quick=False)
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
    assert table(
        [unit for unit in read_units(tmp_path / "local_shift", quick=False) if unit["method"] == "mlp"], "injected"
    )
    assert read_units(tmp_path / "local_shift", quick=True) == []


def test_small_sets_of_rows_are_not_filled_up_to_the_budget():
    assert recall_at_budget({"rows": 100, "recall": 0.5}) == 0.5
    assert recall_at_budget({"rows": 800, "recall": 1.0}) == 0.5
    assert recall_at_budget({"rows": 0, "recall": None}) is None


def test_the_figure_command_writes_tables_and_pictures(tmp_path, capsys):
    tiny_runs(tmp_path / "runs")
    figures.main(["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")])
    written = {Path(line).name for line in capsys.readouterr().out.split()}
    pictures = {"global_shift.png", "local_shift.png", "detection.png"}
    tables = {f"{study}{end}.csv" for study in ("global_shift", "local_shift") for end in ("", "_inclusion")}
    assert pictures | tables | {"smallest_shift.csv"} <= written
    assert {path.name for path in (tmp_path / "out").iterdir()} == written
    for name in pictures:
        assert (tmp_path / "out" / name).stat().st_size <= 200_000
        assert np.ptp(np.asarray(Image.open(tmp_path / "out" / name).convert("L"))) > 200
    lines = (tmp_path / "out" / "local_shift.csv").read_text().splitlines()
    assert lines[0].startswith("injected,method,seeds,detected,exact")
    assert lines[1].startswith("0,default,2,0,2")
    assert len(lines) == 1 + 3 * len(METHODS)


def test_a_study_draws_its_figures_from_whatever_units_there_are(tmp_path, capsys):
    command = ["--quick", "--methods", "ks", "--injected", "300", "--seeds", "1", "--out", str(tmp_path)]
    run(local_shift.STUDY, None, command)
    pictures = {path.name for path in (tmp_path / "figures").glob("*.png")}
    assert pictures == {"local_shift.png", "detection.png"}
    assert str(tmp_path / "figures" / "local_shift.csv") in capsys.readouterr().out
    (unit,) = tmp_path.glob("*.json")
    unit.write_text(json.dumps({**json.loads(unit.read_text()), "detected": None}))  # as of a method without a test
    (tmp_path / "figures" / "detection.png").unlink()
    run(local_shift.STUDY, None, command)
    assert not (tmp_path / "figures" / "detection.png").exists()


def test_the_figure_command_fills_a_page(tmp_path):
    tiny_runs(tmp_path / "runs")
    page = tmp_path / "page.md"
    tables = ("protocols", "detected", "exact", "purity", "recall", "time")
    names = [f"{kind} {table}" for kind in ("global", "local") for table in tables]
    marks = [f"<!-- {name} --><!-- / -->" for name in [*names, "smallest shift"]]
    page.write_text("Prose.\n" + "\n".join(marks))
    figures.main(["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out"), "--page", str(page)])
    text = page.read_text()
    assert text.startswith("Prose.")
    lines = text.splitlines()
    ours = "2/2 | 2/2 | 2/2 | 0.500 | 0.500 | 2.000"
    assert f"| 500 | {ours} | {ours} | 2/2 |" in lines
    assert any(line.startswith("| 100 | 0/1 | 0/1 | 0/1 |") for line in lines)
    detected = lines[lines.index("<!-- local detected -->") + 2 : lines.index("<!-- local exact -->") - 1]
    assert detected[:3] == [
        "| method | 0 | 100 | 500 |",
        "| --- | --- | --- | --- |",
        "| shiftscope (default) | 0/2 | 0/1 | 2/2 |",
    ]
    assert not any("MLP (paper)" in line for line in detected)  # has no test
    assert "| local shift | shiftscope (default) | 0 | 500 | 500 | - |" in lines


def test_the_same_rows_give_the_same_files(tmp_path):
    tiny_runs(tmp_path)
    rows = summarise(global_shift.STUDY, tmp_path / "global_shift", quick=False)
    first, second = ({path.name: path.read_bytes() for path in _saved(rows, tmp_path)} for _ in range(2))
    assert set(first) == {"global.png", "global.svg"}
    assert first == second


def _saved(rows, folder):
    return figures.save(figures.global_figure(rows), folder, "global")


def test_the_figure_command_says_when_there_is_nothing(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        figures.main(["--runs", str(tmp_path), "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert "holds no units" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_command_reads_finished_units_and_stays_quiet_in_a_pipe(tmp_path):
    tiny_runs(tmp_path)
    folder = str(tmp_path / "local_shift")
    options = ["--out", folder, "--seeds", "2", "--injected", "0", "500", "--methods", "default", "mlp"]
    done = subprocess.run(
        [sys.executable, "-m", "experiments.local_shift", *options],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "default"
    assert done.stdout.splitlines()[3].split()[:4] == ["500", "2", "2", "2"]
    assert done.stdout.splitlines()[7].split()[:4] == ["500", "2", "-", "-"]
