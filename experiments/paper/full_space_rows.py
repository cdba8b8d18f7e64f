"""What a search of the full space on a part of the rows loses: p-values beside those of all rows.

    python -m experiments.design_loss [--out runs/design_loss] [--seeds 6]

The 20-D benchmark with 10,000 + 10,000 rows and an injected group. Three searches of the full space for the same pair:
all rows; a random fifth of both samples, with neighbours in the whole pool (what `compare` does above its budget); and
the same fifth by itself, which would take a fifth of the time. All are calibrated exactly, by 499 labellings.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.benchmark20d import local_pair
from experiments.units import Unit, run_units
from shiftscope.calibrate import calibrate
from shiftscope.design import Design, draw_design
from shiftscope.encode import encode_pair
from shiftscope.living import LivingGraph
from shiftscope.neighbours import neighbours
from shiftscope.score import score_graph

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
        "design": anchored(points, is_current, design, seed),
        "part": whole(points[design.rows], is_current[design.rows], seed),
    }


def whole(points: NDArray[np.float64], is_current: NDArray[np.bool_], seed: int) -> float:
    """The full-space p-value of a pool."""
    graph = neighbours(points, K_MAX)
    scores = score_graph(graph, is_current)
    values = np.empty(len(points))
    values[is_current], values[~is_current] = scores.current, scores.reference
    done = calibrate(graph, is_current, values, q_tail=Q_TAIL, n_permutations=PERMUTATIONS, random_state=seed)
    return done.p_value


def anchored(points: NDArray[np.float64], is_current: NDArray[np.bool_], design: Design, seed: int) -> float:
    """The p-value of the rows of a design with their neighbours in the whole pool."""
    order, rows = design.order, np.arange(design.rows.size)
    graph = LivingGraph(points[order], is_current[order], K_MAX, rows=rows)
    done = calibrate(
        graph.compact(),
        graph.living_labels(),
        graph.all_scores()[rows],
        q_tail=Q_TAIL,
        n_permutations=PERMUTATIONS,
        random_state=seed,
    )
    return done.p_value


def table(units: list[Unit]) -> str:
    """How often each search rejects at its share of a level of 0.01, and its median p-value."""
    lines = [
        f"| injected | all rows: found, median p | 1/{SHARE}, neighbours among all | 1/{SHARE} by itself |",
        "| --- | --- | --- | --- |",
    ]
    for injected in INJECTED:
        mine = [unit for unit in units if unit["injected"] == injected]
        cells = []
        for search in ("all", "design", "part"):
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
