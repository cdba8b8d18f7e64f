"""What remains of the benchmark shifts after equalisation, by independent tests, beside other ways to remove rows.

    python -m experiments.paper.remaining_shift --seeds 1

The localised and the global shift of the 20-D benchmark at three strengths each: tests before and after equalisation,
after random removal of as many rows and after drawing rows by an estimated density ratio; the share removed, and the
share of the removed current rows that were truly shifted. One JSON file per pair; what is there is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

import shiftscope as ss
from experiments.benchmark20d import QUICK_ROWS, ROWS, Pair, global_pair, local_pair
from experiments.command import StudyParser, seeds_of
from experiments.cost import spent
from experiments.runner import Unit, run_units

SEEDS = 1
PARAMS = ss.CompareParams()
STRENGTHS = {"local": (100, 300, 500), "global": (0.1, 0.2, 0.4)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing pairs and print one table per pair."""
    parser = StudyParser(__doc__, "remaining_shift")
    parser.add_argument("--shifts", nargs="+", default=list(STRENGTHS), choices=list(STRENGTHS))
    parser.add_argument("--strengths", type=float, nargs="+", help="of the shifts named; three each by default")
    parser.add_argument("--rows", type=int, help=f"background rows of either sample (default {ROWS:,})")
    asked = parser.parse_args(arguments)
    n = asked.rows or (QUICK_ROWS if asked.quick else ROWS)
    keys = [
        (shift, strength, n, seed)
        for shift, seed in product(asked.shifts, seeds_of(asked, SEEDS))
        for strength in asked.strengths or STRENGTHS[shift]
    ]
    print("\n\n".join(table(one) for one in run_units(keys, unit, asked.out)))


def unit(shift: str, strength: float, n: int, seed: int) -> Unit:
    """One pair: compare, certify, and hold the removed rows against the truth."""
    pair = benchmark_pair(shift, strength, n, seed)
    start = spent()
    result = ss.compare(pair.reference, pair.current, params=PARAMS, random_state=seed)
    compared = spent()
    certificate = ss.certify(result, random_state=seed)
    removed = result.equalised().removed_current
    return {
        "shift": shift,
        "strength": strength,
        "rows": n,
        "seed": seed,
        "detected": result.detected,
        "shifted": int(pair.shifted.sum()),
        "removed": [int(result.equalised().removed_reference.size), int(removed.size)],
        "removed_shifted": int(pair.shifted[removed].sum()),
        "subsets": [
            {
                "name": subset.name,
                "removed": [subset.removed_reference, subset.removed_current],
                "checks": {check.name: [check.statistic, check.p_value] for check in subset.checks},
            }
            for subset in certificate.subsets
        ],
        "cpu_seconds": [(compared - start).cpu_seconds, (spent() - compared).cpu_seconds],
    }


def benchmark_pair(shift: str, strength: float, n: int, seed: int) -> Pair:
    """A pair of the benchmark."""
    return local_pair(int(strength), seed, n) if shift == "local" else global_pair(strength, seed, n)


def table(unit: Unit) -> str:
    """Statistics and p-values of all subsets of one pair."""
    reference, current = unit["removed"]
    share = unit["removed_shifted"] / current if current else np.nan
    lines = [
        f"{unit['shift']} {unit['strength']:g}, {unit['rows']} rows, seed {unit['seed']}: removed {reference} "
        f"reference and {current} current rows, {share:.0%} of the latter truly shifted ({unit['shifted']} are)"
    ]
    names = list(unit["subsets"][0]["checks"])
    lines.append(f"{'':16s}{'removed (ref, cur)':>20s}" + "".join(f"{name:>32s}" for name in names))
    for subset in unit["subsets"]:
        removed = ", ".join(f"{100 * share:.2f} %" for share in subset["removed"])
        cells = (f"{value:.3g} (p {p_value:.2g})" for value, p_value in subset["checks"].values())
        lines.append(f"{subset['name']:16s}{removed:>20s}" + "".join(f"{cell:>32s}" for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
