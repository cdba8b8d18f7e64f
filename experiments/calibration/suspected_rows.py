"""Are random rows explained at the rate stated, and injected rows always? Type-I error and power of `explain_rows`.

    python -m experiments.suspected_rows --nulls 200 --runs 5 --out runs/suspected_rows

Type I: random rows of the current sample, which is drawn like the reference ("equal"), displaced in a tenth of its rows
("local") or as a whole ("global"). Power, on the 20-D benchmark: all injected rows are suspected ("all"), half of them
("half"), or as many random rows are suspected besides ("mixed"). One JSON file per pair; what is there is not
computed again.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binom

import shiftscope as ss
from experiments.benchmark20d import LOCAL_SUPPORT, local_pair
from experiments.cost import spent
from experiments.units import Unit, run_units

ALPHAS = (0.05, 0.01)
NULL_ROWS, NULL_COLUMNS, NULL_SUSPECTED = 400, 5, 40
NULL_SCAN = ss.ScanParams(n_permutations=199, n_seeds=32, beam=8)
POWER_SCAN = ss.ScanParams()
SHIFTS = ("equal", "local", "global")
POWER = ((25, 4_000), (50, 4_000), (100, 4_000), (100, 50_000))  # injected rows, background rows of either sample
SUSPICIONS = ("all", "half", "mixed")


def main() -> None:
    """Run missing pairs and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nulls", type=int, default=200, help="null pairs per kind of shift")
    parser.add_argument("--runs", type=int, default=5, help="seeds of the power study")
    parser.add_argument("--rows", type=int, nargs="+", help="background rows of the power study; all by default")
    parser.add_argument("--suspicions", nargs="+", default=list(SUSPICIONS), choices=SUSPICIONS)
    parser.add_argument("--out", type=Path, default=Path("runs/suspected_rows"))
    arguments = parser.parse_args()
    if arguments.nulls:
        print(null_table(run_units(product(SHIFTS, range(arguments.nulls)), null_unit, arguments.out)))
    settings = [(size, n) for size, n in POWER if not arguments.rows or n in arguments.rows]
    keys = [
        (*setting, how, seed) for setting, how, seed in product(settings, arguments.suspicions, range(arguments.runs))
    ]
    if keys:
        print(power_table(run_units(keys, power_unit, arguments.out)))


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
    found = ss.explain_rows(pair.reference, pair.current, rows, params=POWER_SCAN, random_state=seed)
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
