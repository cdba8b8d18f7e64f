"""Many comparisons in one process: memory must stay flat.

    python -m validation.soak --comparisons 1000

Small tables of every kind, with and without a shift, in turn, each with its page and certificate. The first fifth warms
up (kernels, caches, the allocator); after that, memory in use may grow by no more than a few kilobytes a comparison.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import shiftscope as ss
from validation.unchanged import mixed_table, mixture

QUICK = ss.CompareParams(
    alpha=0.05,
    n_permutations=59,
    max_iterations=2,
    scan=ss.ScanParams(n_permutations=63, n_seeds=8, beam=1),
    equalise=ss.EqualiseParams(k_max=40, n_permutations=39),
    localise=ss.LocaliseParams(epochs=10),
)
MOST_PER_COMPARISON = 16 * 1024  # bytes


def resident() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def one(number: int, folder: Path) -> None:
    """One comparison, its page, and now and then the other questions."""
    injected = 40 * (number % 2)
    kind = number // 2 % 3
    if kind == 0:
        pair = mixture(120 + number % 7, number, injected=injected, d=4)
    elif kind == 1:
        pair = mixed_table(120, number), mixed_table(110, number + 1, share=injected / 160)
    else:
        tables = mixed_table(120, number), mixed_table(110, number + 1, share=injected / 160)
        pair = folder / "reference.csv", folder / "current.csv"
        for table, path in zip(tables, pair, strict=True):
            table.to_csv(path, index=False)
    result = ss.compare(*pair, params=QUICK, random_state=number)
    result.to_json()
    if number % 12 in (0, 1, 3, 5):  # of every kind, with and without a shift
        result.to_html(folder / "page.html")
        ss.certify(result, n_permutations=19, alternatives=False)
        ss.explain_rows(*pair, np.arange(10), alpha=0.05, params=QUICK.scan, random_state=number)


def soak(comparisons: int, tell: Callable[[int, int], None], work: Callable[[int, Path], None] = one) -> float:
    """Bytes by which memory grows per comparison after the warm-up: the slope through what was measured."""
    numbers, bytes_used = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(comparisons):
            work(number, Path(folder))
            gc.collect()
            tell(number + 1, resident())
            if number >= comparisons // 5:
                numbers.append(number)
                bytes_used.append(resident())
    return float(np.polyfit(numbers, bytes_used, 1)[0])


def main() -> int:
    """Print memory now and then, and the growth at the end; 1 if it is too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--comparisons", type=int, default=1000)
    comparisons = parser.parse_args().comparisons
    every = max(1, comparisons // 20)

    def tell(done: int, used: int) -> None:
        if done == 1 or done % every == 0:
            print(f"{done:6d} comparisons {used / 2**20:8.1f} MB", flush=True)

    growth = soak(comparisons, tell)
    print(
        f"growth after the first fifth: {growth / 1024:.2f} kB per comparison, at most {MOST_PER_COMPARISON / 1024:g}"
    )
    return int(growth > MOST_PER_COMPARISON)


if __name__ == "__main__":
    sys.exit(main())
