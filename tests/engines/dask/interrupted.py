"""A comparison that ends by Ctrl-C: python -m tests.engines.dask.interrupted ENGINE STAGE MARKER."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import dask.array as da
import numpy as np
import typer
from dask import delayed

import shiftscope as ss
from shiftscope.cli.common import exit_codes
from tests.quick import QUICK


def slow(marker: str) -> np.ndarray:
    """A part of a sample that takes long to read."""
    Path(marker).touch()
    time.sleep(60)
    return np.zeros((500, 3))


def strike() -> None:
    """Ctrl-C, as a terminal sends it: to every process of the group."""
    os.killpg(0, signal.SIGINT)


def strike_while_reading(marker: str) -> None:
    while not os.path.exists(marker):
        time.sleep(0.02)
    strike()


def run(engine: str, stage: str, marker: str) -> None:
    tables = list(np.random.default_rng(0).standard_normal((2, 500, 3)))

    def progress(name: str, fraction: float) -> None:
        if name == stage:
            strike()
            time.sleep(30)  # the signal ends this

    if stage == "read":
        tables[0] = da.from_delayed(delayed(slow)(marker), (500, 3), float)
        threading.Thread(target=strike_while_reading, args=[marker], daemon=True).start()
    with exit_codes(debug=False):
        ss.compare(*tables, params=QUICK, engine=engine, progress=progress)


if __name__ == "__main__":
    try:
        run(*sys.argv[1:])
    except typer.Exit as error:
        sys.exit(error.exit_code)
