"""Scan and verdict of samples on disk by workers of little memory: 10,000,000 + 10,000,000 x 20 by default.

    python -m benchmarks.many_rows DATA_FOLDER [--millions 10] [--workers 2] [--memory 2GB]

`make bench` puts the figures, which are kept in benchmarks/results/many_rows.json, into docs/performance.md.

Writes the 20-D benchmark (300 rows injected per 50,000) as Parquet files of a million rows, unless they are there,
compares them on a local Dask cluster, and tells the time per stage, the throughput per core and how the memory of the
workers goes with time. The memory curve is flat if the workers hold codes and counts, never the data.
"""

from __future__ import annotations

import argparse
import json
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
from distributed import Client, LocalCluster

import shiftscope as ss
from experiments.benchmark20d import DIMENSION, local_pair
from shiftscope.engines.dask.engine import GATHERED_ROWS, DaskEngine
from shiftscope.output_files import whole_file, write_text

FILE_ROWS = 1_000_000
INJECTED_SHARE = 300 / 50_000
SECONDS = 2.0  # between two looks at the memory
BINS = 20  # points of the memory curve that are told
OUT = Path(__file__).parent / "results" / "many_rows.json"
NAMES = [f"x{column}" for column in range(DIMENSION)]


def generate(folder: Path, rows: int, file_rows: int = FILE_ROWS) -> tuple[str, str]:
    """Parquet files of both samples, `rows` each; files that are there are kept. Returns the two patterns."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, file_rows)):
        size = min(file_rows, rows - start)
        paths = [folder / f"{sample}-{number:04d}.parquet" for sample in ("reference", "current")]
        if all(path.exists() for path in paths):
            continue
        pair = local_pair(round(INJECTED_SHARE * size), number, size)
        for path, table in zip(paths, (pair.reference, pair.current[-size:]), strict=True):
            with whole_file(path) as file:
                pl.DataFrame(table, schema=NAMES).write_parquet(file, compression="lz4")
    return str(folder / "reference-*.parquet"), str(folder / "current-*.parquet")


@contextmanager
def watched(client: Client) -> Iterator[list[tuple[float, float]]]:
    """(seconds, GB) of the largest worker, looked at every few seconds while the block runs."""
    curve: list[tuple[float, float]] = []
    ended, began = threading.Event(), time.perf_counter()

    def watch() -> None:
        while not ended.wait(SECONDS):
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            largest = max((worker["metrics"].get("memory", 0) for worker in workers), default=0)
            curve.append((time.perf_counter() - began, largest / 1e9))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield curve
    finally:
        ended.set()
        thread.join()


def run(
    folder: Path,
    rows: int,
    workers: int,
    memory: str,
    file_rows: int = FILE_ROWS,
    gathered_rows: int = GATHERED_ROWS,
    params: ss.CompareParams | None = None,
) -> dict[str, object]:
    """Generate, compare, and tell the cost."""
    patterns = generate(folder, rows, file_rows)
    with (
        LocalCluster(workers, threads_per_worker=1, memory_limit=memory, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        watched(client) as curve,
    ):
        began = time.perf_counter()
        result = ss.compare(*patterns, params=params, engine=DaskEngine(client, gathered_rows))
        seconds = time.perf_counter() - began
    return {
        "rows": 2 * rows,
        "workers": workers,
        "memory_limit": memory,
        "seconds": seconds,
        "timings": dict(result.timings),
        "scan_rows_per_second_and_core": 2 * rows / dict(result.timings)["scan"] / workers,
        "p_value": result.p_value,
        "modes": [mode.features for mode in result.modes],
        "notes": result.notes,
        "client_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3),
        "worker_gb": [[round(x, 1), round(y, 3)] for x, y in thinned(curve)],
    }


def thinned(curve: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The largest value in each of a few stretches of time."""
    parts = np.array_split(np.array(curve or [(0.0, 0.0)]), min(BINS, max(1, len(curve))))
    return [(float(part[-1, 0]), float(part[:, 1].max())) for part in parts]


def main() -> None:
    """Print the cost, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--millions", type=float, default=10.0, help="rows of either sample")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GB", help="limit of each worker")
    parser.add_argument("--file-rows", type=int, default=FILE_ROWS)
    parser.add_argument("--gathered-rows", type=int, default=GATHERED_ROWS, help="most rows brought to the client")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    cost = run(
        arguments.folder,
        round(1e6 * arguments.millions),
        arguments.workers,
        arguments.memory,
        arguments.file_rows,
        arguments.gathered_rows,
    )
    text = json.dumps(cost, indent=1)
    print(text)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_text(arguments.out, text + "\n")


if __name__ == "__main__":
    main()
