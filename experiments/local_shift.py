"""The localised study: a compact minority injected into one cohort of the 20-D benchmark.

python -m experiments.local_shift --injected 100 75 50 25 --seeds 11 --out runs/local_shift
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from experiments.benchmark20d import local_pair
from experiments.units import Unit, compared, run_units, table


def main() -> None:
    """Run missing units and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--injected", type=int, nargs="+", default=[0, 25, 50, 75, *range(100, 501, 50)])
    parser.add_argument("--seeds", type=int, default=11)
    parser.add_argument("--out", type=Path, default=Path("runs/local_shift"))
    arguments = parser.parse_args()
    print(table(run_units(product(arguments.injected, range(arguments.seeds)), unit, arguments.out), "injected"))


def unit(injected: int, seed: int) -> Unit:
    """One cardinality at one seed."""
    return {"injected": injected, "seed": seed, **compared(local_pair(injected, seed))}


if __name__ == "__main__":
    main()
