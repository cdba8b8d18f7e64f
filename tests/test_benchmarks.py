from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks import performance, units
from benchmarks.many_rows import generate, thinned
from benchmarks.performance import FULL, QUICK, growth, measured_cluster, page, run


def power_law(key: tuple[object, ...]) -> dict[str, float]:
    """Seconds that grow with the square of the rows and with the columns."""
    n, d = (key[1], key[2]) if len(key) > 2 else (1, 1)
    return {"wall": 1e-9 * n**2 * d, "cpu": 0.0, "peak": 0.5, "rate": 2e9}


def test_growth_tells_the_exponent() -> None:
    costs = {(program, n, 20): power_law((program, n, 20)) for program in ("scan", "compare", "classifier")
             for n in (100, 1000, 10_000)}  # fmt: skip
    lines = growth(costs, [(n, 20) for n in (100, 1000, 10_000)], 0, "rows", 1e9)
    assert lines[-1] == "| exponent | 2.00 | | | 2.00 | | 2.00 | |"
    assert lines[2].startswith("| 100 | 0.0 | 2.00 |")


def test_the_page_has_every_figure_of_either_plan() -> None:
    for plan in (FULL, QUICK):
        text = page(plan, {key: power_law(key) for key in plan.units()})
        assert text.count("| exponent |") == 2
        assert f"{plan.searches[0][0]:,} x {plan.searches[0][1]}" in text
        assert "nan" not in text


def test_measurements_are_kept_and_not_repeated(tmp_path: Path, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(performance, "measured_apart", lambda *key: asked.append(key) or power_law(key))
    first = run(QUICK, tmp_path)
    assert len(asked) == len(QUICK.units())
    assert run(QUICK, tmp_path) == first
    assert len(asked) == len(QUICK.units())


def test_a_measurement_tells_time_and_memory() -> None:
    cost = json.loads(json.dumps(units.measured_apart("bandwidth", 16)))
    assert cost["wall"] > 0
    assert 0.01 < cost["peak"] < 5.0
    assert cost["rate"] > 1e6


def test_generated_files_are_kept(tmp_path: Path) -> None:
    patterns = generate(tmp_path, 250, 100)
    frames = [pl.read_parquet(pattern) for pattern in patterns]
    assert [frame.shape for frame in frames] == [(250, 20), (250, 20)]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    generate(tmp_path, 250, 100)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_the_page_tells_of_a_cluster_once_it_is_measured(tmp_path: Path) -> None:
    costs = {key: power_law(key) for key in QUICK.units()}
    cost = {
        "rows": 20_000_000,
        "workers": 2,
        "memory_limit": "2GB",
        "seconds": 3000.0,
        "timings": {"encode": 100.0, "scan": 2000.0},
        "scan_rows_per_second_and_core": 5000.0,
        "p_value": 0.008,
        "modes": [["x2", "x4"], ["x9"]],
        "client_gb": 1.5,
        "worker_gb": [[10.0, 0.9], [20.0, 1.1]],
    }
    file = tmp_path / "many_rows.json"
    assert measured_cluster(file) is None
    file.write_text(json.dumps(cost), encoding="utf-8")
    text = page(QUICK, costs, measured_cluster(file))
    assert "10,000,000 + 10,000,000 rows" in text
    assert "| GB | 0.90 | 1.10 |" in text
    assert "Modes found: x2, x4; x9 (" in text
    assert "0.6 hours" in text  # 1e9 rows / (5,000 a second and core) / 100 cores
    assert "## A cluster" not in page(QUICK, costs)


def test_the_memory_curve_keeps_its_peaks() -> None:
    curve = [(float(t), float(t == 37)) for t in range(100)]
    told = thinned(curve)
    assert len(told) == 20
    assert np.max(told, axis=0)[1] == 1.0
