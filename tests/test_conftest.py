"""A missing piece skips a test with a reason, and fails it where everything must be there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = {
    "test_whole.py": "import pytest\npytest.importorskip('no_such_module')\ndef test_a(): pass\n",
    "test_parts.py": (
        "import pytest\n"
        "def test_b(): pytest.skip('no browser')\n"
        "@pytest.mark.skipif(True, reason='no axe')\n"
        "def test_c(): pass\n"
        "@pytest.mark.outside_data\n"
        "def test_d(): pytest.skip('no recordings')\n"
        "@pytest.mark.xfail\n"
        "def test_e(): assert False\n"
        "def test_f(): pass\n"
    ),
}


@pytest.mark.parametrize(
    ("ci", "outcome"),
    [("", "1 passed, 4 skipped, 1 xfailed"), ("true", "1 failed, 1 passed, 1 skipped, 1 xfailed, 2 errors")],
)
def test_skips_are_failures_where_everything_must_be_there(tmp_path: Path, ci: str, outcome: str) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    for name, content in TESTS.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = outside_data\n")
    options = ["-p", "no:cacheprovider", "--continue-on-collection-errors"]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False
    )
    assert outcome in done.stdout, done.stdout
    assert done.returncode == (1 if ci else 0)
    assert ("CI=true does not allow: Skipped: no browser" in done.stdout) == bool(ci)
    assert ("could not import 'no_such_module'" in done.stdout) == bool(ci)
