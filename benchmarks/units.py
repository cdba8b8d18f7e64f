"""One measurement each: a program on one data set, in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 0
FOLDS = 5
LABELLINGS = 499  # of the classifier test, as many as `compare` draws
COMMAND = [sys.executable, "-m", "benchmarks.units"]


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock and of all cores, peak memory of the process in GiB, and a rate where one was measured."""

    wall: float
    cpu: float
    peak: float
    rate: float = float("nan")


def measured_apart(kind: str, *numbers: int) -> dict[str, Any]:
    """Measure in a fresh process."""
    done = subprocess.run([*COMMAND, kind, *map(str, numbers)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"benchmark {kind} {numbers} failed:\n{done.stderr}")
    cost: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return cost


def pool(n: int, d: int) -> NDArray[np.float64]:
    """`n` pooled rows of `d` columns: a correlated Gaussian mixture with a compact group in the second half."""
    rng = np.random.default_rng(SEED)
    rows = rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((4, d))[rng.integers(0, 4, n)]
    group = slice(n - max(20, n // 150), n)
    few = min(3, d)
    rows[group, :few] = 0.5 + 0.1 * rng.standard_normal((len(rows[group]), few))
    return np.ascontiguousarray((rows - rows.mean(axis=0)) / rows.std(axis=0))


def ours(n: int, d: int, k: int) -> Cost:
    """Exact neighbours of all rows."""
    from shiftscope.engines.local import LocalEngine

    points, engine = pool(n, d), LocalEngine()
    engine.index(points[: k + 600], k).knn(k)  # load the compiled kernels
    return timed(lambda: engine.index(points, k).knn(k))


def faiss(n: int, d: int, k: int) -> Cost:
    """The same by faiss `IndexFlatL2`, in single precision."""
    import faiss

    faiss.omp_set_num_threads(cores())
    points = pool(n, d).astype(np.float32)
    index = faiss.IndexFlatL2(d)

    def search() -> None:
        index.add(points)
        index.search(points, k + 1)

    return timed(search)


def sklearn(n: int, d: int, k: int) -> Cost:
    """The same by scikit-learn, brute force (a tree in few columns)."""
    from sklearn.neighbors import NearestNeighbors

    points = pool(n, d)
    search = NearestNeighbors(n_neighbors=k, algorithm="kd_tree" if d <= 8 else "brute", n_jobs=cores()).fit(points)
    return timed(lambda: search.kneighbors())


def scan(n: int, d: int) -> Cost:
    """The scan of `n` rows; its rate is that at which it updates counters of one byte, per second.

    At least one counter a row, permutation and set must be updated.
    """
    from shiftscope.params import ScanParams
    from shiftscope.subspaces.scan import scan_points

    points, names = pool(n, d), tuple(f"x{f}" for f in range(d))
    scan_points(points[:: max(1, n // 400)][:400], 200, names, ScanParams(n_permutations=1))
    labellings = []
    cost = timed(lambda: labellings.append(scan_points(points, n // 2, names).n_permutations + 1))
    sets = sum(comb(d, size) for size in range(1, 4 if d <= ScanParams().max_triples else 3))
    return Cost(cost.wall, cost.cpu, cost.peak, n * sets * labellings[0] / cost.wall)


def compare(n: int, d: int) -> Cost:
    """The whole comparison of `n` pooled rows, kernels loaded."""
    import shiftscope as ss

    points, warm = pool(n, d), pool(3000, min(d, 20))
    ss.compare(warm[:1500], warm[1500:])
    return timed(lambda: ss.compare(points[: n // 2], points[n // 2 :]))


def classifier(n: int, d: int) -> Cost:
    """The cheapest honest alternative: LightGBM out of fold, its AUC ranked among label permutations of the scores."""
    import lightgbm
    from scipy.stats import rankdata
    from sklearn.model_selection import StratifiedKFold

    points, labels = pool(n, d), np.arange(n) >= n // 2

    def test() -> float:
        scores = np.empty(n)
        for past, now in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(points, labels):
            model = lightgbm.LGBMClassifier(random_state=SEED, verbose=-1, n_jobs=cores())
            scores[now] = model.fit(points[past], labels[past]).predict_proba(points[now])[:, 1]
        ranks, rng = rankdata(scores), np.random.default_rng(SEED)
        observed = ranks[labels].sum()
        return float(np.mean([ranks[rng.permutation(labels)].sum() >= observed for _ in range(LABELLINGS)]))

    return timed(test)


def arithmetic(n: int) -> Cost:
    """Multiplications and additions per second of a single-precision matrix product on all cores."""
    rng = np.random.default_rng(SEED)
    left, right = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    left @ right
    cost = timed(lambda: left @ right)
    return Cost(cost.wall, cost.cpu, cost.peak, 2.0 * n**3 / cost.wall)


def bandwidth(megabytes: int) -> Cost:
    """Bytes per second read from memory by a sum over an array larger than the caches, one core."""
    values = np.ones(megabytes * 2**17)
    values.sum()
    cost = timed(lambda: values.sum())
    return Cost(cost.wall, cost.cpu, cost.peak, values.nbytes / cost.wall)


def version() -> Cost:
    """`shiftscope --version`."""
    return _command("from shiftscope.cli.app import main; import sys; sys.argv = ['shiftscope', '--version']; main()")


def first_result() -> Cost:
    """Import and a first small comparison in a fresh process, compiled kernels on disk."""
    code = "import numpy as np, shiftscope as ss; r = np.random.default_rng(0).standard_normal((2, 500, 4))"
    _command(f"{code}; ss.compare(*r)")
    return _command(f"{code}; ss.compare(*r)")


def _command(code: str) -> Cost:
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    wall, ended = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    return Cost(wall, cpu, ended.ru_maxrss / 2**20)


def timed(work: Callable[[], object]) -> Cost:
    """What one call costs."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return Cost(wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


PROGRAMS: dict[str, Callable[..., Cost]] = {
    program.__name__: program
    for program in (
        ours, faiss, sklearn, scan, compare, classifier, arithmetic, bandwidth, version, first_result
    )
}  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(asdict(PROGRAMS[sys.argv[1]](*map(int, sys.argv[2:])))))
