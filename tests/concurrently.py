"""What `test_concurrency.py` runs in fresh processes: python -m tests.concurrently CASE prints one line of JSON."""

from __future__ import annotations

import json
import locale
import logging
import multiprocessing as mp
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import numba
import numpy as np
import pandas as pd
import polars as pl
from threadpoolctl import ThreadpoolController

import shiftscope as ss
from tests.quick import QUICK
from validation.unchanged import digests

SEEDS = (1, 2)
PATIENCE = 500  # seconds that forked processes may take: they compile kernels for one thread the first time


def pair(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """300 rows each of numbers, text and gaps; 60 current ones gather."""
    rng = np.random.default_rng(seed)
    both = rng.standard_normal((2, 300, 6))
    both[1, :60, :2] = (1.2, -0.8) + 0.08 * rng.standard_normal((60, 2))
    frames = [pd.DataFrame(rows, columns=list("abcdef")) for rows in both]
    for frame in frames:
        frame["site"] = rng.choice(["north", "south", "東"], len(frame))
        frame.loc[rng.random(len(frame)) < 0.1, "c"] = np.nan
    return frames[0], frames[1]


def answers(seed: int, engine: Any = None) -> dict[str, str]:
    """Digests of all that is asked of one pair."""
    result = ss.compare(*pair(seed), params=QUICK, engine=engine)
    certificate = ss.certify(result, n_permutations=19, alternatives=False)
    told = {**digests(result), **{f"certificate {name}": value for name, value in digests(certificate).items()}}
    with TemporaryDirectory() as folder:
        result.to_html(Path(folder) / "page.html")
    return told


def state() -> dict[str, str]:
    """The settings of this process that belong to the user."""
    return {
        "threads of libraries": repr([(lib["filepath"], lib["num_threads"]) for lib in ThreadpoolController().info()]),
        "threads of Numba": repr(numba.get_num_threads()),
        "threads running": repr(sorted(thread.name for thread in threading.enumerate())),
        "faults of NumPy": repr((np.geterr(), np.geterrcall(), np.get_printoptions())),
        "warnings": repr(warnings.filters),
        "environment": repr(dict(os.environ)),
        "folder": os.getcwd(),
        "signals": repr([signal.getsignal(number) for number in signal.valid_signals()]),
        "random numbers": repr(random.getstate()),
        "random numbers of NumPy": repr(np.random.get_state()),  # noqa: NPY002
        "locale": locale.setlocale(locale.LC_ALL),
        "recursion": repr(sys.getrecursionlimit()),
        "logging": repr((logging.root.level, logging.root.handlers)),
        "matplotlib": repr(dict(mpl.rcParams)),
        "polars": pl.Config.state(if_set=True).__repr__(),
        "cache of Numba": repr(numba.config.CACHE_DIR),
    }


@contextmanager
def busy_user() -> Iterator[list[int]]:
    """A user's thread that multiplies matrices meanwhile, and notes with how many threads; fewer would be our doing."""
    done, seen = threading.Event(), [0]
    blas = ThreadpoolController().select(user_api="blas")
    seen[:] = [lib["num_threads"] for lib in blas.info()]
    matrix = np.random.default_rng(0).standard_normal((64, 64))

    def work() -> None:
        while not done.wait(0.002):
            matrix @ matrix
            seen.extend(lib["num_threads"] for lib in blas.info())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def in_threads(engine: Any = None) -> dict[str, Any]:
    """All pairs side by side in a fresh process, while the user computes; then once more, after an interrupted call."""
    for name in ("shiftscope.report.html", "shiftscope.questions.independent_tests", "scipy.stats"):
        import_module(name)  # what libraries set when they are loaded is theirs
    numba.get_num_threads()
    before = state()
    with busy_user() as seen, ThreadPoolExecutor(len(SEEDS)) as pool:
        found = list(pool.map(lambda seed: answers(seed, engine), SEEDS))
    with suppress(KeyboardInterrupt):
        ss.compare(*pair(1), params=QUICK, progress=_interrupt)
    after = state()
    changed = {name: (before[name][-300:], after[name][-300:]) for name in before if before[name] != after[name]}
    return {"answers": found, "changed": changed, "blas threads seen": sorted(set(seen))}


def _interrupt(stage: str, fraction: float) -> None:
    if stage == "scan" and fraction > 0.5:
        raise KeyboardInterrupt


def forked() -> dict[str, Any]:
    """The pairs in forked processes, after the parent has started every kind of threads; then a file in one of them."""
    table = Path(sys.argv[2])
    pair(1)[0].to_csv(table, index=False)
    ss.compare(table, pair(1)[1], params=QUICK)
    with mp.get_context("fork").Pool(len(SEEDS)) as pool:
        found = pool.map_async(answers, SEEDS).get(PATIENCE)
        try:
            pool.apply_async(_compare_file, (str(table),)).get(PATIENCE)
        except ss.InputError as error:
            return {"answers": found, "refused": str(error)}
    return {"answers": found, "refused": ""}


def _compare_file(path: str) -> None:
    ss.compare(path, path, params=QUICK)


def spawned() -> dict[str, Any]:
    """The pairs in two new processes."""
    with ProcessPoolExecutor(len(SEEDS), mp_context=mp.get_context("spawn")) as pool:
        return {"answers": list(pool.map(answers, SEEDS))}


def on_a_cluster() -> dict[str, Any]:
    """The pairs from two threads on one cluster whose only worker has two threads."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        engine = ss.DaskEngine(client)
        with ThreadPoolExecutor(len(SEEDS)) as pool:
            return {"answers": list(pool.map(lambda seed: answers(seed, engine), SEEDS))}


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "threads": in_threads,
    "fork": forked,
    "spawn": spawned,
    "cluster": on_a_cluster,
}

if __name__ == "__main__":
    told = CASES[sys.argv[1]]()
    numba.get_num_threads()
    print(json.dumps({**told, "layer": numba.threading_layer()}))
