from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import experiments
import shiftscope as ss
from experiments.ecg import (
    attribution,
    cohorts,
    comparison,
    controls,
    downstream,
    encoding,
    figures,
    independent_check,
    page,
    study,
    waves,
)
from experiments.ecg.__main__ import main
from experiments.ecg.cohorts import CASES, draw_cohorts
from experiments.ecg.recordings import read
from tests.experiments.ecg.small_recordings import write_recordings

REAL = Path(experiments.__file__).parents[2] / "shared" / "data" / "ptbxl"


def test_rates_of_controls_by_hand():
    found = controls.rate([0.002, 0.03, 0.2, 0.9], 0.05)
    assert (found.rejected, found.n) == (2, 4)
    assert found.interval[0] < 0.5 < found.interval[1]
    assert controls.rate([0.5] * 20, 0.05).expected == (0, 3)


def test_boosting_sees_a_shift_and_no_shift():
    rng = np.random.default_rng(0)
    points, is_y = rng.standard_normal((400, 3)), np.arange(400) >= 200
    assert abs(independent_check.out_of_fold_auc(points, is_y, 0) - 0.5) < 0.1
    points[is_y, 0] += 2
    assert independent_check.out_of_fold_auc(points, is_y, 0) > 0.85


def test_p_values_are_short():
    assert [page.p_text(p) for p in (0.5, 0.0123, 0.0009, 3.2e-12)] == ["0.5", "0.012", "9e-4", "3e-12"]


def test_the_command_end_to_end(tmp_path, capsys, monkeypatch):
    classifier = downstream.classifier
    monkeypatch.setattr(downstream, "classifier", lambda *which: classifier(*which).set_params(max_iter=10))
    monkeypatch.setattr(figures, "DPI", 40)
    monkeypatch.setitem(independent_check.TREES, "max_iter", 5)
    monkeypatch.setattr(comparison, "K_MAX", 40)
    monkeypatch.setattr(comparison, "LOCALISE", ss.LocaliseParams(epochs=60, background=300))
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    write_recordings(data, "PTB-XL+ 12SL")
    command = ["--quick", "--data", str(data), "--out", str(out), "--processes", "1"]
    out = out / "quick"
    (tmp_path / "page.md").write_text("Enriched: <!-- enriched first --><!-- / -->.\n\n<!-- removed --><!-- / -->\n")
    main([*command, "--page", str(tmp_path / "page.md")])
    renewed = (tmp_path / "page.md").read_text()
    assert " of 8<!-- / -->." in renewed
    assert "| D, Y | 3 |" in renewed
    assert "jaccard" in capsys.readouterr().out
    removed = pl.read_csv(out / "removed.csv").filter(pl.col("case") == "A")
    assert removed["p_verdict"][0] <= 0.01
    assert removed.filter(pl.col("side") == "Y")["specific_share_removed"][0] > 0.7
    drawn = sorted(path.stem for path in out.glob("*.png"))
    assert drawn == ["changes", "confusion", "controls", "figure3", "roc", "support"]
    for path in (out / "units").glob("downstream_*"):
        path.unlink()
    stamps = {path: path.stat().st_mtime_ns for path in (out / "units").iterdir()}
    main([*command[:-1], "0"])  # shows what is there and computes nothing
    assert stamps == {path: path.stat().st_mtime_ns for path in (out / "units").iterdir()}


def test_the_first_draw_must_be_among_the_draws(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--data", str(tmp_path), "--seeds", "3-5"])
    assert stopped.value.code == 2
    assert "--seeds" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.outside_data
def test_a_slice_of_the_real_recordings():
    if not REAL.exists():
        reason = f"real recordings are not at {os.path.relpath(REAL)}"
        print(reason)
        pytest.skip(reason)
    ecg = read(REAL)
    assert (len(ecg.ecg_id), len(ecg.names), ecg.filled) == (10_886, 565, 0)
    rows = cohorts.healthy(ecg, np.random.default_rng(0))
    assert 5_000 < rows.size < 5_300
    for name in CASES:
        pair = draw_cohorts(ecg, CASES[name], 0)
        found = cohorts.balance(ecg, pair.x, pair.y)
        assert found.n > 1_500
        assert max(abs(found.age_smd), abs(found.female_smd)) < 0.1
    places = [waves.parse(name) for name in ecg.names]
    assert sum(place.lead == "global" for place in places) == 13
    assert all(sum(place.lead == lead for place in places) == 46 for lead in waves.LEADS)
    pair = draw_cohorts(ecg, CASES["A"], 0)
    chosen = [k for k, place in enumerate(places) if place.lead in ("V2", "V6") and place.wave in ("ST", "T")]
    own, shared = ((pair.x, 1), (pair.y, 3)), 2
    sides = [np.concatenate([rows[ecg.device[rows] == k][:300] for k in (device, shared)]) for rows, device in own]
    points = encoding.encode(ecg.features[np.concatenate(sides)][:, chosen], study.ENCODING)
    result = ss.compare(points[:600], points[600:], params=comparison.settings())
    assert result.p_value <= 0.01
    scores = result.scores.reference, result.scores.current
    found = comparison.refined(points, 600, study.ENCODING, scores, draw=0)
    removed = attribution.composition(ecg.device[sides[1]], found.removed[1], 3)
    assert removed.removed_share > removed.share
    assert removed.p_value < 0.05
