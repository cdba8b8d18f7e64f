"""Tables with very many columns: seconds and peak memory of a comparison, or its refusal; fills docs/scale.md.

    python -m benchmarks.wide_tables [--out FOLDER] [--columns 500 2000] [--rows 100] [--page docs/scale.md]

Every size is a process of its own and a file of its own in FOLDER; sizes that are there are not run again. The samples
have as many rows each; a fifth of the current rows lie close together in three columns, so that all stages run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from experiments.markdown import filled, markdown_table
from experiments.runner import run_units

COLUMNS, ROWS = (500, 2_000, 5_000, 20_000), (100, 2_000)
OUT = Path(__file__).parent / "results" / "wide_tables"
MARK = "wide"  # of the page
KILOBYTE, MEGABYTE = 1024, 10**6


def samples(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian noise, and a compact group in the current sample."""
    rng = np.random.default_rng(0)
    reference, current = (rng.standard_normal((rows, columns)) for _ in range(2))
    group = slice(rows // 5)
    current[group, :3] = 1.5 + 0.2 * rng.standard_normal((rows // 5, 3))
    return reference, current


def measured(rows: int, columns: int) -> dict[str, Any]:
    """Compare in this process, which has done nothing else."""
    import shiftscope as ss
    from shiftscope._compare import needed_memory
    from shiftscope.job import Job
    from shiftscope.samples import open_samples

    both = samples(rows, columns)
    before, start = peak(), time.perf_counter()
    done: dict[str, Any] = {"rows": rows, "columns": columns}
    try:
        result = ss.compare(*both)
    except ss.InputError as error:
        return done | {"refusal": str(error), "seconds": time.perf_counter() - start, "peak": peak()}
    seconds, cpu = time.perf_counter() - start, time.process_time()
    done |= {"seconds": seconds, "cpu": cpu, "peak": peak(), "before": before, "p_value": result.p_value}
    done |= {"modes": [list(mode.features) for mode in result.modes], "timings": result.timings}
    with TemporaryDirectory() as folder:
        result.to_html(page := Path(folder, "page.html"))
        done |= {"page": page.stat().st_size, "json": len(result.to_json())}
    with open_samples(*both) as opened:
        return done | {"told": needed_memory(Job.of(opened, ss.CompareParams()))}


def peak() -> int:
    """Largest memory of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else KILOBYTE
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def apart(rows: int, columns: int) -> dict[str, Any]:
    """Measure in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.wide_tables", "--one", str(rows), str(columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{rows} rows x {columns} columns failed ({done.returncode}):\n{done.stderr}")
    unit: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return unit


def table(units: list[dict[str, Any]]) -> str:
    """The measurements as Markdown."""
    titles = ["columns", "rows of each sample", "seconds", "peak memory, MB"]
    titles += ["of it the comparison's, MB", "told before, MB", "modes found"]
    lines = []
    for unit in sorted(units, key=lambda unit: (unit["columns"], unit["rows"])):
        size = [f"{unit['columns']:,}", f"{unit['rows']:,}", f"{unit['seconds']:,.0f}"]
        if "refusal" in unit:
            lines.append([*size, unit["refusal"], "", "", ""])
        else:
            modes = "; ".join(" ".join(names) for names in unit["modes"])
            taken = unit["peak"], unit["peak"] - unit["before"], unit["told"]
            lines.append([*size, *(f"{number / MEGABYTE:,.0f}" for number in taken), modes])
    return markdown_table(titles, lines)


def main() -> None:
    """Measure what is missing, print the table and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", type=int, nargs=2, metavar=("ROWS", "COLUMNS"), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--page", type=Path, help="page whose table is filled in")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measured(*asked.one)))
        return
    keys = [(rows, columns) for rows in asked.rows for columns in asked.columns]
    told = table(run_units(keys, apart, asked.out))
    print(told)
    if asked.page is not None:
        asked.page.write_text(filled(asked.page.read_text("utf-8"), {MARK: told}), "utf-8")


if __name__ == "__main__":
    main()
