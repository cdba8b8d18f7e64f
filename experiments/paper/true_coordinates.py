"""Equalisation in the five true coordinates of the localised 20-D benchmark: what is pruned, and is it injected?

    python -m experiments.paper.true_coordinates --injected 300 500 --seeds 3

Tells, per cardinality and seed, the removed-to-injected ratio (the paper's Figure 2 B) and the purity of the removed
rows, for the calibrated threshold (default) and for the paper's formula with its Monte Carlo null. One JSON file per
threshold, cardinality and seed; what is there is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import shiftscope as ss
from experiments.benchmark20d import LOCAL_SUPPORT, QUICK_ROWS, ROWS, local_pair
from experiments.command import StudyParser, seeds_of
from experiments.cost import spent
from experiments.runner import Unit, run_units

SEEDS = 3
THRESHOLDS = {
    "calibrated": ss.EqualiseParams(),
    "formula": ss.EqualiseParams(threshold="formula", null="simulated"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units and print the table."""
    parser = StudyParser(__doc__, "true_coordinates")
    parser.add_argument("--injected", type=int, nargs="+", default=[300, 500])
    asked = parser.parse_args(arguments)
    keys = product(THRESHOLDS, asked.injected, seeds_of(asked, SEEDS))
    print(table(run_units(keys, partial(unit, QUICK_ROWS if asked.quick else ROWS), asked.out)))


def unit(n: int, threshold: str, injected: int, seed: int) -> Unit:
    """Equalise one pair in its true coordinates."""
    pair = local_pair(injected, seed, n)
    support = list(LOCAL_SUPPORT)
    start = spent()
    done = ss.equalise(pair.reference[:, support], pair.current[:, support], params=THRESHOLDS[threshold])
    return {
        "threshold": threshold,
        "injected": injected,
        "seed": seed,
        "removed": [int(done.removed_reference.size), int(done.removed_current.size)],
        "removed_true": int(pair.shifted[done.removed_current].sum()),
        "seconds": (spent() - start).seconds,
    }


def table(units: list[Unit]) -> str:
    """One line per unit."""
    lines = ["threshold   injected  seed  removed  ratio  purity  reference removed  seconds"]
    for unit in units:
        reference, current = unit["removed"]
        purity = unit["removed_true"] / current if current else float("nan")
        lines.append(
            f"{unit['threshold']:10s}  {unit['injected']:8d}  {unit['seed']:4d}  {current:7d}  "
            f"{current / unit['injected']:5.2f}  {purity:6.3f}  {reference:17d}  {unit['seconds']:7.1f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
