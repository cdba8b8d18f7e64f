"""The command compare: its options, its files, and that they appear together."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import shiftscope as ss
from shiftscope.results import ShiftResult
from shiftscope.tables.column_choice import LeftOut
from tests.cli.running import Run, one_line
from tests.planted import PARAMS


def test_compare_from_files_to_files(
    run: Run, pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ss.compare
    monkeypatch.setattr(ss, "compare", lambda *args, **options: real(*args, **{**options, "params": PARAMS}))
    outputs = ["--report", tmp_path / "r.html", "--json", tmp_path / "r.json", "--rows", tmp_path / "rows.csv"]
    done = run("compare", *pair, *outputs, "--equalised", tmp_path / "kept", "--seed", 3)
    assert done.code == 0, done.err
    assert done.out.startswith("The samples differ")
    assert done.err == ""
    saved = json.loads((tmp_path / "r.json").read_text())
    assert saved["detected"]
    assert saved["random_state"] == 3
    assert "The samples differ" in (tmp_path / "r.html").read_text()
    rows = pl.read_csv(tmp_path / "rows.csv")
    assert rows.columns == ["mode", "sample", "row", "score", "a", "b", "c"]
    assert rows.filter(pl.col("mode") == 1)["row"].to_list() == saved["modes"][0]["rows"]
    assert pl.read_parquet(tmp_path / "kept/reference.parquet").height == len(saved["kept_reference"])
    assert pl.read_csv(tmp_path / "kept/current.csv").height == len(saved["kept_current"])
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


@pytest.mark.usefixtures("quick")
def test_exit_code_tells_of_a_shift_only_when_asked(run: Run, pair: tuple[Path, Path]) -> None:
    assert run("compare", *pair).code == 0
    assert run("compare", *pair, "--fail-on-shift").code == 1


@pytest.mark.usefixtures("quick")
def test_json_on_standard_output_is_alone_there(run: Run, pair: tuple[Path, Path]) -> None:
    done = run("compare", *pair, "--json", "-")
    assert json.loads(done.out)["schema"] == 1
    assert "The samples differ" in done.err


@pytest.mark.usefixtures("quick")
def test_quiet_says_nothing(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("compare", *pair, "--quiet", "--report", tmp_path / "r.html")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "r.html").stat().st_size > 1000


@pytest.mark.usefixtures("quick")
def test_rows_as_parquet(run: Run, pair: tuple[Path, Path], tmp_path: Path, found: ShiftResult) -> None:
    assert run("compare", *pair, "--rows", tmp_path / "rows.parquet").code == 0
    rows = pl.read_parquet(tmp_path / "rows.parquet")
    assert rows.height == sum(len(mode.rows) for mode in found.modes)
    first = rows.row(0, named=True)
    assert first["score"] == getattr(found.scores, first["sample"])[first["row"]]


def test_rows_of_no_mode_are_an_empty_table(
    run: Run, pair: tuple[Path, Path], tmp_path: Path, found: ShiftResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ss, "compare", lambda *_, **__: replace(found, modes=(), detected=False))
    assert run("compare", *pair, "--rows", tmp_path / "rows.csv").code == 0
    assert (tmp_path / "rows.csv").read_text() == '"mode","sample","row","score","a","b","c"\n'


def test_options_about_columns(run: Run, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ss.Columns | None] = []

    def remember(*_: object, columns: ss.Columns | None, **__: object) -> None:
        asked.append(columns)
        raise KeyboardInterrupt

    monkeypatch.setattr(ss, "compare", remember)
    run("compare", *pair)
    run("compare", *pair, "--include", "a", "--include", "b, c", "--exclude", "b, c", "--kind", "x=y=category")
    assert asked == [None, ss.Columns(("a", "b, c"), ("b, c",), {"x=y": "category"})]


def test_columns_that_take_no_part_are_named(
    run: Run, pair: tuple[Path, Path], found: ShiftResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tuple(LeftOut(f"id{number}", "constant: 1 in every row") for number in range(10))
    monkeypatch.setattr(ss, "compare", lambda *_, **__: replace(found, encoded=replace(found.encoded, left_out=left)))
    said = " ".join(run("compare", *pair).out.split())
    assert "Left out: id0 (constant: 1 in every row); id1" in said
    assert "id7 (constant: 1 in every row) and 2 more." in said


def test_names_on_the_terminal_are_not_markup(
    run: Run, pair: tuple[Path, Path], found: ShiftResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "[red]a[/red]\x1b[31m"
    mode = replace(found.modes[0], features=(name,), directions=(replace(found.modes[0].directions[0], feature=name),))
    named = replace(found, modes=(mode,), encoded=replace(found.encoded, names=(name, "b", "c")))
    monkeypatch.setattr(ss, "compare", lambda *_, **__: named)
    said = run("compare", *pair).out
    assert "[red]a[/red]·[31m" in said
    assert "\x1b" not in said


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("source", ["parts", "parts/part*.parquet"])
def test_rows_kept_of_many_files_are_one_file(
    run: Run, samples: tuple[pl.DataFrame, pl.DataFrame], found: ShiftResult, tmp_path: Path, source: str
) -> None:
    (tmp_path / "parts").mkdir()
    for number in range(3):
        samples[0][200 * number : 200 * (number + 1)].write_parquet(tmp_path / f"parts/part{number}.parquet")
    samples[1].write_ndjson(tmp_path / "cur.jsonl")
    done = run("compare", tmp_path / source, tmp_path / "cur.jsonl", "--equalised", tmp_path / "kept")
    assert done.code == 0, done.err
    kept = pl.read_parquet(tmp_path / "kept/reference.parquet")
    assert kept.equals(samples[0][found.kept_reference])
    assert pl.read_ndjson(tmp_path / "kept/current.jsonl").height == found.kept_current.size


@pytest.mark.usefixtures("quick")
def test_rows_kept_under_conditions(run: Run, pair: tuple[Path, Path], found: ShiftResult, tmp_path: Path) -> None:
    done = run("compare", *pair, "--equalised", tmp_path / "kept", "--keep", "reference", "--modes", "1")
    assert done.code == 0, done.err
    subset = found.equalised(keep="reference", modes=[0])
    rows = pl.read_csv(tmp_path / "kept/rows.csv")
    assert subset.removed_current.size > 0
    for sample, kept in (("reference", subset.kept_reference), ("current", subset.kept_current)):
        assert rows.filter(pl.col("sample") == sample)["row"].to_list() == kept.tolist()
    assert pl.read_parquet(tmp_path / "kept/reference.parquet").height == subset.n_reference
    assert pl.read_csv(tmp_path / "kept/current.csv").equals(pl.read_csv(pair[1])[subset.kept_current])
    alone = run("compare", *pair, "--max-share", "0.01")
    assert (alone.code, one_line(alone)) == (2, True)


@pytest.mark.usefixtures("quick")
def test_report_may_stand_beside_the_rows_kept(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("compare", *pair, "--equalised", tmp_path / "kept", "--json", tmp_path / "kept/r.json")
    assert done.code == 0, done.err
    assert sorted(os.listdir(tmp_path / "kept")) == ["current.csv", "r.json", "reference.parquet", "rows.csv"]


@pytest.mark.usefixtures("quick")
def test_outputs_appear_together_or_not_at_all(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    """The rows kept cannot be written any more: the page and the JSON, written before, do not appear either."""
    (tmp_path / "r.json").write_text("former")
    pl.read_csv(pair[1]).head(500).write_csv(pair[1])
    outputs = ("--report", tmp_path / "r.html", "--json", tmp_path / "r.json", "--equalised", tmp_path / "kept")
    assert run("compare", *pair, *outputs).code == 2
    assert sorted(os.listdir(tmp_path)) == ["cur.csv", "r.json", "ref.parquet"]
    assert (tmp_path / "r.json").read_text() == "former"


def test_folder_of_the_rows_kept_must_not_be_a_file(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    done = run("compare", *pair, "--equalised", tmp_path / "notes")
    assert (done.code, one_line(done)) == (2, True)
    assert "notes' is a file; give the name of a folder" in done.err
    assert (tmp_path / "notes").read_text() == "mine"


@pytest.mark.usefixtures("quick")
def test_file_that_changed_meanwhile_is_refused(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    """The comparison saw 600 rows; both files or neither are written."""
    pl.read_csv(pair[1]).head(500).write_csv(pair[1])
    done = run("compare", *pair, "--equalised", tmp_path / "kept")
    assert done.code == 2
    assert "500 rows now and had 600" in done.err
    assert not (tmp_path / "kept").exists()
