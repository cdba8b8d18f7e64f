"""Kernels on one thread answer alike, and an installation that can write nowhere works all the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shiftscope
from shiftscope.kernels.labels import draw_labels

CODE = """
import numpy as np
from shiftscope.kernels import labels
print(labels.draw_labels(9, 4, np.arange(3, dtype=np.uint64)).sum(), labels.draw_labels.stats.cache_path)
"""


def test_a_kernel_on_one_thread_gives_the_same_and_is_another_in_the_cache() -> None:
    seeds = np.arange(5, dtype=np.uint64)
    np.testing.assert_array_equal(draw_labels.serial(40, 13, seeds), draw_labels.threaded(40, 13, seeds))
    assert draw_labels.serial.py_func.__qualname__ != draw_labels.py_func.__qualname__


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """A copy of the package beside which nothing can be written, and a home that is no folder: even root is bound."""
    package = tmp_path / "installed" / "shiftscope"
    shutil.copytree(Path(shiftscope.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "kernels" / "__pycache__").touch()
    (tmp_path / "home").touch()
    (tmp_path / "tmp").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG"))}
    return {
        **kept,
        "PYTHONPATH": str(package.parent),
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def said(environment: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def test_compiled_kernels_are_kept_in_a_private_temporary_folder(installed: dict[str, str]) -> None:
    total, folder = said(installed)
    assert total == "12"
    private = next(Path(installed["TMPDIR"]).iterdir())
    assert Path(folder).is_relative_to(private)
    assert private.stat().st_mode & 0o077 == 0
    assert any(Path(folder).glob("*.nbc"))


def test_a_folder_that_others_can_write_is_not_trusted(installed: dict[str, str]) -> None:
    shared = Path(installed["TMPDIR"]) / f"shiftscope-kernels-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    assert said(installed) == ["12", "None"]
    assert not any(shared.iterdir())
