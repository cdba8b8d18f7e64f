"""The subspace scan: time and memory, calibration by permutations included.

    python -m benchmarks.scan [--repeats 2]

Every measurement has a process of its own, so that peak memory means something; compiled kernels are warm. The time is
the best of the repeats. "windows" counts windows looked at: sets x windows x labellings, grown boxes not included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from experiments.benchmark20d import local_pair
from shiftscope.params import ScanParams
from shiftscope.subspaces.scan import scan_points
from shiftscope.subspaces.windows import Grid

SEED = 0


@dataclass(frozen=True)
class Case:
    """Two samples with `n` rows each."""

    name: str
    n: int
    d: int

    def points(self) -> NDArray[np.float64]:
        """Pooled rows, the reference first."""
        if self.name == "20-D benchmark":
            pair = local_pair(0, SEED, self.n)
            return np.vstack([pair.reference, pair.current])
        return np.random.default_rng(SEED).standard_normal((2 * self.n, self.d))


CASES = (
    Case("20-D benchmark", 50_000, 20),
    Case("Gaussian", 5_000, 20),
    Case("Gaussian", 200, 20),
    Case("Gaussian, wide", 5_000, 600),
)


@dataclass(frozen=True)
class Figure:
    """One case, measured."""

    case: Case
    seconds: float
    gigabytes: float
    labellings: int
    windows: float


def measure(case: Case) -> Figure:
    """Scan once for the compiler on a small piece, then for the clock."""
    points = case.points()
    names = tuple(f"x{feature}" for feature in range(case.d))
    warm = np.concatenate([points[:100], points[-100:]])[:, : max(5, case.d // 10)]
    scan_points(warm, 100, names, ScanParams(n_permutations=1, max_triples=40 if case.d <= 40 else 0))
    start = time.perf_counter()
    result = scan_points(points, case.n, names, random_state=SEED)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    labellings = result.n_permutations + 1
    return Figure(case, seconds, peak, labellings, labellings * windows(case))


def windows(case: Case) -> float:
    """Windows of one labelling."""
    sizes = (1, 2, 3) if case.d <= ScanParams().max_triples else (1, 2)
    return sum(
        comb(case.d, size) * np.exp(Grid.fitting(2 * case.n, size, ScanParams().rows_per_cell).price).sum()
        for size in sizes
    )


def run(repeats: int = 2) -> list[Figure]:
    """The best of `repeats` for every case."""
    context = multiprocessing.get_context("spawn")
    figures = []
    for case in CASES:
        tries = []
        for _ in range(repeats):
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                tries.append(pool.submit(measure, case).result())
        figures.append(min(tries, key=lambda figure: figure.seconds))
    return figures


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    print(f"{'data':16} {'rows':>15} {'d':>4} {'labellings':>10} {'windows':>9} {'seconds':>8} {'GB':>5}")
    for figure in run(parser.parse_args().repeats):
        case = figure.case
        rows = f"{case.n:,} + {case.n:,}"
        print(
            f"{case.name:16} {rows:>15} {case.d:4d} {figure.labellings:10d} {figure.windows:9.1e} "
            f"{figure.seconds:8.1f} {figure.gigabytes:5.2f}"
        )


if __name__ == "__main__":
    main()
