"""The first run of all: two processes share the work of compiling the kernels.

Compiled kernels are kept on disk, so this happens once. While the main process compiles what comes first, the scan and
the search for neighbours, another one compiles what comes later: scoring, calibration and localisation, and the
libraries that draw the report.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from shiftscope.engines.base import Neighbours
from shiftscope.engines.local_neighbours import cores
from shiftscope.full_space.calibrate import calibrate
from shiftscope.full_space.score import nulls_for, walk
from shiftscope.kernels.score_walk import score_labellings
from shiftscope.modes.localise import localise
from shiftscope.params import LocaliseParams

ROWS, K_MAX = 240, 12


@contextmanager
def shared_compilation() -> Iterator[None]:
    """Compile in a second process while the block runs, if anything is to be compiled and a core is free."""
    if cores() < 2 or _compiled():
        yield
        return
    command = [sys.executable, "-m", "shiftscope.compile_ahead"]
    helper = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        helper.kill()
        helper.wait()


def compile_kernels() -> None:
    """Run the later stages on a few rows whose neighbours are those around them in a ring."""
    rng = np.random.default_rng(0)
    points, is_current = rng.standard_normal((ROWS, 3)), np.arange(ROWS) % 2 == 0
    ring = (np.arange(ROWS)[:, None] + np.arange(1, K_MAX + 1)) % ROWS
    graph = Neighbours(ring.astype(np.int32), np.zeros(ring.shape, np.bool_))
    everyone = np.arange(ROWS)
    nulls = nulls_for(ROWS // 2, ROWS // 2, K_MAX)
    walk(graph, everyone, everyone, np.ones(ROWS, np.bool_), is_current, nulls)
    calibrate(graph, is_current, rng.exponential(size=ROWS), q_tail=0.9, n_permutations=1, random_state=0)
    query = is_current & (np.arange(ROWS) < ROWS // 2)
    localise(points, is_current, query, LocaliseParams(epochs=1))


def _compiled() -> bool:
    """Whether compiled kernels are there, or would not be kept anyway."""
    folder = score_labellings.stats.cache_path
    return folder is None or any(Path(folder).glob(f"*.{score_labellings.py_func.__name__}-*.nbi"))


if __name__ == "__main__":
    importlib.import_module("shiftscope.report.html")
    compile_kernels()
