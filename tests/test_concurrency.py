"""Results do not depend on what else runs, and nothing of the user's is left changed: each case in a fresh process."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.concurrently import SEEDS, answers

ROOT = Path(__file__).parent.parent
ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

WORKQUEUE = {"NUMBA_THREADING_LAYER": "workqueue"}


@pytest.fixture(scope="module")
def alone() -> list[dict[str, str]]:
    """The answers one after the other, on one thread of Numba and all of BLAS."""
    return [answers(seed) for seed in SEEDS]


def run(case: str, *arguments: str, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.concurrently", case, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("environment", [{}, ONE, WORKQUEUE], ids=["all", "one", "workqueue"])
def test_threads_side_by_side_change_neither_results_nor_settings(
    alone: list[dict[str, str]], environment: dict[str, str]
) -> None:
    told = run("threads", **environment)
    assert told["answers"] == alone
    assert told["changed"] == {}
    assert len(told["blas threads seen"]) == 1  # the user's BLAS had all its threads all the time
    assert told["layer"] == environment.get("NUMBA_THREADING_LAYER", told["layer"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_processes_answer_alike_and_say_what_they_cannot_read(
    alone: list[dict[str, str]], tmp_path: Path
) -> None:
    told = run("fork", str(tmp_path / "table.csv"))
    assert told["answers"] == alone
    assert "spawn" in told["refused"]
    assert "Polars" in told["refused"]


@pytest.mark.parametrize("case", ["spawn", "cluster"])
def test_processes_and_clusters_answer_alike(alone: list[dict[str, str]], case: str) -> None:
    assert run(case)["answers"] == alone


def test_no_product_of_matrices_is_left_to_a_library() -> None:
    """The last digits of BLAS change with its threads: sums have an order of their own here, or are exact."""
    allowed = {("independent_tests.py", "energy_distances")}  # of numbers whose sums are exact
    found = set()
    for path in sorted((ROOT / "src" / "shiftscope").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                found |= {(path.name, function.name) for node in ast.walk(function) if _is_product(node)}
    assert found == allowed


def _is_product(node: ast.AST) -> bool:
    named = isinstance(node, ast.Attribute) and node.attr in ("dot", "vdot", "inner", "matmul", "tensordot", "einsum")
    return named or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
