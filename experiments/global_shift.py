"""The global study: one component of the 20-D benchmark displaced along coordinates (0, 1, 3).

python -m experiments.global_shift --sigma 0 0.05 0.1 0.2 --seeds 11 --out runs/global_shift
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from experiments.benchmark20d import global_pair
from experiments.units import Unit, compared, run_units, table


def main() -> None:
    """Run missing units and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sigma", type=float, nargs="+", default=[round(0.05 * step, 2) for step in range(11)])
    parser.add_argument("--seeds", type=int, default=11)
    parser.add_argument("--out", type=Path, default=Path("runs/global_shift"))
    arguments = parser.parse_args()
    print(table(run_units(product(arguments.sigma, range(arguments.seeds)), unit, arguments.out), "sigma"))


def unit(sigma: float, seed: int) -> Unit:
    """One amplitude at one seed."""
    return {"sigma": sigma, "seed": seed, **compared(global_pair(sigma, seed))}


if __name__ == "__main__":
    main()
