"""Wherever a command is killed: files whole, the last one vouches for all, and the next run works."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tests import planted
from tests.crash_points import CASES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """A pickled result beside the inputs that it came from."""
    found, inputs = planted.result(), tmp_path / "inputs"
    inputs.mkdir()
    for name, frame in zip(("reference", "current"), planted.samples(), strict=True):
        frame.write_csv(inputs / f"{name}.csv")
    planted.samples()[1].tail(300).write_csv(inputs / "third.csv")
    found.to_json(inputs / "saved.json")
    (tmp_path / "result.pickle").write_bytes(pickle.dumps(found))
    return tmp_path / "result.pickle"


def test_killed_before_any_file_operation(result: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.crash_points", str(result), str(tmp_path / "work")]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}  # many short processes
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    counted = {name: (int(new), int(old)) for name, new, old in map(str.split, done.stdout.splitlines())}
    assert counted.keys() == CASES.keys()
    for name, (new, old) in counted.items():
        assert new >= 3 * len(CASES[name].targets), "each file is opened, synced and renamed"
        assert old >= new
