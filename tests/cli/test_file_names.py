"""Names of files that no one would choose, and outputs that cannot be written: right, or one line and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shiftscope as ss
from shiftscope.cli.common import _identity
from tests.cli.running import Run, one_line

NAMES = (
    "two\nlines",
    "-dash",
    "--json",
    "~x",
    "sp ace",
    "quote'\"",
    "[a]*?",
    "ü",
    os.fsdecode(b"not\xffutf8"),
    "x" * 240,
)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("quick")
def test_odd_names_work_everywhere(
    run: Run, pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shiftscope.report.html.page", lambda _: "a page")
    os.rename(pair[0], f"{name}.parquet")
    outputs = [f"--report={name}.html", f"--json={name}.json", f"--rows={name}.csv", f"--equalised={name}.d"]
    done = run("compare", *outputs, "--", f"{name}.parquet", "cur.csv")
    assert (done.code, done.err) == (0, "")
    assert {f"{name}.html", f"{name}.json", f"{name}.csv", f"{name}.d"} < set(os.listdir())
    assert run("report", "--quiet", f"--report={name}.2.html", "--", f"{name}.json").code == 0


@pytest.mark.parametrize("option", ["--report", "--json", "--rows"])
@pytest.mark.parametrize("target", [".", "missing/r", "cur.csv/r", "n" * 300, "/dev/full"])
@pytest.mark.usefixtures("quick")
def test_outputs_that_cannot_be_written(
    run: Run, pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shiftscope.report.html.page", lambda _: "a page")
    before = sorted(os.listdir())
    if option == "--rows":
        os.symlink("/dev/full", "full.csv")
        before = sorted(os.listdir())
        target = "full.csv" if target == "/dev/full" else f"{target}.csv"
    done = run("compare", *pair, option, target)
    if (option, target) == ("--rows", "..csv"):
        return  # a name like any other
    assert (done.code, one_line(done)) == (2, True), done
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["compare", "--help"], ["report", "r.json"]])
@pytest.mark.parametrize("stream", ["closed pipe", "full"])
def test_standard_output_that_takes_nothing_never_ends_with_1(
    found, tmp_path: Path, arguments: list[str], stream: str
) -> None:
    found.to_json(tmp_path / "r.json")
    command = [sys.executable, "-m", "shiftscope.cli", *arguments]
    if stream == "full":
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
        return
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, cwd=tmp_path)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_mistake_that_cannot_be_told_still_ends_with_2(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "shiftscope.cli", "report", "none"], stderr=full, check=False)
    assert done.returncode == 2


# outputs that would replace inputs or join them


def tables(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of Parquet files, with links between them."""
    for folder in ("ref", "ref/deep", "other"):
        (tmp_path / folder).mkdir()
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 4.0]})
    for name in ("ref/p0", "ref/deep/p1", "other/q", "cur"):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    frame.write_csv(tmp_path / "cur.csv")
    os.link(tmp_path / "cur.csv", tmp_path / "hard.html")
    (tmp_path / "soft.html").symlink_to("cur.csv")
    (tmp_path / "linked").symlink_to("ref")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "ref/", "cur.csv", "--rows", "linked/new.parquet"], "would be read"),
        (["compare", "linked", "cur.csv", "--rows", "ref/new.parquet"], "would be read"),
        (["compare", "./ref/../ref", "cur.csv", "--rows", "ref/./p0.parquet"], "an input"),
        (["compare", "ref/**/*.parquet", "cur.csv", "--rows", "ref/new.parquet"], "would be read"),
        (["compare", "ref/**/*.parquet", "cur.csv", "--rows", "ref/deep/new.parquet"], "would be read"),
        (["compare", "ref/**/*.parquet", "cur.csv", "--rows", "ref/deep/p1.parquet"], "an input"),
        (["compare", "ref/**", "cur.csv", "--json", "ref/r.json"], "would be read"),
        (["compare", "l*/p?.parquet", "cur.csv", "--rows", "ref/p7.parquet"], "would be read"),
        (["compare", "ref/**/*.parquet", "ref", "--equalised", "ref/deep"], "would be read"),
        (["compare", "ref/**/*.parquet", "ref", "--equalised", "ref/kept"], "would be read"),
        (["compare", "cur.csv", "ref", "--report", "hard.html"], "an input"),
        (["compare", "cur.csv", "ref", "--report", "soft.html"], "an input"),
        (["compare", "cur.csv", "ref", "--report", "a.html", "--markdown", "./a.html"], "another output"),
        (["certify", "cur.csv", "ref/*.parquet", "--json", "hard.html"], "an input"),
        (["explain-rows", "cur.csv", "ref", "--rows", "1", "--json", "soft.html"], "an input"),
        (["explain-rows", "ref", "other", "--rows", "cur.csv", "--json", "cur.csv"], "an input"),
        (["monitor", "cur.csv", "ref", "--history", "ref/p0.parquet"], "an input"),
        (["monitor", "cur.csv", "ref/*.parquet", "--table", "ref/t.parquet"], "would be read"),
        (["monitor", "cur.csv", "ref", "--plot", "hard.html"], "an input"),
        (["monitor", "cur.csv", "ref", "--json", "cur.csv"], "an input"),
        (["fit", "ref", "ref/d.parquet"], "would be read"),
        (["fit", "cur.csv", "soft.html"], "an input"),
        (["report", "cur.csv", "--markdown", "hard.html"], "an input"),
        (["report", "soft.html"], "an input"),
    ],
)
def test_no_output_replaces_or_joins_an_input(run: Run, parts: Path, arguments: list[str], said: str) -> None:
    before = tables(parts)
    done = run(*arguments)
    assert (done.code, one_line(done)) == (2, True)
    assert said in done.err
    assert tables(parts) == before


@pytest.mark.parametrize(
    "output", [["--rows", "ref/deep/new.parquet"], ["--json", "ref/r.json"], ["--rows", "ref/.hidden.parquet"]]
)
def test_outputs_that_the_pattern_does_not_match_are_fine(
    run: Run, parts: Path, output: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes next, the comparison itself, is reached."""

    def reached(*_: object, **__: object) -> None:
        raise ss.EngineError("reached")

    monkeypatch.setattr(ss, "compare", reached)
    assert "reached" in run("compare", "ref/*.parquet", "cur.csv", *output).err


def test_large_and_small_letters_are_one_name_on_disks_that_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = str(tmp_path / "Report.html"), str(tmp_path / "report.HTML")
    assert _identity(paths[0]) != _identity(paths[1])
    monkeypatch.setattr(os.path, "exists", lambda _: True)
    monkeypatch.setattr(os.path, "samefile", lambda *_: True)
    assert _identity(paths[0]) == _identity(paths[1])


def test_a_long_list_of_positions_is_no_file_name(run: Run, parts: Path) -> None:
    done = run("explain-rows", "cur.csv", "ref", "--rows", ",".join(map(str, range(200))))
    assert (done.code, one_line(done)) == (2, True)
    assert "rows must lie between 0 and" in done.err or "rows" in done.err
    done = run("explain-rows", "cur.csv", "ref", "--rows", "x" * 5000)
    assert (done.code, one_line(done)) == (2, True)
    assert len(done.err) < 300
