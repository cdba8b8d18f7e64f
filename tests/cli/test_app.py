from __future__ import annotations

import os
from pathlib import Path

import pytest

import shiftscope as ss
from tests.cli.running import Run, one_line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare"], "Missing argument"),
        (["compare", "a.csv", "b.csv", "--nothing"], "No such option"),
        (["compare", "a.csv", "b.csv", "--alpha", "much"], "--alpha"),
        (["compare", "a.csv", "b.csv", "--seed", "-1"], "--seed"),
        (["compare", "a.csv", "b.csv"], "there is no file 'a.csv'"),
        (["compare", "a.csv", "b.csv", "--rows", "rows.xlsx"], "must end in .parquet or .csv"),
        (["compare", "a.csv", "b.csv", "--report", "missing/r.html"], "its folder does not exist"),
        (["compare", "a.csv", "b.csv", "--report", "x", "--json", "./x"], "is another output already"),
        (["compare", "a.csv", "b.csv", "--report", "b.csv"], "is an input already"),
        (["compare", "reference.csv", "b.csv", "--equalised", "."], "is an input already"),
        (["compare", "a.csv", "b.csv", "--equalised", "missing/kept"], "its folder does not exist"),
        (["compare", "a.csv", "b.csv", "--alpha", "2"], "alpha must lie strictly between 0 and 1"),
        (["compare", "a.csv", "b.csv", "--kind", "zip"], "--kind 'zip' must be a column, = and a kind"),
        (["compare", "a.csv", "b.csv", "--kind", "zip=colour"], "kinds must be one of number, date"),
        (["compare", "a.csv", "b.csv", "--equalised", "k", "--max-share", "2"], "max_share must lie between 0 and 1"),
        (["certify", "a.csv", "b.csv", "--max-share", "nan"], "max_share must lie between 0 and 1, got nan"),
        (["certify", "a.csv", "b.csv", "--modes", "0"], "--modes 0: modes count from 1"),
        (["certify", "a.csv", "b.csv", "--modes", ""], "names no mode"),
        (["certify", "a.csv", "b.csv", "--keep", "both"], "--keep"),
        (["compare", "a.csv", "b.csv", "--report", "-"], "only --json takes - for standard output"),
        (["compare", "", "b.csv"], "reference: the path is empty"),
        (["compare", "a.csv", "b.csv", "--kind", "=date"], "--kind '=date' must be a column, = and a kind"),
        (["nothing"], "No such command"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.code == 2
    assert one_line(done), done.err
    assert said in done.err
    assert os.listdir(tmp_path) == []


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"shiftscope {ss.__version__}\n"
    assert run().code == 0
    assert "--fail-on-shift" in run("compare", "--help").out


def test_shell_completion_knows_the_commands(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SHIFTSCOPE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "shiftscope ")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert {"compare", "demo", "report"} <= set(run().out.split())
