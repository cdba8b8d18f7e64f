"""Does the order of the rows in a file do more to a p-value than the seed does?

    python -m validation.row_order

The labellings behind a p-value follow from the seed and the positions of the rows. For pairs from no shift to a clear
one, the p-value of the scan is taken under many orders of the rows with one seed, and under many seeds with one order.
Both are draws of the same thing if the two columns agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import shiftscope as ss
from validation.unchanged import mixture

DRAWS = 400
PARAMS = ss.ScanParams(n_permutations=127, n_seeds=8, beam=1)


def p_values(moved: float) -> tuple[list[float], list[float]]:
    """p-values under other orders of the rows, and under other seeds, of one pair."""
    reference, current = mixture(150, 5, moved=moved, d=4)
    rng = np.random.default_rng(0)
    orders = [
        ss.scan(rng.permutation(reference), rng.permutation(current), PARAMS, random_state=0).p_value
        for _ in range(DRAWS)
    ]
    return orders, [ss.scan(reference, current, PARAMS, random_state=seed).p_value for seed in range(DRAWS)]


def told(values: Sequence[float]) -> str:
    """Smallest, mean, largest and standard deviation."""
    return f"{min(values):.4f}  {np.mean(values):.4f}  {max(values):.4f}  sd {np.std(values):.4f}"


if __name__ == "__main__":
    print(f"{DRAWS} draws of {PARAMS.n_permutations} labellings: smallest, mean and largest p-value")
    for moved in (0.0, 0.2, 0.3, 0.4):
        orders, seeds = p_values(moved)
        expected = np.sqrt(np.mean(seeds) * (1 - np.mean(seeds)) / PARAMS.n_permutations)
        print(f"moved by {moved:4.2f}  orders {told(orders)}   seeds {told(seeds)}   expected sd {expected:.4f}")
