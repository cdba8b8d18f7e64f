from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shiftscope as ss
from shiftscope.cli import app as cli
from shiftscope.results import ShiftResult
from tests import planted
from tests.cli.running import Outcome, Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line as a shell would."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["shiftscope", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), out, err)

    return call


@pytest.fixture(scope="session")
def samples() -> tuple[pl.DataFrame, pl.DataFrame]:
    return planted.samples()


@pytest.fixture(scope="session")
def found() -> ShiftResult:
    return planted.result()


@pytest.fixture
def pair(tmp_path: Path, samples: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[Path, Path]:
    samples[0].write_parquet(tmp_path / "ref.parquet")
    samples[1].write_csv(tmp_path / "cur.csv")
    return tmp_path / "ref.parquet", tmp_path / "cur.csv"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, found: ShiftResult) -> None:
    """Answer every comparison with one that is done already: what is tested is what becomes of it."""
    monkeypatch.setattr(ss, "compare", lambda *_, **__: found)


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
