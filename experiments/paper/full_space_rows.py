"""What a search of the full space on a part of the rows loses: p-values beside those of all rows.

    python -m experiments.paper.full_space_rows --seeds 6

The 20-D benchmark with 10,000 + 10,000 rows and an injected group. Three searches of the full space for the same pair:
all rows; a random fifth of both samples, with neighbours in the whole pool (what `compare` does above
`CompareParams.full_space_rows`); and a random fifth by itself, which would take a fifth of the time. All are calibrated
exactly, by 499 labellings. One JSON file per pair; what is there is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

import shiftscope as ss
from experiments.benchmark20d import local_pair
from experiments.command import StudyParser, seeds_of
from experiments.runner import Unit, run_units

N, QUICK_N = 10_000, 1_000  # background rows of either sample
SEEDS = 6
SHARE = 5
LEVEL = 0.005
INJECTED = (100, 200, 400)
SEARCHES = {
    "all": "all rows: found, median p",
    "design": f"1/{SHARE}, neighbours among all",
    "part": f"1/{SHARE} by itself",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units and print the table."""
    asked = StudyParser(__doc__, "full_space_rows").parse_args(arguments)
    keys = product(INJECTED, seeds_of(asked, SEEDS))
    print(table(run_units(keys, partial(unit, QUICK_N if asked.quick else N), asked.out)))


def unit(n: int, injected: int, seed: int) -> Unit:
    """p-values of the three searches."""
    pair = local_pair(injected, seed, n)
    rng = np.random.default_rng([seed, injected])
    part = [rng.permutation(sample)[: len(sample) // SHARE] for sample in (pair.reference, pair.current)]
    return {
        "injected": injected,
        "seed": seed,
        "all": full_space(pair.reference, pair.current, seed),
        "design": full_space(pair.reference, pair.current, seed, rows=sum(pair.sizes) // SHARE),
        "part": full_space(*part, seed),
    }


def full_space(reference: np.ndarray, current: np.ndarray, seed: int, rows: int | None = None) -> float:
    """The p-value of the full space, looking at the neighbourhoods of `rows` rows (default: of all)."""
    params = ss.CompareParams(
        alpha=LEVEL,
        scan=None,
        full_space_rows=rows or len(reference) + len(current),
        max_modes=1,  # what follows a rejection is not looked at
        max_iterations=1,
        localise=ss.LocaliseParams(epochs=1),
    )
    return ss.compare(reference, current, params=params, random_state=seed).calibration.p_value


def table(units: list[Unit]) -> str:
    """How often each search rejects at its share of a level of 0.01, and its median p-value."""
    lines = [f"| injected | {' | '.join(SEARCHES.values())} |", "| --- | --- | --- | --- |"]
    for injected in INJECTED:
        mine = [unit for unit in units if unit["injected"] == injected]
        cells = []
        for search in SEARCHES:
            p = np.array([unit[search] for unit in mine])
            cells.append(f"{np.sum(p <= LEVEL)} of {len(p)}, {np.median(p):.3f}")
        lines.append(f"| {injected} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
