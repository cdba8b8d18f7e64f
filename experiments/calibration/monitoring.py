"""Does the monitor alarm at the right batch, and how often without reason? Sequences of 60 batches.

    python -m experiments.monitoring --sequences 200 --shifted 5 --out runs/monitoring

Null sequences: reference and all batches from one distribution; a sequence with any alarm counts as a false alarm, and
the table holds their number against alpha. Shifted sequences: from batch 40 on a sixth of each batch gathers in three
of six columns. One JSON file per sequence; what is there is not computed again.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binom

import shiftscope as ss
from experiments.units import Unit, run_units

ALPHA = 0.05
BATCHES = 60
SHIFT_FROM = 40  # first shifted batch, counting from 1
SUPPORT = ("x0", "x1", "x2")
NULL_ROWS, NULL_BATCH, NULL_COLUMNS = 200, 60, 3
ROWS, BATCH, COLUMNS, INJECTED = 3000, 500, 6, 80
QUICK_SCAN = ss.ScanParams(n_seeds=16, beam=4)


def main() -> None:
    """Run missing sequences and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sequences", type=int, default=200, help="null sequences")
    parser.add_argument("--shifted", type=int, default=5, help="sequences with a shift")
    parser.add_argument("--out", type=Path, default=Path("runs/monitoring"))
    arguments = parser.parse_args()
    if arguments.sequences:
        print(null_table(run_units(product(("null",), range(arguments.sequences)), null_unit, arguments.out)))
    if arguments.shifted:
        print(shifted_table(run_units(product(("shifted",), range(arguments.shifted)), shifted_unit, arguments.out)))


def null_unit(_: str, seed: int) -> Unit:
    """One sequence without any difference."""
    rng = np.random.default_rng([seed, 1])
    detector = ss.ShiftDetector(alpha=ALPHA, params=ss.CompareParams(scan=QUICK_SCAN), random_state=seed)
    detector.fit(rng.standard_normal((NULL_ROWS, NULL_COLUMNS)))
    return _watched(detector, [rng.standard_normal((NULL_BATCH, NULL_COLUMNS)) for _ in range(BATCHES)])


def shifted_unit(_: str, seed: int) -> Unit:
    """One sequence with a compact group from batch `SHIFT_FROM` on."""
    rng = np.random.default_rng([seed, 2])
    detector = ss.ShiftDetector(alpha=ALPHA, random_state=seed).fit(rng.standard_normal((ROWS, COLUMNS)))
    place = rng.uniform(-1.0, 1.0, len(SUPPORT))
    batches = [rng.standard_normal((BATCH, COLUMNS)) for _ in range(BATCHES)]
    for batch in batches[SHIFT_FROM - 1 :]:
        batch[:INJECTED, : len(SUPPORT)] = place + 0.15 * rng.standard_normal((INJECTED, len(SUPPORT)))
    return _watched(detector, batches)


def _watched(detector: ss.ShiftDetector, batches: list[np.ndarray]) -> Unit:
    result = ss.monitor(detector, batches)
    return {
        "alarms": [row.number for row in result.alarms],
        "p_values": [row.p_value for row in result.rows],
        "permutations": [row.n_permutations for row in result.rows],
        "features": [sorted(row.mode.features) if row.mode else None for row in result.alarms],
        "excess": [row.mode.excess if row.mode else None for row in result.alarms],
        "drift": [row.drift for row in result.rows],
    }


def null_table(units: list[Unit]) -> str:
    """Sequences with a false alarm."""
    alarmed = sum(bool(unit["alarms"]) for unit in units)
    low, high = binom.interval(0.99, len(units), ALPHA)
    p_values = np.concatenate([unit["p_values"] for unit in units])
    single = int(np.sum(p_values <= ALPHA))
    return (
        f"null: {alarmed} of {len(units)} sequences of {BATCHES} batches with a false alarm; at most alpha = {ALPHA:g} "
        f"allows, 99 % interval of exactly that rate {low:.0f} to {high:.0f}\n"
        f"      single batches with p <= {ALPHA:g}: {single} of {p_values.size}; permutations per batch "
        f"{np.mean([unit['permutations'] for unit in units]):.0f}"
    )


def shifted_table(units: list[Unit]) -> str:
    """First alarms, alarms missed after the shift, and the features named."""
    lines = [f"shift from batch {SHIFT_FROM} on ({INJECTED} of {BATCH} rows, {len(SUPPORT)} of {COLUMNS} columns)"]
    lines.append("sequence  false alarms  first alarm  alarms after  exact columns  mean excess")
    for number, unit in enumerate(units):
        after = [alarm for alarm in unit["alarms"] if alarm >= SHIFT_FROM]
        exact = sum(features == list(SUPPORT) for features in unit["features"])
        excess = [value for value in unit["excess"] if value is not None]
        lines.append(
            f"{number:8d}  {len(unit['alarms']) - len(after):12d}  {after[0] if after else '-':>11}  "
            f"{f'{len(after)} of {BATCHES - SHIFT_FROM + 1}':>12s}  {exact:13d}  "
            f"{np.mean(excess) if excess else float('nan'):11.3f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
