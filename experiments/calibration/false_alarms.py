"""Is the false-alarm rate what it says? The whole `compare` on pairs of samples of one distribution.

    python -m experiments.calibration.false_alarms --seeds 100

The table gives, for thirteen kinds of data, the pairs rejected at alpha = 0.05 and 0.01 with the binomial 99 % interval
around the nominal rate, for the verdict and for its two searches by themselves. One JSON file per pair; what is there
is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl
from scipy.stats import binom

import shiftscope as ss
from experiments.command import StudyParser, seeds_of
from experiments.runner import Unit, run_units

SEEDS = 100
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
QUICK_SETTINGS = ("small-d10", "mixed-d6")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing pairs and print the table."""
    parser = StudyParser(__doc__, "calibration")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), help="all by default")
    asked = parser.parse_args(arguments)
    settings = asked.settings or (QUICK_SETTINGS if asked.quick else SETTINGS)
    print(table(run_units(product(settings, seeds_of(asked, SEEDS)), unit, asked.out)))


def unit(setting: str, seed: int) -> Unit:
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


def table(units: list[Unit]) -> str:
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


if __name__ == "__main__":
    main()
