"""Are random rows explained at the rate stated, and injected rows always? Type-I error and power of `explain_rows`.

    python -m experiments.calibration.suspected_rows
    python -m experiments.calibration.suspected_rows --parts power --rows 4000 --seeds 5

Type I (200 pairs of each kind by default): random rows of the current sample, which is drawn like the reference
("equal"), displaced in a tenth of its rows ("local") or as a whole ("global"). Power (5 seeds by default), on the 20-D
benchmark: all injected rows are suspected ("all"), half of them ("half"), or as many random rows are suspected besides
("mixed"). One JSON file per pair; what is there is not computed again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.stats import binom

import shiftscope as ss
from experiments.benchmark20d import LOCAL_SUPPORT, local_pair
from experiments.command import StudyParser, seeds_of
from experiments.cost import spent
from experiments.runner import Unit, run_units

PARTS = {"null": 200, "power": 5}  # seeds by default
ALPHAS = (0.05, 0.01)
NULL_ROWS, NULL_COLUMNS, NULL_SUSPECTED = 400, 5, 40
NULL_SCAN = ss.ScanParams(n_permutations=199, n_seeds=32, beam=8)
SHIFTS = ("equal", "local", "global")
POWER = ((25, 4_000), (50, 4_000), (100, 4_000), (100, 50_000))  # injected rows, background rows of either sample
QUICK_POWER = ((40, 300),)
SUSPICIONS = ("all", "half", "mixed")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing pairs and print the tables."""
    parser = StudyParser(__doc__, "suspected_rows")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    sizes = sorted({n for _, n in POWER})
    parser.add_argument("--rows", type=int, nargs="+", default=sizes, choices=sizes, help="of the power study")
    parser.add_argument("--suspicions", nargs="+", default=list(SUSPICIONS), choices=SUSPICIONS)
    asked = parser.parse_args(arguments)
    if "null" in asked.parts:
        print(null_table(run_units(product(SHIFTS, seeds_of(asked, PARTS["null"])), null_unit, asked.out)))
    if "power" in asked.parts:
        print(power_table(run_units(power_keys(asked), power_unit, asked.out)))


def power_keys(asked: argparse.Namespace) -> list[tuple[int, int, str, int]]:
    """Injected rows, background rows, suspicion and seed of all units of the power study."""
    settings = QUICK_POWER if asked.quick else [(injected, n) for injected, n in POWER if n in asked.rows]
    seeds = seeds_of(asked, PARTS["power"])
    return [(*setting, how, seed) for setting, how, seed in product(settings, asked.suspicions, seeds)]


def null_unit(shift: str, seed: int) -> Unit:
    """Random rows of a current sample that may itself differ from the reference."""
    rng = np.random.default_rng([seed, SHIFTS.index(shift)])
    reference, current = rng.standard_normal((2, NULL_ROWS, NULL_COLUMNS))
    if shift == "local":
        current[: NULL_ROWS // 10, :2] = 1.0 + 0.1 * rng.standard_normal((NULL_ROWS // 10, 2))
    elif shift == "global":
        current[:, :3] += 0.7
    rows = rng.choice(NULL_ROWS, NULL_SUSPECTED, replace=False)
    found = ss.explain_rows(reference, current, rows, params=NULL_SCAN, random_state=seed)
    return {"shift": shift, "p_value": found.p_value}


def power_unit(injected: int, n: int, suspicion: str, seed: int) -> Unit:
    """Injected rows of the benchmark, or some of them, or with ordinary rows among them."""
    pair = local_pair(injected, seed, n)
    rng = np.random.default_rng([seed, injected])
    rows = np.flatnonzero(pair.shifted)
    if suspicion == "half":
        rows = rng.choice(rows, injected // 2, replace=False)
    elif suspicion == "mixed":
        rows = np.concatenate([rows, rng.choice(n, injected, replace=False)])
    start = spent()
    found = ss.explain_rows(pair.reference, pair.current, rows, random_state=seed)
    true = pair.shifted[found.rows].sum() if found.rows.size else 0
    return {
        "injected": injected,
        "rows": n,
        "suspicion": suspicion,
        "p_value": found.p_value,
        "explained": found.explained,
        "features": sorted(int(name[1:]) for name in found.features),
        "recall": float(true / pair.shifted[rows].sum()),
        "purity": float(true / found.rows.size) if found.rows.size else None,
        "cpu_seconds": (spent() - start).cpu_seconds,
    }


def null_table(units: list[Unit]) -> str:
    """Explanations of random rows, by what the current sample is like."""
    lines = [f"{'current':8s} pairs  " + "  ".join(f"at {alpha:g} [99 %]".rjust(16) for alpha in ALPHAS)]
    for shift in SHIFTS:
        p_values = np.array([unit["p_value"] for unit in units if unit["shift"] == shift])
        cells = []
        for alpha in ALPHAS:
            low, high = binom.interval(0.99, p_values.size, alpha)
            cells.append(f"{np.sum(p_values <= alpha)} [{low:.0f}, {high:.0f}]".rjust(16))
        lines.append(f"{shift:8s} {p_values.size:5d}  " + "  ".join(cells))
    return "\n".join(lines)


def power_table(units: list[Unit]) -> str:
    """Explained, exact support, recall and purity by setting."""
    lines = ["injected    rows  suspected  runs  explained  exact columns  recall  purity  CPU s"]
    for injected, n, suspicion in dict.fromkeys((unit["injected"], unit["rows"], unit["suspicion"]) for unit in units):
        rows = [u for u in units if (u["injected"], u["rows"], u["suspicion"]) == (injected, n, suspicion)]
        exact = sum(unit["features"] == sorted(LOCAL_SUPPORT) for unit in rows)
        purity = [unit["purity"] for unit in rows if unit["purity"] is not None]
        lines.append(
            f"{injected:8d}  {n:6d}  {suspicion:>9s}  {len(rows):4d}  {sum(u['explained'] for u in rows):9d}  "
            f"{exact:13d}  {np.mean([u['recall'] for u in rows]):6.2f}  "
            f"{np.mean(purity) if purity else float('nan'):6.2f}  {np.mean([u['cpu_seconds'] for u in rows]):5.0f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
