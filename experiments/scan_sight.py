"""How little shift does the scan see on the 20-D benchmark? One line per case and seed, resumable.

    python -m experiments.scan_sight [--output scan_sight.csv] [--seeds 11] [--cases local:100 global:0.1 ...]

A case is `local:<injected rows>` or `global:<sigma>`; cases and seeds already in the output are not run again. The
table at the end counts, per case, detections at p <= 0.01, best sets inside the true support and equal to it.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from shiftscope.scan import scan_points

from experiments.benchmark20d import DIMENSION, GLOBAL_SUPPORT, LOCAL_SUPPORT, Pair, global_pair, local_pair

CASES = (
    "local:100", "local:75", "local:50", "local:25", "local:0", "global:0.1", "global:0.05",
)  # fmt: skip
COLUMNS = ("case", "seed", "p_value", "statistic", "features", "value", "p_of_set", "seconds")
ALPHA = 0.01


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("scan_sight.csv"))
    parser.add_argument("--seeds", type=int, default=11)
    parser.add_argument("--cases", nargs="*", default=CASES)
    args = parser.parse_args()
    done = read(args.output)
    for case in args.cases:
        for seed in range(args.seeds):
            if (case, str(seed)) not in {(line["case"], line["seed"]) for line in done}:
                done.append(run(case, seed))
                write(args.output, done)
                print(*done[-1].values(), flush=True)
    print(table(done, args.cases))


def make(case: str, seed: int) -> Pair:
    """The pair that a case names."""
    kind, size = case.split(":")
    return local_pair(int(size), seed) if kind == "local" else global_pair(float(size), seed)


def run(case: str, seed: int) -> dict[str, str]:
    """Scan one pair with default settings."""
    pair = make(case, seed)
    points = np.vstack([pair.reference, pair.current])
    names = tuple(f"x{feature}" for feature in range(DIMENSION))
    start = time.perf_counter()
    result = scan_points(points, len(pair.reference), names, random_state=seed)
    seconds = time.perf_counter() - start
    best = result.sets[0]
    features = "+".join(map(str, best.features))
    values = (
        case,
        seed,
        result.p_value,
        best.statistic,
        features,
        round(best.value, 2),
        best.p_value,
        round(seconds, 1),
    )
    return dict(zip(COLUMNS, map(str, values), strict=True))


def read(path: Path) -> list[dict[str, str]]:
    """Lines of an earlier run."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def write(path: Path, lines: list[dict[str, str]]) -> None:
    """Write all lines."""
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(lines)


def table(lines: list[dict[str, str]], cases: tuple[str, ...]) -> str:
    """Counts per case."""
    out = [f"{'case':12} {'seeds':>5} {'p<=0.01':>8} {'inside':>7} {'exact':>6} {'value (least, median)':>22}"]
    for case in cases:
        support = set(LOCAL_SUPPORT if case.startswith("local") else GLOBAL_SUPPORT)
        mine = [line for line in lines if line["case"] == case]
        detected = [line for line in mine if float(line["p_value"]) <= ALPHA]
        sets = [{int(feature) for feature in line["features"].split("+")} for line in detected]
        values = [float(line["value"]) for line in mine] or [np.nan]
        inside, exact = sum(features <= support for features in sets), sum(features == support for features in sets)
        out.append(
            f"{case:12} {len(mine):5d} {len(detected):8d} {inside:7d} {exact:6d} "
            f"{min(values):11.1f} {float(np.median(values)):10.1f}"
        )
    return "\n".join(out)


if __name__ == "__main__":
    main()
