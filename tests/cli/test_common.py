from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shiftscope as ss
from tests.cli.running import Run, one_line


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


def written_to(stdout: object) -> subprocess.CompletedProcess[bytes]:
    """A process of its own that writes more to standard output than a pipe holds, as a command does."""
    script = (
        "import typer\n"
        "from shiftscope.cli.common import exit_codes, write_stdout\n"
        "app = typer.Typer()\n"
        "@app.command()\n"
        "def write():\n"
        "    with exit_codes(False): write_stdout('x' * 1_000_000)\n"
        "app()\n"
    )
    return subprocess.run([sys.executable, "-c", script], stdout=stdout, stderr=subprocess.PIPE, check=False)


def test_what_is_read_is_written_whole() -> None:
    """Negative control of the two below."""
    done = written_to(subprocess.PIPE)
    assert (done.returncode, len(done.stdout), done.stderr) == (0, 1_000_000, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes")
def test_closed_pipe_is_not_a_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)  # nobody reads any more
    try:
        done = written_to(writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_full_disk_behind_standard_output_is_not_a_fault() -> None:
    with open("/dev/full", "wb") as full:
        done = written_to(full)
    assert done.returncode == 2
    assert done.stderr.startswith(b"shiftscope: ")
    assert done.stderr.count(b"\n") == 1
    assert b"No space left on device" in done.stderr


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A folder of two Parquet files, and a single file beside it."""
    (tmp_path / "ref").mkdir()
    rows = np.random.default_rng(0).standard_normal((3, 40, 2))
    for frame, name in zip(rows, ("ref/p0", "ref/p1", "cur"), strict=True):
        pl.DataFrame(frame, schema=["a", "b"]).write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


REF = ("ref", "ref/*.parquet", "ref/p?.parquet", "**/p*.parquet")
FILES = (("--rows", "ref/p0.parquet"), ("--rows", "ref/p7.parquet"), ("--report", "ref/p1.parquet"))


@pytest.mark.parametrize(
    ("source", "option", "target"),
    [*((source, *file) for source in REF for file in FILES), *((source, "--equalised", "ref") for source in REF[:2])],
)
def test_no_output_may_replace_or_join_a_folder_or_pattern_of_inputs(
    run: Run, parts: Path, source: str, option: str, target: str
) -> None:
    before = {path: path.read_bytes() for path in parts.rglob("*.parquet")}
    done = run("compare", parts / source, parts / "cur.parquet", option, parts / target)
    assert done.code == 2
    assert "an input already" in done.err or "would be read as part of the input" in done.err
    assert {path: path.read_bytes() for path in parts.rglob("*.parquet")} == before


def test_outputs_beside_a_folder_of_inputs_are_fine(run: Run, parts: Path) -> None:
    done = run("compare", parts / "ref", parts / "cur.parquet", "--json", parts / "ref" / "r.json", "--quiet")
    assert (done.code, done.err) == (0, "")


def test_a_panic_of_another_library_is_a_fault_and_never_a_shift(run: Run, parts: Path, monkeypatch) -> None:
    class Panic(BaseException):
        """As Rust's are: no Exception."""

    def panic(*_: object, **__: object) -> None:
        raise Panic("out of range")

    monkeypatch.setattr("shiftscope.engines.local.read_pair", panic)
    done = run("compare", parts / "ref", parts / "cur.parquet", "--fail-on-shift")
    assert done.code == 3
    assert "Panic: out of range" in done.err
