"""The whole `compare` of 50,000 + 50,000 x 20 against faiss's exact K = 400 search of the same pool alone.

    python -m benchmarks.comparing [--repeats 1]

Verdict, modes and equalised subsets against the search that any neighbour method must do first. Every measurement has
a process of its own; the two programs take turns.
"""

from __future__ import annotations

import argparse
import os

import numpy as np

import shiftscope as ss
from benchmarks.neighbours import CASES, Measurement, apart, best, measure_faiss, measured
from experiments.benchmark20d import local_pair

CASE = CASES[0]
INJECTED = 300


def run(repeats: int = 1) -> tuple[Measurement, Measurement]:
    """Best of `repeats`: ours and faiss."""
    threads = os.cpu_count() or 1
    ours, faiss = [], []
    for _ in range(repeats):
        ours.append(apart(measure_compare, CASE, threads))
        faiss.append(apart(measure_faiss, CASE, threads))
    return best(ours), best(faiss)


def measure_compare(case: object, threads: int) -> Measurement:
    """One comparison of the localised benchmark, compiled kernels loaded before the clock starts."""
    warm = local_pair(100, 1, 1500)
    ss.compare(warm.reference, warm.current)
    pair = local_pair(INJECTED, 0)
    return measured(lambda: np.array([ss.compare(pair.reference, pair.current).modes[0].rows]))


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1)
    ours, faiss = run(parser.parse_args().repeats)
    print(f"compare            {ours.wall:6.1f} s  peak {ours.peak:6.0f} MB")
    print(f"faiss search alone {faiss.wall:6.1f} s  peak {faiss.peak:6.0f} MB")
    print(f"compare / faiss    {ours.wall / faiss.wall:6.2f}")


if __name__ == "__main__":
    main()
