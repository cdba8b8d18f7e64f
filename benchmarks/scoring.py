"""Whole scoring against the neighbour search it contains, and the peak memory of equalisation.

    python -m benchmarks.scoring

The 20-D benchmark, 50,000 + 50,000 rows, K_M = 400. Scoring is neighbours, scores of both directions, both exact nulls
and their thresholds; the peer is our own neighbour search alone, in the same run. Equalisation runs in a process of its
own, so that its peak memory is its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

import shiftscope as ss
from experiments.benchmark20d import local_pair
from shiftscope.full_space.neighbours import neighbours
from tests.pairs import encode_pair

ROWS = 50_000
K_MAX = 400
REPEATS = 3
INJECTED = 300


def run() -> list[tuple[str, str, str]]:
    """Rows (case, figure, target)."""
    pair = local_pair(INJECTED, 0, ROWS)
    points = encode_pair(pair.reference, pair.current).points
    ss.score(pair.reference[:1000], pair.current[:1000], 50)  # compile or load from cache
    search, whole = [], []
    for _ in range(REPEATS):
        search.append(_seconds(lambda: neighbours(points, K_MAX)))
        whole.append(_seconds(lambda: _score(pair.reference, pair.current)))
    ratio = min(whole) / min(search)
    return [
        ("neighbours, 100,000 x 20, K = 400", f"{min(search):.1f} s", ""),
        ("whole scoring / neighbours", f"{ratio:.2f}", "at most 1.1"),
        ("peak memory of equalise", f"{equalise_peak():.2f} GB", "below 2 GB"),
    ]


def _score(reference: np.ndarray, current: np.ndarray) -> None:
    scores = ss.score(reference, current, K_MAX)
    scores.putative_reference()
    scores.putative_current()


def _seconds(call: object) -> float:
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


def equalise_peak() -> float:
    """Peak resident memory, in GB, of a process that equalises the pair."""
    out = subprocess.run(
        [sys.executable, "-m", "benchmarks.scoring", "--equalise"], capture_output=True, text=True, check=True
    )
    return float(out.stdout)


def main() -> None:
    """Print the table, or be the measured process."""
    if "--equalise" in sys.argv:
        pair = local_pair(INJECTED, 0, ROWS)
        ss.equalise(pair.reference, pair.current, K_MAX)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
        return
    for case, figure, target in run():
        print(f"{case:40s} {figure:>12s}   {target}")


if __name__ == "__main__":
    main()
