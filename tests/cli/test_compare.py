"""The command line: exit codes, messages, files."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import shiftscope as ss
from shiftscope.cli import app as cli
from shiftscope.cli import common as cli_shared
from shiftscope.cli.demo_data import INJECTED_FEATURES, N_INJECTED, example
from shiftscope.output_files import whole_file
from shiftscope.report.mode_rows import rows_table, write_rows
from shiftscope.report.terminal import show
from shiftscope.results import ShiftResult
from shiftscope.tables.column_choice import LeftOut
from shiftscope.tables.file_copies import extract_rows

PARAMS = ss.CompareParams(
    n_permutations=99,
    scan=None,
    equalise=ss.EqualiseParams(k_max=60, n_permutations=99),
    localise=ss.LocaliseParams(epochs=150, background=300, k=30),
)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["shiftscope", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), out, err)

    return call


@pytest.fixture(scope="module")
def samples() -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(1)
    reference, current = rng.standard_normal((2, 600, 3))
    current[:60, :2] = (1.2, -0.8) + 0.08 * rng.standard_normal((60, 2))
    return pl.DataFrame(reference, schema=["a", "b", "c"]), pl.DataFrame(current, schema=["a", "b", "c"])


@pytest.fixture(scope="module")
def found(samples: tuple[pl.DataFrame, pl.DataFrame]) -> ShiftResult:
    return ss.compare(*samples, params=PARAMS)


@pytest.fixture
def pair(tmp_path: Path, samples: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[Path, Path]:
    samples[0].write_parquet(tmp_path / "ref.parquet")
    samples[1].write_csv(tmp_path / "cur.csv")
    return tmp_path / "ref.parquet", tmp_path / "cur.csv"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, found: ShiftResult) -> None:
    """Answer every comparison with one that is done already."""
    monkeypatch.setattr(ss, "compare", lambda *_, **__: found)


def one_line(outcome: Outcome) -> bool:
    return outcome.err.startswith("shiftscope: ") and outcome.err.count("\n") == 1


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
    assert (tmp_path / "rows.csv").read_text() == "mode,sample,row,score,a,b,c\n"


def test_rows_have_their_values_and_no_formulas(tmp_path: Path, found: ShiftResult) -> None:
    levels = ("=1+1", "@x", "-", "plain", "+4", "\t=2")
    codes = np.arange(len(found.encoded.points)) % 7.0
    ranked = found.encoded.points.copy()
    ranked[:, 0] = np.where(codes == 6, -np.inf, codes)
    features = list(found.encoded.features)
    features[0] = replace(features[0], kind="category", levels=levels, missing=True)
    features[1] = replace(features[1], kind="date")
    encoded = replace(found.encoded, ranked=ranked, features=tuple(features), names=("=cmd()", "row", "c"))
    mode = replace(found.modes[0], rows=np.arange(7), features=("c",), directions=found.modes[0].directions[:1])
    result = replace(found, encoded=encoded, modes=(mode,))
    table = rows_table(result)
    assert table.columns == ["mode", "sample", "row", "score", "=cmd()", "row_", "c"]
    expected = [None if code == 6 else levels[int(code)] for code in codes[result.n_reference :][:7]]
    assert table["=cmd()"].to_list() == expected
    assert table["row_"].dtype == pl.Datetime("us")
    write_rows(result, tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(table)
    write_rows(result, tmp_path / "rows.csv")
    lines = list(csv.reader((tmp_path / "rows.csv").read_text().splitlines()))
    assert lines[0][4] == "'=cmd()"
    assert [line[4] for line in lines[1:]] == [
        "" if text is None else text if text == "plain" else f"'{text}" for text in expected
    ]
    assert [float(line[6]) for line in lines[1:]] == pytest.approx(encoded.values(2)[result.n_reference :][:7])


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


def test_fault_of_ours_is_one_line_and_exit_code_3(
    run: Run, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TypeError("oh\nno")

    monkeypatch.setattr(ss, "compare", fail)
    done = run("compare", *pair)
    assert done.code == 3
    assert one_line(done)
    assert "TypeError: oh no" in done.err
    assert "Traceback" in run("compare", *pair, "--debug").err


def test_lost_engine_is_told_in_one_line(run: Run, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ss.EngineError("lost")

    monkeypatch.setattr(ss, "compare", fail)
    done = run("compare", *pair)
    assert done.code == 2
    assert one_line(done)


def test_interrupt_exits_with_130_and_leaves_nothing(
    run: Run, pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ss, "compare", interrupt)
    before = sorted(os.listdir(tmp_path))
    done = run("compare", *pair, "--report", tmp_path / "r.html", "--equalised", tmp_path / "kept")
    assert done.code == 130
    assert one_line(done)
    assert sorted(os.listdir(tmp_path)) == before


def test_real_interrupt_of_a_real_process(pair: tuple[Path, Path], tmp_path: Path) -> None:
    code = (
        "import sys, time, shiftscope as ss\n"
        "def slow(*_, **__):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(600)\n"
        "ss.compare = slow\n"
        "from shiftscope.cli.app import main\n"
        "main()\n"
    )
    arguments = [
        "compare",
        *map(str, pair),
        "--report",
        str(tmp_path / "r.html"),
        "--equalised",
        str(tmp_path / "kept"),
    ]
    before = sorted(os.listdir(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (130, "shiftscope: interrupted\n")
    assert sorted(os.listdir(tmp_path)) == before


def test_full_disk_behind_standard_output_is_not_a_fault(
    run: Run, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ss, "compare", full)
    monkeypatch.setattr(cli_shared, "_let_go_of_stdout", lambda: None)
    done = run("compare", *pair)
    assert (done.code, one_line(done)) == (2, True)
    assert "No space left on device" in done.err


def test_closed_pipe_is_not_a_fault(run: Run, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(ss, "compare", closed)
    monkeypatch.setattr(cli_shared, "_let_go_of_stdout", lambda: None)
    assert run("compare", *pair).code == 141


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


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"shiftscope {ss.__version__}\n"
    assert run().code == 0
    assert "--fail-on-shift" in run("compare", "--help").out


# the rows kept


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow"])
def test_rows_kept_have_all_columns_in_the_own_format(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": [1.5, 2.5, 3.5], "name": ["x,y", 'say "hi"', "ü\n2"], "id": ["007", "008", "009"]})
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    write_frame(frame, source)
    with whole_file(target) as file:
        extract_rows(str(source), np.array([0, 2]), 3, file)
    assert read_frame(target).equals(frame[[0, 2]])


def test_text_that_looks_like_a_number_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id;value\n007;1.50\n008;NA\n009;\n")
    with whole_file(tmp_path / "out.csv") as file:
        extract_rows(str(tmp_path / "in.csv"), np.array([0, 1, 2]), 3, file)
    assert (tmp_path / "out.csv").read_text() == "id;value\n007;1.50\n008;NA\n009;\n"


def test_rows_kept_of_an_array_have_its_type(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "in.npy", array)
    with whole_file(tmp_path / "out.npy") as file:
        extract_rows(str(tmp_path / "in.npy"), np.array([1, 3]), 4, file)
    kept = np.load(tmp_path / "out.npy")
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, array[[1, 3]])


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
    assert sorted(os.listdir(tmp_path)) == ["cur.csv", "kept", "r.json", "ref.parquet"]
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
    assert os.listdir(tmp_path / "kept") == []


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif path.suffix in (".csv", ".tsv"):
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)


def read_frame(path: Path) -> pl.DataFrame:
    text = {"a": pl.Float64, "name": pl.String, "id": pl.String}
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".arrow":
        return pl.read_ipc(path.read_bytes())
    return pl.read_csv(path, schema=text, separator="\t" if path.suffix == ".tsv" else ",")


# the built-in example


def test_example_is_as_told() -> None:
    pair = example(0)
    assert pair.injected.size == N_INJECTED
    assert pair.reference.columns == pair.current.columns
    spread = pair.current[pair.injected.tolist()].select(INJECTED_FEATURES).std().row(0)
    usual = pair.reference.select(INJECTED_FEATURES).std().row(0)
    assert all(narrow < 0.25 * wide for narrow, wide in zip(spread, usual, strict=True))
    assert str(N_INJECTED) in pair.story()


def test_demo_tells_the_truth_and_writes_the_report(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("demo")
    assert done.code == 0, done.err
    words = " ".join(done.out.split())
    assert "The samples differ" in words
    assert f"of the {N_INJECTED} injected rows are among" in words
    assert "exactly the three of the injection" in words
    assert "Mode 1" in (tmp_path / "report.html").read_text()


# a saved result


@pytest.mark.usefixtures("quick")
def test_report_of_a_saved_result_is_the_same_page(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    saved = tmp_path / "result.json"
    first = run("compare", *pair, "--json", saved, "--report", tmp_path / "first.html", "--markdown", tmp_path / "a.md")
    again = run("report", saved, "--markdown", tmp_path / "b.md")
    assert (first.code, again.code) == (0, 0), again.err
    assert (tmp_path / "result.html").read_text() == (tmp_path / "first.html").read_text()
    assert (tmp_path / "a.md").read_text() == (tmp_path / "b.md").read_text()
    assert again.out.startswith("The samples differ")
    assert run("report", saved, "--quiet", "--report", tmp_path / "c.html").out == ""


def test_report_of_anything_else_is_refused_in_one_line(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("report", pair[1])
    assert done.code == 2
    assert one_line(done)
    assert "is not JSON" in done.err
    assert not (tmp_path / "cur.html").exists()


def test_shell_completion_knows_the_commands(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SHIFTSCOPE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "shiftscope ")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert {"compare", "demo", "report"} <= set(run().out.split())


# on a terminal


def test_terminal_shows_a_table_per_mode_and_no_markup(found: ShiftResult) -> None:
    name = "[red]a[/red]\x1b[31m"
    mode = replace(found.modes[0], features=(name,), directions=(replace(found.modes[0].directions[0], feature=name),))
    named = replace(found, modes=(mode,), encoded=replace(found.encoded, names=(name, "b", "c")))
    console = Console(force_terminal=True, width=100, record=True, file=io.StringIO(), highlight=False)
    show(named.summary, console)
    shown = console.export_text()
    assert "The samples differ" in shown
    assert "Mode 1: " in shown
    assert "[red]a[/red]·[31m" in shown
    assert "how it differs" in shown
