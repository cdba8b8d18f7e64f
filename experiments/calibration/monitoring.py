"""Does the monitor alarm at the right batch, and how often without reason? Sequences of 60 batches.

    python -m experiments.calibration.monitoring
    python -m experiments.calibration.monitoring --parts shifted --seeds 5

Null sequences (200 by default): reference and all batches from one distribution; a sequence with any alarm counts as a
false alarm, and the table holds their number against alpha. Shifted sequences (5 by default): from batch 40 on a sixth
of each batch gathers in three of six columns. One JSON file per sequence; what is there is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import binom

import shiftscope as ss
from experiments.command import StudyParser, seeds_of
from experiments.runner import Unit, run_units

ALPHA = 0.05
SUPPORT = ("x0", "x1", "x2")
NULL_ROWS, NULL_BATCH, NULL_COLUMNS = 200, 60, 3
COLUMNS, INJECTED = 6, 80
NULL_PARAMS = ss.CompareParams(scan=ss.ScanParams(n_seeds=16, beam=4))  # small scans: 12,000 batches


@dataclass(frozen=True)
class Plan:
    """Batches of a sequence, the first one with a shift (from 1), and rows of reference and batches that have one."""

    batches: int
    shift_from: int
    rows: int
    batch: int


FULL = Plan(batches=60, shift_from=40, rows=3000, batch=500)
QUICK = Plan(batches=3, shift_from=3, rows=400, batch=200)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing sequences and print the tables."""
    parser = StudyParser(__doc__, "monitoring")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    asked = parser.parse_args(arguments)
    plan = QUICK if asked.quick else FULL
    for part in asked.parts:
        number, unit, table = PARTS[part]
        units = run_units(product([part], seeds_of(asked, number)), partial(unit, plan), asked.out)
        print(table(plan, units))


def null_unit(plan: Plan, _: str, seed: int) -> Unit:
    """One sequence without any difference."""
    rng = np.random.default_rng([seed, 1])
    detector = ss.ShiftDetector(alpha=ALPHA, params=NULL_PARAMS, random_state=seed)
    detector.fit(rng.standard_normal((NULL_ROWS, NULL_COLUMNS)))
    return _watched(detector, [rng.standard_normal((NULL_BATCH, NULL_COLUMNS)) for _ in range(plan.batches)])


def shifted_unit(plan: Plan, _: str, seed: int) -> Unit:
    """One sequence with a compact group from batch `shift_from` on."""
    rng = np.random.default_rng([seed, 2])
    detector = ss.ShiftDetector(alpha=ALPHA, random_state=seed).fit(rng.standard_normal((plan.rows, COLUMNS)))
    place = rng.uniform(-1.0, 1.0, len(SUPPORT))
    batches = [rng.standard_normal((plan.batch, COLUMNS)) for _ in range(plan.batches)]
    for batch in batches[plan.shift_from - 1 :]:
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


def null_table(plan: Plan, units: list[Unit]) -> str:
    """Sequences with a false alarm."""
    alarmed = sum(bool(unit["alarms"]) for unit in units)
    low, high = binom.interval(0.99, len(units), ALPHA)
    p_values = np.concatenate([unit["p_values"] for unit in units])
    single = int(np.sum(p_values <= ALPHA))
    return (
        f"null: {alarmed} of {len(units)} sequences of {plan.batches} batches with a false alarm; at most alpha = "
        f"{ALPHA:g} allows, 99 % interval of exactly that rate {low:.0f} to {high:.0f}\n"
        f"      single batches with p <= {ALPHA:g}: {single} of {p_values.size}; permutations per batch "
        f"{np.mean([unit['permutations'] for unit in units]):.0f}"
    )


def shifted_table(plan: Plan, units: list[Unit]) -> str:
    """First alarms, alarms missed after the shift, and the features named."""
    lines = [
        f"shift from batch {plan.shift_from} on ({INJECTED} of {plan.batch} rows, {len(SUPPORT)} of {COLUMNS} columns)",
        "sequence  false alarms  first alarm  alarms after  exact columns  mean excess",
    ]
    for number, unit in enumerate(units):
        after = [alarm for alarm in unit["alarms"] if alarm >= plan.shift_from]
        exact = sum(features == list(SUPPORT) for features in unit["features"])
        excess = [value for value in unit["excess"] if value is not None]
        lines.append(
            f"{number:8d}  {len(unit['alarms']) - len(after):12d}  {after[0] if after else '-':>11}  "
            f"{f'{len(after)} of {plan.batches - plan.shift_from + 1}':>12s}  {exact:13d}  "
            f"{np.mean(excess) if excess else float('nan'):11.3f}"
        )
    return "\n".join(lines)


PARTS = {"null": (200, null_unit, null_table), "shifted": (5, shifted_unit, shifted_table)}  # sequences by default


if __name__ == "__main__":
    main()
