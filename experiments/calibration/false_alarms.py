"""Is the false-alarm rate what it says, and does the excess interval cover? Null pairs and injected shifts.

    python -m experiments.calibration --pairs 100 --out runs/calibration

Every null setting draws pairs of samples from one distribution and runs the whole `compare` on them; the table gives
the share rejected at alpha = 0.05 and 0.01 with the binomial 99 % interval around the nominal rate. The coverage part
injects compact groups of known size and counts how often the 95 % interval of the found mode holds the truth.
One JSON file per pair; what is there is not computed again.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import binom

import shiftscope as ss
from experiments.units import Unit, run_units

ALPHAS = (0.05, 0.01)
# name: (distribution, rows of the reference, rows of the current sample, features)
SETTINGS = {
    "gaussian-d1": ("gaussian", 500, 500, 1),
    "gaussian-d5": ("gaussian", 1000, 1000, 5),
    "gaussian-d20": ("gaussian", 1000, 1000, 20),
    "gaussian-d100": ("gaussian", 300, 300, 100),
    "gaussian-d300": ("gaussian", 200, 200, 300),
    "heavy-d5": ("heavy", 800, 800, 5),
    "heavy-d20": ("heavy", 500, 500, 20),
    "integer-d3": ("integer", 800, 800, 3),
    "integer-d10": ("integer", 500, 500, 10),
    "correlated-d20": ("correlated", 800, 800, 20),
    "small-d10": ("gaussian", 200, 200, 10),
    "unequal-d5": ("gaussian", 40_000, 1_500, 5),
    "mixed-d6": ("mixed", 300, 300, 6),
}
COVERAGE_SIZES = (45, 60, 75, 90, 120, 240)  # injected rows of 3,000: from hardly ever found to always


def main() -> None:
    """Run missing units and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100, help="null pairs per setting")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--coverage", type=int, default=100, help="pairs per injected size; 0 leaves this part out")
    parser.add_argument("--out", type=Path, default=Path("runs/calibration"))
    arguments = parser.parse_args()
    print(null_table(run_units(product(arguments.settings, range(arguments.pairs)), null_unit, arguments.out)))
    if arguments.coverage:
        keys = product(("coverage",), COVERAGE_SIZES, range(arguments.coverage))
        print(coverage_table(run_units(keys, coverage_unit, arguments.out)))


def null_unit(setting: str, seed: int) -> Unit:
    """One pair without any difference."""
    kind, n_reference, n_current, d = SETTINGS[setting]
    rng = np.random.default_rng([seed, len(setting), d, n_current])
    rows = draw(kind, n_reference + n_current, d, rng)
    result = ss.compare(rows[:n_reference], rows[n_reference:], alpha=max(ALPHAS), random_state=seed)
    p_scan = result.scan.p_value if result.scan else None
    return {"setting": setting, "p_value": result.p_value, "p_scan": p_scan, "p_full": result.calibration.p_value}


def draw(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray | pl.DataFrame:
    """`n` rows of one of the distributions of the study."""
    if kind == "mixed":
        return mixed(n, rng)
    if kind == "heavy":
        return rng.standard_t(2, size=(n, d))
    if kind == "integer":
        return rng.poisson(2.0, size=(n, d)).astype(float)
    rows = rng.standard_normal((n, d))
    if kind == "correlated":
        return np.sqrt(0.05) * rows + np.sqrt(0.95) * rng.standard_normal((n, 1))
    return rows


def mixed(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Six related columns: two categories (one with rare levels), a boolean, a date, and two numbers with gaps."""
    device = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    age = rng.normal(50, 10, n)
    day = np.datetime64("2024-01-01") + rng.integers(0, 365, n)
    gap = rng.random(n) < np.where(device == "B", 0.3, 0.02)
    return pl.DataFrame(
        {
            "device": device,
            "ward": rng.choice([f"ward {number}" for number in range(25)], n, p=_zipf(25)),
            "smoker": rng.random(n) < np.where(age > 50, 0.4, 0.2),
            "day": day,
            "age": age.round(),
            "dose": np.where(gap, np.nan, age / 10 + rng.standard_normal(n)),
        }
    )


def _zipf(count: int) -> np.ndarray:
    shares = 1.0 / np.arange(1, count + 1)
    return shares / shares.sum()


def coverage_unit(_: str, injected: int, seed: int) -> Unit:
    """One compact group in three of six features, and the interval of the mode that holds most of its rows."""
    rng = np.random.default_rng([seed, injected])
    reference, current = rng.standard_normal((2, 3000, 6))
    current[:injected, :3] = rng.uniform(-1, 1, 3) + 0.15 * rng.standard_normal((injected, 3))
    result = ss.compare(reference, current, random_state=seed)
    modes = [mode for mode in result.modes if mode.side == "current"]
    best = max(modes, key=lambda mode: np.sum(mode.rows < injected), default=None)
    return {
        "injected": injected,
        "found": best is not None,
        "excess": best.excess if best else None,
        "interval": best.excess_interval if best else None,
        "truth": injected / 3000,
    }


def null_table(units: list[Unit]) -> str:
    """Rejections per setting and in total."""
    lines = [
        f"{'setting':16s} pairs  "
        + "  ".join(f"{part} at {alpha:g} [99 %]".rjust(24) for part in ("all", "scan", "full") for alpha in ALPHAS)
    ]
    for setting in [*dict.fromkeys(unit["setting"] for unit in units), "all"]:
        rows = [unit for unit in units if setting in ("all", unit["setting"])]
        cells = [
            _cell([row[key] for row in rows], alpha) for key in ("p_value", "p_scan", "p_full") for alpha in ALPHAS
        ]
        lines.append(f"{setting:16s} {len(rows):5d}  " + "  ".join(cell.rjust(24) for cell in cells))
    return "\n".join(lines)


def _cell(p_values: list[float], alpha: float) -> str:
    rejected = int(np.sum(np.array(p_values) <= alpha))
    low, high = binom.interval(0.99, len(p_values), alpha)
    return f"{rejected} [{low:.0f}, {high:.0f}]{'' if rejected <= high else ' !'}"


def coverage_table(units: list[Unit]) -> str:
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
