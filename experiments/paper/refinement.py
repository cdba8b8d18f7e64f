"""From the pruned set of the full 20-D space to the support: corrected localisation and the literal form.

    python -m experiments.refinement --injected 300 400 500 --seeds 5 --out runs/refinement

One JSON file per unit (cardinality and seed); units already there are not run again.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path

import numpy as np

import shiftscope as ss
from experiments.benchmark20d import local_pair
from experiments.units import Unit, outcome, run_units


def main() -> None:
    """Run missing units and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--injected", type=int, nargs="+", default=[300, 400, 500])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs/refinement"))
    arguments = parser.parse_args()
    keys = product(arguments.injected, range(arguments.seeds))
    print("injected seed  p      removed (true)  modes: features, rows, recall, purity   exact  literal form   seconds")
    for result in run_units(keys, unit, arguments.out):
        show(result)


def unit(injected: int, seed: int) -> Unit:
    """Compare one pair in the full space only, and localise its pruned set by the literal form too."""
    pair = local_pair(injected, seed)
    start = time.perf_counter()
    result = ss.compare(pair.reference, pair.current, params=ss.CompareParams(scan=None))
    seconds = time.perf_counter() - start
    removed = result.equalisation.removed_current if result.equalisation else np.empty(0, np.intp)
    return {
        "injected": injected,
        "seed": seed,
        "removed": int(removed.size),
        "removed_true": int(pair.shifted[removed].sum()),
        "literal": literal_features(result, removed) if removed.size else [],
        **outcome(pair, result, seconds),
    }


def literal_features(result: ss.ShiftResult, removed: np.ndarray) -> list[int]:
    """Features the paper's literal localisation selects for the same pruned rows."""
    pool = result.encoded
    query = np.zeros(len(pool.points), dtype=bool)
    query[pool.n_reference + removed] = True
    return sorted(int(f) for f in ss.localise(pool.points, pool.is_current, query, batch="paper").features)


def show(unit: Unit) -> None:
    """One line per unit."""
    modes = unit["modes"]
    exact = unit["support"] == unit["truth"]
    text = "; ".join(
        f"{mode['side'][0]} {tuple(mode['features'])} {mode['rows']} rows, recall "
        f"{mode['true'] / unit['injected']:.2f}, purity {mode['true'] / mode['rows']:.2f}"
        for mode in modes
    )
    print(
        f"{unit['injected']:8d} {unit['seed']:4d}  {unit['p_value']:.3f}  {unit['removed']:4d} "
        f"({unit['removed_true']:3d})  {text}  {'yes' if exact else 'NO'}  "
        f"{len(unit['literal'])} features  {unit['seconds']:.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
