from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shiftscope as ss
from shiftscope import machine_memory
from shiftscope.machine_memory import SETTING, allowed_memory, check_memory
from shiftscope.params import ScanParams
from shiftscope.subspaces.scan import scan_memory

MEASURED = """
import json, resource, sys
import numpy as np
import shiftscope as ss

rows, columns, max_pairs = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
few = rng.standard_normal((60, 90))
for most in (2000, 64):  # compiling takes memory too
    ss.scan(few[:30], few[30:], ss.ScanParams(n_permutations=63, max_pairs=most))
reference, current = (rng.standard_normal((rows, columns)) for _ in range(2))
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
ss.scan(reference, current, ss.ScanParams(n_permutations=63, max_pairs=max_pairs))
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))  # of this program
print(json.dumps(1024 * peak - before))
"""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def taken(rows: int, columns: int, max_pairs: int) -> int:
    """Bytes that a scan of two samples takes beyond the samples, in a process of its own."""
    command = [sys.executable, "-c", MEASURED, str(rows), str(columns), str(max_pairs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout))


@linux
@pytest.mark.parametrize(("rows", "columns", "max_pairs"), [(30, 900, 2_000), (1_500, 1_500, 100)])
def test_the_memory_of_a_wide_scan_is_bounded_by_what_was_told(rows: int, columns: int, max_pairs: int) -> None:
    """404,550 pairs in blocks; then many rows, pairs of few columns."""
    told = scan_memory(2 * rows, columns, ScanParams(n_permutations=63, max_pairs=max_pairs))
    matrix = 2 * 8 * 2 * rows * columns
    assert taken(rows, columns, max_pairs) < told + matrix < 0.8e9


def test_memory_told_before_grows_no_further_with_columns_squared() -> None:
    told = [scan_memory(200, columns, ScanParams()) for columns in (500, 2_000, 5_000, 20_000)]
    assert told == sorted(told)
    assert told[2] < 2e9
    assert told[3] - told[2] < 15_000 * 100_000


def test_what_does_not_fit_is_refused_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "200MB")
    rows = np.random.default_rng(0).standard_normal((40, 700))
    stages: list[str] = []
    rule = r"^40 rows and 700 columns need up to .* GB of memory, and 0\.2 GB are allowed by SHIFTSCOPE_MEMORY; "
    with pytest.raises(ss.InputError, match=rule + r"choose columns \(--include, .*, give fewer rows, or raise"):
        ss.compare(rows[:20], rows[20:], progress=lambda stage, _: stages.append(stage))
    assert stages == []


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "1KB")
    rows = np.random.default_rng(0).standard_normal((40, 5))
    with pytest.raises(ss.InputError, match="40 rows and 5 columns need up to"):
        ss.score(rows[:20], rows[20:])


@pytest.mark.parametrize(("text", "expected"), [("8GB", 8e9), ("500 mb", 5e8), ("1.5G", 1.5e9), ("1000", 1e3)])
def test_the_setting_is_a_number_of_bytes(monkeypatch: pytest.MonkeyPatch, text: str, expected: float) -> None:
    monkeypatch.setenv(SETTING, text)
    assert allowed_memory() == expected


@pytest.mark.parametrize("text", ["", "much", "-1GB", "8 apples"])
def test_a_setting_that_is_no_number_of_bytes_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(SETTING, text)
    with pytest.raises(ss.ParameterError, match="SHIFTSCOPE_MEMORY must be a number of bytes such as 8GB"):
        check_memory(1, 1, 1)


@linux
def test_limits_of_the_process_and_its_groups_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    free = allowed_memory()
    assert free is not None
    assert free > 10**7
    (tmp_path / "memory.max").write_text("5000000\n")
    (tmp_path / "memory.current").write_text("4000000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 1000000\n")
    monkeypatch.setattr(machine_memory, "_GROUPS", tmp_path)
    assert allowed_memory() == 2_000_000
    with pytest.raises(ss.InputError, match=r"0\.0 GB are free"):
        check_memory(2_000_001, 10, 10)
    check_memory(2_000_000, 10, 10)
