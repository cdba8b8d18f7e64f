"""Does the interval of a mode's excess cover the truth? Compact groups of known size.

    python -m experiments.calibration.excess_interval --seeds 100

3,000 + 3,000 rows; the injected rows gather in three of six features. The table counts how often the 95 % interval of
the mode that holds most of them covers their share. One JSON file per pair; what is there is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

import shiftscope as ss
from experiments.command import StudyParser, seeds_of
from experiments.runner import Unit, run_units

SEEDS = 100
N = 3000  # rows of either sample
SIZES = (45, 60, 75, 90, 120, 240)  # injected rows: from hardly ever found to always
QUICK_SIZES = (240,)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing pairs and print the table."""
    parser = StudyParser(__doc__, "calibration")
    parser.add_argument("--injected", type=int, nargs="+", help="sizes of the group; six by default")
    asked = parser.parse_args(arguments)
    sizes = asked.injected or (QUICK_SIZES if asked.quick else SIZES)
    print(table(run_units(product(["coverage"], sizes, seeds_of(asked, SEEDS)), unit, asked.out)))


def unit(_: str, injected: int, seed: int) -> Unit:
    """One compact group in three of six features, and the interval of the mode that holds most of its rows."""
    rng = np.random.default_rng([seed, injected])
    reference, current = rng.standard_normal((2, N, 6))
    current[:injected, :3] = rng.uniform(-1, 1, 3) + 0.15 * rng.standard_normal((injected, 3))
    result = ss.compare(reference, current, random_state=seed)
    modes = [mode for mode in result.modes if mode.side == "current"]
    best = max(modes, key=lambda mode: np.sum(mode.rows < injected), default=None)
    return {
        "injected": injected,
        "found": best is not None,
        "excess": best.excess if best else None,
        "interval": best.excess_interval if best else None,
        "truth": injected / N,
    }


def table(units: list[Unit]) -> str:
    """How often the interval holds the truth, by injected size."""
    lines = ["injected  pairs  found  covered  mean excess / truth"]
    for injected in sorted({unit["injected"] for unit in units}):
        rows = [unit for unit in units if unit["injected"] == injected]
        found = [unit for unit in rows if unit["found"]]
        covered = sum(unit["interval"][0] <= unit["truth"] <= unit["interval"][1] for unit in found)
        ratio = np.mean([unit["excess"] / unit["truth"] for unit in found]) if found else np.nan
        lines.append(f"{injected:8d}  {len(rows):5d}  {len(found):5d}  {covered:7d}  {ratio:19.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
