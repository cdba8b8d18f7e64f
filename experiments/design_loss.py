"""What a search of the full space on a part of the rows loses: p-values beside those of all rows.

    python -m experiments.design_loss [--out runs/design_loss] [--seeds 6]

The 20-D benchmark with 10,000 + 10,000 rows and an injected group. Three searches of the full space for the same pair:
all rows; a *design*, a random fifth of both samples by itself (what `compare` does above its budget); and *anchors*,
the same fifth scored by neighbours in the whole pool, which takes five times as long as the design. All are calibrated
exactly, by 499 labellings.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.benchmark20d import local_pair
from experiments.units import Unit, run_units
from shiftscope.calibrate import calibrate, permuted_labels, permuted_tails, smallest_p_value, tail_test
from shiftscope.design import draw_design
from shiftscope.encode import encode_pair
from shiftscope.neighbours import neighbours
from shiftscope.score import nulls_for, score_graph, walk

ROWS = 10_000
SHARE = 5
K_MAX = 400
Q_TAIL = 0.97
PERMUTATIONS = 499
LEVEL = 0.005
INJECTED = (100, 200, 400)


def compute(injected: int, seed: int) -> Unit:
    """p-values of the three searches."""
    pair = local_pair(injected, seed, ROWS)
    encoded = encode_pair(pair.reference, pair.current)
    points, is_current = encoded.points, encoded.is_current
    design = draw_design(encoded.n_reference, encoded.n_current, len(points) // SHARE, seed)
    return {
        "injected": injected,
        "seed": seed,
        "all": whole(points, is_current, seed),
        "design": whole(points[design.rows], is_current[design.rows], seed),
        "anchors": anchored(points, is_current, design.rows, seed),
    }


def whole(points: NDArray[np.float64], is_current: NDArray[np.bool_], seed: int) -> float:
    """The full-space p-value of a pool."""
    graph = neighbours(points, K_MAX)
    scores = score_graph(graph, is_current)
    values = np.empty(len(points))
    values[is_current], values[~is_current] = scores.current, scores.reference
    done = calibrate(graph, is_current, values, q_tail=Q_TAIL, n_permutations=PERMUTATIONS, random_state=seed)
    return done.p_value


def anchored(points: NDArray[np.float64], is_current: NDArray[np.bool_], anchors: NDArray[np.intp], seed: int) -> float:
    """The p-value of some rows with their neighbours in the whole pool."""
    order = np.concatenate([anchors, np.setdiff1d(np.arange(len(points)), anchors)])  # anchors first
    points, is_current = points[order], is_current[order]
    rows = np.arange(anchors.size)
    graph = neighbours(points, K_MAX, queries=rows)
    n_current = int(is_current.sum())
    nulls = nulls_for(len(points) - n_current, n_current, K_MAX)
    tests = (tail_test(nulls.reference, Q_TAIL), tail_test(nulls.current, Q_TAIL))
    values, _, _ = walk(graph, rows, rows, np.ones(len(points), np.bool_), is_current, nulls)
    own = is_current[rows]
    observed = tests[0].compare(values[~own]).statistics() + tests[1].compare(values[own]).statistics()
    permuted = []
    for start in range(0, PERMUTATIONS, 128):
        lanes = permuted_labels(is_current, range(start, min(start + 128, PERMUTATIONS)), seed)
        permuted += [
            tests[0].compare(reference).statistics() + tests[1].compare(current).statistics()
            for reference, current in permuted_tails(graph, lanes, nulls, tests)
        ]
    return smallest_p_value(np.array(observed), np.array(permuted))


def table(units: list[Unit]) -> str:
    """How often each search rejects at its share of a level of 0.01, and its median p-value."""
    lines = [
        f"| injected | all rows: found, median p | design of 1/{SHARE} | anchors, 1/{SHARE} |",
        "| --- | --- | --- | --- |",
    ]
    for injected in INJECTED:
        mine = [unit for unit in units if unit["injected"] == injected]
        cells = []
        for search in ("all", "design", "anchors"):
            p = np.array([unit[search] for unit in mine])
            cells.append(f"{np.sum(p <= LEVEL)} of {len(p)}, {np.median(p):.3f}")
        lines.append(f"| {injected} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/design_loss"))
    parser.add_argument("--seeds", type=int, default=6)
    arguments = parser.parse_args()
    keys = [(injected, seed) for injected in INJECTED for seed in range(arguments.seeds)]
    print(table(run_units(keys, compute, arguments.out)))


if __name__ == "__main__":
    main()
