"""The commands fit and monitor."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from shiftscope.cli import app as cli
from shiftscope.cli.common import SHIFT_FOUND
from shiftscope.file_lock import locked
from tests.cli.running import Outcome, Run, told


def test_monitor_from_a_saved_reference_with_history(folder: Path, tmp_path: Path, run: Run):
    code, out, _ = told(run("fit", folder / "reference.csv", tmp_path / "ref.ssd", "--alpha", 0.2))
    assert (code, out) == (0, f"Written: {tmp_path / 'ref.ssd'}\n")
    common = ("--history", tmp_path / "h.jsonl", "--horizon", 5)
    batches = [folder / f"b{number}.csv" for number in (1, 2, 3)]
    assert run("monitor", tmp_path / "ref.ssd", *batches[:2], *common, "--quiet") == Outcome(0, "", "")
    outputs = ("--table", tmp_path / "t.csv", "--plot", tmp_path / "p.png", "--json", tmp_path / "m.json")
    code, out, _ = told(run("monitor", tmp_path / "ref.ssd", *batches, *common, *outputs, "--fail-on-shift"))
    assert code == SHIFT_FOUND
    assert "1 of 3 batches" in out
    assert f"'{batches[2]}'" in out
    assert pl.read_csv(tmp_path / "t.csv")["alarm"].to_list() == [False, False, True]
    assert set(json.loads((tmp_path / "m.json").read_text())["rows"][2]["mode"]["features"]) == {"a", "b"}
    assert (tmp_path / "p.png").exists()
    code, out, _ = told(run("monitor", folder / "reference.csv", batches[0], *common, "--alpha", 0.2, "--json", "-"))
    assert len(json.loads(out)["rows"]) == 3  # the record of a table and of its saved form is one and the same


def test_mistakes_are_one_line(folder: Path, tmp_path: Path, run: Run):
    reference, batch = folder / "reference.csv", folder / "b1.csv"
    for arguments, message in (
        (("monitor", reference, batch, "--table", tmp_path / "t.txt"), "--table"),
        (("monitor", reference, batch, "--history", batch), "is an input already"),
        (("monitor", reference, tmp_path / "gone.csv"), "gone.csv"),
        (("explain-rows", reference, batch, "--rows", "two"), "is neither a file nor a list of positions"),
        (("explain-rows", reference, batch, "--rows", "150"), "rows must lie between 0 and 149"),
    ):
        code, out, err = told(run(*arguments))
        assert (code, out) == (cli.USER_ERROR, "")
        assert message in err
        assert err.count("\n") == 1


def test_a_detector_cut_short_is_called_one(folder: Path, tmp_path: Path, run: Run):
    assert run("fit", folder / "reference.csv", tmp_path / "ref.ssd").code == 0
    whole = (tmp_path / "ref.ssd").read_bytes()
    (tmp_path / "ref.ssd").write_bytes(whole[: len(whole) // 2])
    code, out, err = told(run("monitor", tmp_path / "ref.ssd", folder / "b1.csv"))
    assert (code, out, err.count("\n")) == (cli.USER_ERROR, "", 1)
    assert "is no saved detector, or a damaged one" in err
    assert "fit the detector again and save it" in err


def test_a_history_in_use_is_refused_in_one_line(folder: Path, tmp_path: Path, run: Run):
    with locked(tmp_path / "h.jsonl"):
        code, out, err = told(
            run("monitor", folder / "reference.csv", folder / "b1.csv", "--history", tmp_path / "h.jsonl")
        )
    assert (code, out, err.count("\n")) == (cli.USER_ERROR, "", 1)
    assert "h.jsonl' is in use by another process" in err
