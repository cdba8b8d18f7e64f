"""Time and peak memory of `look` and `compare` on large CSV files, which are made in a scratch folder and deleted.

python -m benchmarks.large_text --gigabytes 1 --compare
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

BLOCK_ROWS = 500_000
CHILD = """
import json, resource, sys, time
import shiftscope as ss
start = time.perf_counter()
{call}
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--compare", action="store_true", help="also compare two such files")
    parser.add_argument("--folder", type=Path, help="where to make the files; a scratch folder by default")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        paths = [make(Path(folder) / f"{name}.csv", asked.gigabytes, seed) for seed, name in enumerate(("a", "b"))]
        size = paths[0].stat().st_size / 1e9
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "shiftscope.cli", "look", str(paths[0])], check=True, capture_output=True)
        print(f"file: {size:.2f} GB; shiftscope look: {time.perf_counter() - start:.2f} s as a command")
        report("ss.look", f"ss.look({str(paths[0])!r})")
        report(
            "read both",
            f"from shiftscope.tables.table import read_table as r\nt = [r(p, 'x') for p in {list(map(str, paths))!r}]",
        )
        if asked.compare:
            report("ss.compare", f"ss.compare({str(paths[0])!r}, {str(paths[1])!r})")


def make(path: Path, gigabytes: float, seed: int) -> Path:
    """Ten columns: numbers, some with gaps, a date, a category."""
    rng = np.random.default_rng(seed)
    with path.open("wb") as file:
        while file.tell() < 1e9 * gigabytes:
            frame = pl.DataFrame({f"x{at}": rng.normal(size=BLOCK_ROWS).round(5) for at in range(8)})
            gaps = pl.Series("gap", rng.normal(size=BLOCK_ROWS).round(4)).set(
                pl.Series(rng.random(BLOCK_ROWS) < 0.05), None
            )
            days = pl.Series("day", np.datetime64("2020-01-01") + rng.integers(0, 1500, BLOCK_ROWS))
            city = pl.Series("city", rng.choice(["Bonn", "Ulm", "Kiel"], BLOCK_ROWS))
            frame.with_columns(gaps, days, city).write_csv(file, include_header=file.tell() == 0)
    return path


def report(name: str, call: str) -> None:
    done = subprocess.run([sys.executable, "-c", CHILD.format(call=call)], check=True, capture_output=True, text=True)
    seconds, processor, memory = json.loads(done.stdout.splitlines()[-1])
    print(f"{name}: {seconds:.2f} s ({processor:.2f} s of processors), peak memory {memory:.2f} GB", flush=True)


if __name__ == "__main__":
    main()
