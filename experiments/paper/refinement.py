"""From the pruned set of the full 20-D space to the support: corrected localisation and the literal form.

    python -m experiments.paper.refinement --injected 300 400 500 --seeds 5

One JSON file per unit (cardinality and seed); units already there are not run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

import shiftscope as ss
from experiments.benchmark20d import QUICK_ROWS, ROWS, local_pair
from experiments.command import StudyParser, seeds_of
from experiments.paper.outcome import compared
from experiments.runner import Unit, run_units

SEEDS = 5
PARAMS = ss.CompareParams(scan=None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units and print the table."""
    parser = StudyParser(__doc__, "refinement")
    parser.add_argument("--injected", type=int, nargs="+", default=[300, 400, 500])
    asked = parser.parse_args(arguments)
    keys = product(asked.injected, seeds_of(asked, SEEDS))
    print(table(run_units(keys, partial(unit, QUICK_ROWS if asked.quick else ROWS), asked.out)))


def unit(n: int, injected: int, seed: int) -> Unit:
    """Compare one pair in the full space only, and localise its pruned set by the literal form too."""
    pair = local_pair(injected, seed, n)
    result, found = compared(pair, PARAMS)
    removed = result.equalisation.removed_current if result.equalisation else np.empty(0, np.intp)
    return {
        "injected": injected,
        "seed": seed,
        "removed": int(removed.size),
        "removed_true": int(pair.shifted[removed].sum()),
        "literal": literal_features(result, removed) if removed.size else [],
        **found,
    }


def literal_features(result: ss.ShiftResult, removed: np.ndarray) -> list[int]:
    """Features the paper's literal localisation selects for the same pruned rows."""
    pool = result.encoded
    query = np.zeros(len(pool.points), dtype=bool)
    query[pool.n_reference + removed] = True
    return sorted(int(f) for f in ss.localise(pool.points, pool.is_current, query, batch="paper").features)


def table(units: list[Unit]) -> str:
    """One line per unit."""
    lines = [
        "injected seed  p      removed (true)  modes: features, rows, recall, purity   exact  literal form   seconds"
    ]
    for unit in units:
        modes = "; ".join(
            f"{mode['side'][0]} {tuple(mode['features'])} {mode['rows']} rows, recall "
            f"{mode['true'] / unit['injected']:.2f}, purity {mode['true'] / mode['rows']:.2f}"
            for mode in unit["modes"]
        )
        lines.append(
            f"{unit['injected']:8d} {unit['seed']:4d}  {unit['p_value']:.3f}  {unit['removed']:4d} "
            f"({unit['removed_true']:3d})  {modes}  {'yes' if unit['support'] == unit['truth'] else 'NO'}  "
            f"{len(unit['literal'])} features  {unit['seconds']:.0f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
