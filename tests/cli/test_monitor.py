"""The commands fit, monitor and explain-rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shiftscope as ss
from shiftscope.cli import app as cli
from shiftscope.cli.common import SHIFT_FOUND
from shiftscope.cli.explain_rows import parse_positions, read_positions
from shiftscope.questions.file_lock import locked

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["shiftscope", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return int(stop.value.code or 0), *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference, two calm batches and one with 40 rows of 150 gathered at (1.5, -1.5)."""
    made = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for name, n in (("reference", 300), ("b1", 150), ("b2", 150), ("b3", 150)):
        rows = rng.standard_normal((n, 2))
        if name == "b3":
            rows[:40] = (1.5, -1.5) + 0.1 * rng.standard_normal((40, 2))
        pl.DataFrame(rows, schema=["a", "b"]).write_csv(made / f"{name}.csv")
    return made


def test_monitor_from_a_saved_reference_with_history(folder: Path, tmp_path: Path, run: Run):
    code, out, _ = run("fit", folder / "reference.csv", tmp_path / "ref.ssd", "--alpha", 0.2)
    assert (code, out) == (0, f"Written: {tmp_path / 'ref.ssd'}\n")
    common = ("--history", tmp_path / "h.jsonl", "--horizon", 5)
    batches = [folder / f"b{number}.csv" for number in (1, 2, 3)]
    assert run("monitor", tmp_path / "ref.ssd", *batches[:2], *common, "--quiet") == (0, "", "")
    outputs = ("--table", tmp_path / "t.csv", "--plot", tmp_path / "p.png", "--json", tmp_path / "m.json")
    code, out, _ = run("monitor", tmp_path / "ref.ssd", *batches, *common, *outputs, "--fail-on-shift")
    assert code == SHIFT_FOUND
    assert f"1 of 3 batches differ from the reference, first at '{batches[2]}'" in out
    assert pl.read_csv(tmp_path / "t.csv")["alarm"].to_list() == [False, False, True]
    assert set(json.loads((tmp_path / "m.json").read_text())["rows"][2]["mode"]["features"]) == {"a", "b"}
    assert (tmp_path / "p.png").exists()
    code, out, _ = run("monitor", folder / "reference.csv", batches[0], *common, "--alpha", 0.2, "--json", "-")
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
        code, out, err = run(*arguments)
        assert (code, out) == (cli.USER_ERROR, "")
        assert message in err
        assert err.count("\n") == 1


def test_a_detector_cut_short_is_called_one(folder: Path, tmp_path: Path, run: Run):
    assert run("fit", folder / "reference.csv", tmp_path / "ref.ssd")[0] == 0
    whole = (tmp_path / "ref.ssd").read_bytes()
    (tmp_path / "ref.ssd").write_bytes(whole[: len(whole) // 2])
    code, out, err = run("monitor", tmp_path / "ref.ssd", folder / "b1.csv")
    assert (code, out, err.count("\n")) == (cli.USER_ERROR, "", 1)
    assert "is no saved detector, or a damaged one" in err
    assert "fit the detector again and save it" in err


def test_a_history_in_use_is_refused_in_one_line(folder: Path, tmp_path: Path, run: Run):
    with locked(tmp_path / "h.jsonl"):
        code, out, err = run("monitor", folder / "reference.csv", folder / "b1.csv", "--history", tmp_path / "h.jsonl")
    assert (code, out, err.count("\n")) == (cli.USER_ERROR, "", 1)
    assert "h.jsonl' is in use by another process" in err


def test_explain_rows(folder: Path, tmp_path: Path, run: Run):
    arguments = ("explain-rows", folder / "reference.csv", folder / "b3.csv", "--rows", "0-39")
    code, out, _ = run(*arguments, "--json", tmp_path / "rows.json")
    assert code == 0
    assert out.startswith("Explained")
    assert json.loads((tmp_path / "rows.json").read_text())["features"]
    code, out, _ = run(*arguments[:-1], "60-99", "--json", "-")
    assert json.loads(out)["explained"] is False


def test_positions_in_all_their_forms(tmp_path: Path):
    assert parse_positions("3, 17 40-42\n7").tolist() == [3, 17, 40, 41, 42, 7]
    (tmp_path / "rows.txt").write_text("1\n2\n\n9-10\n")
    assert read_positions(str(tmp_path / "rows.txt")).tolist() == [1, 2, 9, 10]
    modes = pl.DataFrame({"mode": [1, 1, 2], "sample": ["current", "reference", "current"], "row": [4, 5, 6]})
    modes.write_parquet(tmp_path / "rows.parquet")
    assert read_positions(str(tmp_path / "rows.parquet")).tolist() == [4, 6]
    modes.with_columns(score=1.0).write_parquet(tmp_path / "found.parquet")  # as `compare --rows` writes them
    with pytest.raises(ss.InputError, match="explain themselves"):
        read_positions(str(tmp_path / "found.parquet"))
    modes.select("mode").write_csv(tmp_path / "rows.csv")
    with pytest.raises(ss.InputError, match="has no column 'row' of whole numbers"):
        read_positions(str(tmp_path / "rows.csv"))
    with pytest.raises(ss.InputError, match="'4-' is no position"):
        parse_positions("3,4-")


def test_positions_that_cannot_be_meant_are_refused(tmp_path: Path):
    for text, message in (
        ("9-3", "'9-3' runs backwards"),
        ("0-99999999999", "exceeds 10,000,000 positions"),
        ("99999999999999999999", "exceeds 10,000,000 positions"),
    ):
        with pytest.raises(ss.InputError, match=message):
            parse_positions(text)
    table = tmp_path / "rows.csv"
    table.write_text("row\n1\n\n3\n")
    with pytest.raises(ss.InputError, match="has gaps in its column 'row'"):
        read_positions(str(table))
    table.write_text("row,sample\n1,2\n")
    assert read_positions(str(table)).size == 0


def test_certify(folder: Path, tmp_path: Path, run: Run):
    files = (folder / "reference.csv", folder / "b3.csv")
    code, out, _ = run("certify", *files, "--keep", "reference", "--json", tmp_path / "c.json")
    assert code == 0
    assert "random removal" in out
    subsets = json.loads((tmp_path / "c.json").read_text())["subsets"]
    assert subsets[1]["removed_reference"] == 0
    code, _, err = run("certify", *files, "--modes", "9")
    assert (code, err.count("\n")) == (cli.USER_ERROR, 1)
    assert "--modes 9: modes count from 1 and there are" in err
