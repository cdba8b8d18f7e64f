"""Type-I error of the tests of score tails: how often two samples of one distribution are told apart in the full space.

    python -m experiments.calibration.tail_tests --seeds 200 --n 2000 --dims 5 20

Both samples are rows of the benchmark's mixture, its first d coordinates. The table gives the rejections of the verdict
and, beside it, of the tests that start the equalisation of either side: by label permutations, and by the plain KS
formula, which ignores that the scores of neighbours are dependent. One JSON file per pair; what is there is not
computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

import shiftscope as ss
from experiments.benchmark20d import background
from experiments.command import StudyParser, seeds_of
from experiments.runner import Unit, run_units

SEEDS = 200
LEVELS = (0.05, 0.01)
COVERAGE = 0.99
PARAMS = ss.CompareParams(alpha=min(LEVELS), n_permutations=199, scan=None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing pairs and print the table."""
    parser = StudyParser(__doc__, "tail_tests")
    parser.add_argument("--n", type=int, help="rows per sample (default 2,000)")
    parser.add_argument("--dims", type=int, nargs="+", default=[5, 20])
    asked = parser.parse_args(arguments)
    n = asked.n or (200 if asked.quick else 2000)
    seeds = seeds_of(asked, SEEDS)
    print(table({d: run_units(product([n], [d], seeds), unit, asked.out, unit_name) for d in asked.dims}, n))


def unit_name(n: int, d: int, seed: int) -> str:
    """File name of a pair."""
    return f"n{n}_d{d}_k{PARAMS.k_max}_b{PARAMS.n_permutations}_pair{seed:04d}"


def unit(n: int, d: int, seed: int) -> Unit:
    """p-values of a pair without a difference."""
    return p_values(*null_pair(n, d, seed), seed)


def null_pair(n: int, d: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two samples of `n` rows from the first `d` coordinates of the benchmark's mixture."""
    rows, _ = background(2 * n, np.random.default_rng([seed, d]))
    return rows[:n, :d], rows[n:, :d]


def p_values(reference: object, current: object, seed: int = 0, params: ss.CompareParams = PARAMS) -> Unit:
    """p-values of all tests.

    `verdict` is what `compare` says of the full space. `shape` is what starts the equalisation of either side: the
    smaller of the permutation p-values of KS distance and excess. `formula` is exp(-2 m D^2) for the same tails, m
    scores at a distance of D from their null.
    """
    found = ss.compare(reference, current, params=params, random_state=seed).calibration
    tails = (found.reference, found.current)
    return {
        "verdict": found.p_value,
        "shape": [found.shape_p_value(tail, current=tail is found.current) for tail in tails],
        "formula": [float(np.exp(-2.0 * tail.count * tail.distance**2)) for tail in tails],
    }


def table(units: dict[int, list[Unit]], n: int) -> str:
    """Rejections of each test at each level by number of features, with the interval of a test that keeps its level."""
    lines = [f"n = {n} + {n}; rejections, and the {COVERAGE:.0%} interval of a test of exact level"]
    for d, mine in units.items():
        tests = {
            "verdict": [one["verdict"] for one in mine],
            "equalisation, one side": [p for one in mine for p in one["shape"]],
            "KS formula, one side": [p for one in mine for p in one["formula"]],
        }
        for name, values in tests.items():
            lines += [f"  d = {d:2d}  {name:24s} {_rate(np.array(values), level)}" for level in LEVELS]
    return "\n".join(lines)


def _rate(values: NDArray[np.float64], level: float) -> str:
    low, high = (int(end) for end in binom.interval(COVERAGE, values.size, level))
    rejected = int(np.sum(values <= level))
    return f"alpha {level:.2f}: {rejected:3d} of {values.size} = {rejected / values.size:.3f}, exact {low} to {high}"


if __name__ == "__main__":
    main()
