"""Exact neighbours beside faiss `IndexFlatL2`: time, memory and agreement, measured in the same run.

    python -m benchmarks.neighbours [--repeats 2] [--threads 2]

Every measurement has a process of its own, so that peak memory means something, and the two programs take turns, so
that other work on the machine hits both. The ratio is best time over best time. faiss computes in float32 only, which
is why the last neighbours of a list may differ.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.benchmark20d import LOCAL_SUPPORT, local_pair
from shiftscope.engines.local import LocalEngine

SEED = 0
SAMPLE = 500  # queries whose neighbours are compared


@dataclass(frozen=True)
class Case:
    """A search: the first `queries` rows of a table of (n, d), `k` neighbours each."""

    name: str
    kind: str
    n: int
    d: int
    k: int
    queries: int

    def points(self) -> NDArray[np.float64]:
        """Standardised rows."""
        if self.kind == "mixture":
            pair = local_pair(300, SEED, self.n // 2)
            rows = np.vstack([pair.reference, pair.current[-self.n // 2 :]])
            rows = rows[:, LOCAL_SUPPORT] if self.d == len(LOCAL_SUPPORT) else rows
        else:
            rows = np.random.default_rng(SEED).standard_normal((self.n, self.d))
        return np.ascontiguousarray((rows - rows.mean(axis=0)) / rows.std(axis=0))


CASES = (
    Case("20-D benchmark", "mixture", 100_000, 20, 400, 100_000),
    Case("its 5 true coordinates", "mixture", 100_000, 5, 400, 100_000),
    Case("Gaussian", "gaussian", 10_000, 565, 200, 10_000),
    Case("Gaussian", "gaussian", 100_000, 20, 400, 10_000),
    Case("Gaussian", "gaussian", 100_000, 5, 400, 10_000),
)


@dataclass(frozen=True)
class Measurement:
    """One search by one program: seconds (wall and CPU), peak of the process in MB, some of its neighbours."""

    wall: float
    cpu: float
    peak: float
    sample: NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One line of the table: ours beside faiss."""

    case: Case
    ours: Measurement
    faiss: Measurement
    agreement: float

    @property
    def ratio(self) -> float:
        """How many times as fast as faiss, by wall time."""
        return self.faiss.wall / self.ours.wall

    @property
    def cpu_ratio(self) -> float:
        """The same by CPU time, which other work on the machine disturbs less."""
        return self.faiss.cpu / self.ours.cpu


def run(repeats: int = 2, threads: int | None = None) -> list[Row]:
    """Measure every case; the best of `repeats` for each program."""
    count = threads or os.cpu_count() or 1
    return [_row(case, repeats, count) for case in CASES]


def _row(case: Case, repeats: int, threads: int) -> Row:
    ours, faiss = [], []
    for _ in range(repeats):
        ours.append(apart(measure_ours, case, threads))
        faiss.append(apart(measure_faiss, case, threads))
    return Row(case, best(ours), best(faiss), _agreement(ours[0].sample, faiss[0].sample))


def apart(measure: Callable[[Case, int], Measurement], case: Case, threads: int) -> Measurement:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(measure, case, threads).result()


def measure_ours(case: Case, threads: int) -> Measurement:
    points = case.points()
    engine = LocalEngine(n_threads=threads)
    queries = None if case.queries == case.n else np.arange(case.queries)
    engine.index(points[:1000], 10).knn(10)  # load the compiled kernels
    return measured(lambda: engine.index(points, case.k).knn(case.k, queries).index)


def measure_faiss(case: Case, threads: int) -> Measurement:
    import faiss

    faiss.omp_set_num_threads(threads)
    points = case.points().astype(np.float32)

    def search() -> NDArray[np.int64]:
        index = faiss.IndexFlatL2(case.d)
        index.add(points)
        _, found = index.search(points[: case.queries], case.k + 1)
        return found

    return measured(search)


def measured(search: Callable[[], NDArray[np.integer]]) -> Measurement:
    wall, cpu = time.perf_counter(), time.process_time()
    found = search()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return Measurement(wall, cpu, peak, found[:SAMPLE].astype(np.int64))


def best(measurements: list[Measurement]) -> Measurement:
    first = measurements[0]
    wall = min(m.wall for m in measurements)
    cpu = min(m.cpu for m in measurements)
    return Measurement(wall, cpu, max(m.peak for m in measurements), first.sample)


def _agreement(ours: NDArray[np.int64], faiss: NDArray[np.int64]) -> float:
    """Share of our neighbours that faiss lists too (the query itself apart)."""
    shared = [len(np.intersect1d(a, b[b != i])) for i, (a, b) in enumerate(zip(ours, faiss, strict=True))]
    return sum(shared) / ours.size


def table(rows: list[Row]) -> str:
    lines = [
        "| points | k | queries | ours (s) | faiss (s) | ratio | CPU ratio | ours (MB) | faiss (MB) | agreement |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.case.name}, {row.case.n:,} x {row.case.d} | {row.case.k} | {row.case.queries:,} "
        f"| {row.ours.wall:.2f} | {row.faiss.wall:.2f} | {row.ratio:.2f} | {row.cpu_ratio:.2f} "
        f"| {row.ours.peak:.0f} | {row.faiss.peak:.0f} | {row.agreement:.6f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()
    print(table(run(arguments.repeats, arguments.threads)))


if __name__ == "__main__":
    main()
