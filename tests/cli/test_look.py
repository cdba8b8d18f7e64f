from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import Run


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_look_shows_what_is_understood(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "t.data", "1;2,5;3/4/2024\n2;3,5;5/1/2024\n3;?;2/2/2024\n")
    done = run("look", path)
    assert done.code == 0
    for part in ("no header", "--names", "semicolon", "decimal comma", "? 33 %", "--day-first", "x2", "3 rows"):
        assert part in done.out, done.out


def test_look_at_two_files_as_json(run: Run, tmp_path: Path) -> None:
    first = written(tmp_path / "a.csv", "a,b\n1,x\n2,y\n3,x\n")
    second = written(tmp_path / "b.csv", "4,x\n5,z\n")
    done = run("look", first, second, "--json", "-")
    assert done.code == 0
    found = json.loads(done.out)
    assert [column["name"] for column in found["columns"]] == ["a", "b"]
    assert found["files"][1]["rows"] == 2
    assert found["doubts"] == [
        "current: the file has no names, so its columns are taken in the order of the reference file"
    ]


def test_options_of_tables_reach_look_and_compare(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a b\n" + "".join(f"{at % 9} {-200 if at % 4 else at}\n" for at in range(60)))
    assert "-200 lies far" in run("look", path).out
    settled = run("look", path, "--missing", "-200")
    assert "No doubts." in settled.out
    assert "-200 75 %" in settled.out
    done = run("compare", path, path, "--missing", "-200", "--names", "p,q", "--json", "-", "--quiet")
    assert done.code == 0, done.err
    assert json.loads(done.out)["names"] == ["p", "q"]
    wrong = run("look", path, "--delimiter", "xx")
    assert wrong.code == 2
    assert "delimiter must be one character" in wrong.err


def test_what_is_no_table_ends_in_one_line(run: Run, tmp_path: Path) -> None:
    done = run("look", written(tmp_path / "t.csv", "<!doctype html><html></html>"))
    assert done.code == 2
    assert "an HTML page" in done.err
    assert done.err.count("\n") == 1
