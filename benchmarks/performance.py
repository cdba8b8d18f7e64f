"""Time, memory and growth beside other programs and the limits of the machine: writes docs/performance.md.

    python -m benchmarks.performance [--quick] [--out FOLDER]

Every measurement is a unit: a process of its own and a file of its own in FOLDER. Units that are there are not run
again, so an interrupted run goes on where it stopped; delete the folder to measure anew. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.units import cores, measured_apart
from experiments.runner import run_units
from shiftscope.output_files import write_text

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
OUT = Path(__file__).parent / "results"
ESTIMATED_ROWS, ESTIMATED_CORES = 10**9, 100
BYTES_PER_ROW = 20 + 32  # codes of 20 columns, and labels of 255 permutations
Costs = dict[tuple[Any, ...], dict[str, float]]


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes
    ----------
    searches : (n, d, k) of the neighbour searches
    rows : pooled rows of the growth curve in n, at `columns` columns
    columns : int
    widths : columns of the growth curve in d, at `width_rows` pooled rows
    width_rows : int
    k : neighbours of faiss beside the whole comparison
    """

    searches: tuple[tuple[int, int, int], ...]
    rows: tuple[int, ...]
    columns: int
    widths: tuple[int, ...]
    width_rows: int
    k: int
    product: int
    megabytes: int

    def units(self) -> list[tuple[Any, ...]]:
        """All units."""
        found: list[tuple[Any, ...]] = [("arithmetic", self.product), ("bandwidth", self.megabytes), ("version",)]
        found.append(("first_result",))
        found += [(program, *case) for case in self.searches for program in ("ours", "faiss", "sklearn")]
        for n in self.rows:
            found += [("scan", n, self.columns), ("compare", n, self.columns), ("classifier", n, self.columns)]
        found.append(("faiss", self.compared, self.columns, self.k))
        for d in self.widths:
            found += [("scan", self.width_rows, d), ("compare", self.width_rows, d), ("classifier", self.width_rows, d)]
        return list(dict.fromkeys(found))

    @property
    def compared(self) -> int:
        """Rows at which the comparison stands beside faiss's search: 100,000, or the most that are measured."""
        return 100_000 if 100_000 in self.rows else self.rows[-1]


FULL = Plan(
    searches=((100_000, 20, 400), (100_000, 5, 400), (10_000, 565, 200)),
    rows=(10_000, 30_000, 100_000, 300_000, 1_000_000),
    columns=20,
    widths=(5, 20, 60, 200, 600),
    width_rows=10_000,
    k=400,
    product=4000,
    megabytes=1024,
)
QUICK = Plan(
    searches=((2000, 20, 50), (2000, 5, 50)),
    rows=(1000, 2000),
    columns=5,
    widths=(3, 5),
    width_rows=1000,
    k=50,
    product=500,
    megabytes=64,
)


def run(plan: Plan, out: Path) -> Costs:
    """All units, measured or read."""
    keys = plan.units()
    return dict(zip(keys, run_units(keys, measured_apart, out), strict=True))


def page(plan: Plan, costs: Costs, cluster_cost: dict[str, Any] | None = None) -> str:
    """The figures as Markdown; those of a cluster if they have been measured (see `benchmarks.many_rows`)."""
    flops, bytes_ = costs[("arithmetic", plan.product)]["rate"], costs[("bandwidth", plan.megabytes)]["rate"]
    lines = [
        "# Performance",
        "",
        "Written by `make bench`. All figures are of one run on one machine; ratios within it mean more than seconds.",
        "",
        f"Machine: {cores()} cores, {processor()}, {platform.system()}, Python {platform.python_version()}. "
        f"Single-precision matrix product {flops / 1e9:.0f} GFLOP/s on all cores; memory {bytes_ / 1e9:.1f} GB/s "
        "on one core.",
        "",
        "## Exact neighbours",
        "",
        "The limit is the time in which the cores could do the multiplications and additions of all distances "
        "(2 n² d) in a matrix product, without choosing the nearest ones. Ratios above 1 mean that we are faster.",
        "",
        *searches(plan, costs, flops),
        "",
        "## The whole comparison",
        "",
        *beside(plan, costs),
        "",
        "## Growth",
        "",
        f"With the pooled rows, {plan.columns} columns. Exponents are slopes of log seconds against log rows or "
        "columns.",
        "",
        *growth(costs, [(n, plan.columns) for n in plan.rows], 0, "rows", bytes_),
        "",
        f"With the columns, {plan.width_rows:,} pooled rows.",
        "",
        *growth(costs, [(plan.width_rows, d) for d in plan.widths], 1, "columns", bytes_),
        "",
        "The scan updates one counter (a byte) per row, labelling and column set; its limit is the time in which one "
        "core reads as many bytes from memory. Counters stay in the caches, so it can be faster than that. The fewer "
        "rows and columns there are, the more labellings are drawn, so small data take longer than the curves of large "
        "ones would say.",
        "",
        *cluster(cluster_cost),
        "## Cold start",
        "",
        f"`shiftscope --version`: {costs[('version',)]['wall']:.2f} s. Import and first comparison of 500 + 500 x 4 "
        f"in a new process, compiled kernels on disk: {costs[('first_result',)]['wall']:.1f} s.",
        "",
    ]
    return "\n".join(lines)


def searches(plan: Plan, costs: Costs, flops: float) -> list[str]:
    """Neighbour searches beside other programs and the arithmetic limit."""
    lines = [
        "| rows x columns, k | ours (s) | faiss / ours | scikit-learn / ours | limit / ours "
        "| ours (GiB) | faiss (GiB) | scikit-learn (GiB) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for n, d, k in plan.searches:
        ours, faiss, sklearn = (costs[(program, n, d, k)] for program in ("ours", "faiss", "sklearn"))
        limit = 2.0 * n * n * d / flops
        lines.append(
            f"| {n:,} x {d}, {k} | {ours['wall']:.2f} | {faiss['wall'] / ours['wall']:.2f} "
            f"| {sklearn['wall'] / ours['wall']:.2f} | {limit / ours['wall']:.2f} | {ours['peak']:.2f} "
            f"| {faiss['peak']:.2f} | {sklearn['peak']:.2f} |"
        )
    return lines


def beside(plan: Plan, costs: Costs) -> list[str]:
    """compare beside faiss's search alone, and beside a classifier test."""
    n, d = plan.compared, plan.columns
    ours, faiss, trees = costs[("compare", n, d)], costs[("faiss", n, d, plan.k)], costs[("classifier", n, d)]
    return [
        f"`compare` of {n:,} pooled rows x {d}: {ours['wall']:.1f} s, {ours['peak']:.2f} GiB. That is "
        f"{ours['wall'] / faiss['wall']:.2f} times faiss's search for {plan.k} neighbours alone "
        f"({faiss['wall']:.1f} s) and {ours['wall'] / trees['wall']:.2f} times an out-of-fold LightGBM test "
        f"({trees['wall']:.1f} s), which gives a verdict, but no rows, columns or subsets.",
    ]


def growth(costs: Costs, cases: list[tuple[int, int]], axis: int, word: str, bytes_: float) -> list[str]:
    """A table of one growth curve, with the fitted exponents."""
    lines = [
        f"| {word} | scan (s) | limit / scan | (GiB) | compare (s) | (GiB) | LightGBM (s) | (GiB) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    programs = ("scan", "compare", "classifier")
    for case in cases:
        scan, compare, trees = (costs[(program, *case)] for program in programs)
        lines.append(
            f"| {case[axis]:,} | {scan['wall']:.1f} | {scan['rate'] / bytes_:.2f} | {scan['peak']:.2f} "
            f"| {compare['wall']:.1f} | {compare['peak']:.2f} | {trees['wall']:.1f} | {trees['peak']:.2f} |"
        )
    sizes = np.log([case[axis] for case in cases])
    slopes = [np.polyfit(sizes, np.log([costs[(p, *case)]["wall"] for case in cases]), 1)[0] for p in programs]
    return [*lines, f"| exponent | {slopes[0]:.2f} | | | {slopes[1]:.2f} | | {slopes[2]:.2f} | |"]


def cluster(cost: dict[str, Any] | None) -> list[str]:
    """Many rows on workers of little memory: time by stage, throughput, memory with time, and an estimate."""
    if cost is None:
        return []
    rate, curve = cost["scan_rows_per_second_and_core"], cost["worker_gb"]
    hours = ESTIMATED_ROWS / rate / ESTIMATED_CORES / 3600.0
    share = ESTIMATED_ROWS // ESTIMATED_CORES
    stages = ", ".join(f"{stage} {seconds:.0f}" for stage, seconds in cost["timings"].items())
    return [
        "## A cluster",
        "",
        f"{cost['rows'] // 2:,} + {cost['rows'] // 2:,} rows x 20 in Parquet files, {cost['workers']} workers of one "
        f"thread limited to {cost['memory_limit']} each (`python -m benchmarks.many_rows FOLDER`): "
        f"{cost['seconds']:.0f} s, p = {cost['p_value']:.3g}. Seconds by stage: {stages}. The scan takes {rate:,.0f} "
        f"rows per second and core. Peak memory of the client: {cost['client_gb']:.2f} GB. Modes found: "
        f"{'; '.join(', '.join(columns) for columns in cost['modes']) or 'none'} (the injected rows, of which the "
        "gathered ones have a part, are compact in x2, x4, x6, x8, x9).",
        "",
        "Memory of the largest worker, looked at every two seconds; the largest value since the time before:",
        "",
        "| seconds | " + " | ".join(f"{at:.0f}" for at, _ in curve) + " |",
        "| --- |" + " --- |" * len(curve),
        "| GB | " + " | ".join(f"{held:.2f}" for _, held in curve) + " |",
        "",
        f"On paper, {ESTIMATED_ROWS:,} rows on {ESTIMATED_CORES} such workers: the work of the scan grows in "
        f"proportion to the rows and is shared out evenly, so {hours:.1f} hours, with {share:,} rows "
        f"({share * BYTES_PER_ROW / 1e9:.1f} GB of codes and labels) on each. Tables of logarithms take 8 bytes per "
        f"pooled row in every process, so such workers need {ESTIMATED_ROWS * 8 / 1e9:.0f} GB more.",
        "",
    ]


def measured_cluster(path: Path) -> dict[str, Any] | None:
    """The figures of `benchmarks.many_rows`, if they are there."""
    if not path.exists():
        return None
    cost: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return cost


def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> None:
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes; prints the page instead of writing it")
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    plan = QUICK if arguments.quick else FULL
    costs = run(plan, arguments.out or OUT / ("quick" if arguments.quick else "full"))
    text = page(plan, costs, measured_cluster(OUT / "many_rows.json"))
    if arguments.quick:
        print(text)
    else:
        write_text(PAGE, text)
        print(f"Written: {PAGE}")


if __name__ == "__main__":
    main()
