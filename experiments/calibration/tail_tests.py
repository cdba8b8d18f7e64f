"""Type-I error of the full-space verdict: how often two samples of one distribution are told apart.

    python -m experiments.type_one --pairs 200 --n 2000 --dims 5 20 --out runs/type_one

Both samples are rows of the benchmark's mixture, its first d coordinates. Each pair leaves one small file, so an
interrupted study continues where it stopped. The table gives the rejections of the verdict and, beside it, of the tests
that start the equalisation of either side: by label permutations, and by the plain KS formula, which ignores that the
scores of neighbours are dependent.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from experiments.benchmark20d import background
from shiftscope.calibrate import TailTest, calibrate
from shiftscope.encode import encode_pair
from shiftscope.living import LivingGraph
from shiftscope.orient import canonical
from shiftscope.params import CompareParams

LEVELS = (0.05, 0.01)
COVERAGE = 0.99
N_PERMUTATIONS = 199


@dataclass(frozen=True)
class PValues:
    """p-values of one pair; those of sides are in canonical order, which means nothing under the null.

    Attributes
    ----------
    verdict : float
        What `compare` calls `p_value`.
    shape : (float, float)
        What starts the equalisation of either side: the smaller of the permutation p-values of KS distance and excess.
    formula : (float, float)
        The one-sided KS formula on the same tails.
    """

    verdict: float
    shape: tuple[float, float]
    formula: tuple[float, float]


def null_pair(n: int, d: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two samples of `n` rows from the first `d` coordinates of the benchmark's mixture."""
    rows, _ = background(2 * n, np.random.default_rng([seed, d]))
    return rows[:n, :d], rows[n:, :d]


def p_values(reference: object, current: object, params: CompareParams, random_state: int = 0) -> PValues:
    """The p-values that `compare` would reach, without what follows a rejection."""
    encoded, _ = canonical(encode_pair(reference, current))
    graph = LivingGraph(encoded.points, encoded.is_current, params.k_max)
    scores = graph.full_scores()
    q_tail = params.equalise.q_tail
    calibration = calibrate(
        graph.compact(),
        encoded.is_current,
        np.concatenate([scores.reference, scores.current]),
        q_tail=q_tail,
        n_permutations=params.labellings,
        random_state=random_state,
    )
    tails = (calibration.reference, calibration.current)
    tests = (TailTest(scores.nulls.reference, q_tail), TailTest(scores.nulls.current, q_tail))
    return PValues(
        verdict=calibration.p_value,
        shape=(
            calibration.shape_p_value(calibration.reference, current=False),
            calibration.shape_p_value(calibration.current, current=True),
        ),
        formula=(
            tests[0].formula_p_value(tails[0].distance, tails[0].count),
            tests[1].formula_p_value(tails[1].distance, tails[1].count),
        ),
    )


def run(pairs: int, n: int, d: int, out: Path) -> list[PValues]:
    """`pairs` null pairs of one shape, read from `out` where they were computed before."""
    params = CompareParams(alpha=min(LEVELS), n_permutations=N_PERMUTATIONS)
    out.mkdir(parents=True, exist_ok=True)
    results = []
    for seed in range(pairs):
        file = out / f"n{n}_d{d}_k{params.k_max}_b{N_PERMUTATIONS}_pair{seed:04d}.json"
        if not file.exists():
            found = p_values(*null_pair(n, d, seed), params, random_state=seed)
            part = file.with_suffix(".part")
            part.write_text(json.dumps(asdict(found)))
            part.replace(file)  # whole or not at all
        results.append(PValues(**json.loads(file.read_text())))
    return results


def table(results: dict[int, list[PValues]], n: int) -> str:
    """Rejections of each test at each level, with the interval of a test that keeps its level."""
    lines = [f"n = {n} + {n}; rejections, and the {COVERAGE:.0%} interval of a test of exact level"]
    for d, found in results.items():
        tests = {
            "verdict": [one.verdict for one in found],
            "equalisation, one side": [p for one in found for p in one.shape],
            "KS formula, one side": [p for one in found for p in one.formula],
        }
        for name, values in tests.items():
            lines += [f"  d = {d:2d}  {name:24s} {_rate(np.array(values), level)}" for level in LEVELS]
    return "\n".join(lines)


def _rate(values: NDArray[np.float64], level: float) -> str:
    low, high = (int(end) for end in binom.interval(COVERAGE, values.size, level))
    rejected = int(np.sum(values <= level))
    return f"alpha {level:.2f}: {rejected:3d} of {values.size} = {rejected / values.size:.3f}, exact {low} to {high}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--n", type=int, default=2000, help="rows per sample")
    parser.add_argument("--dims", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--out", type=Path, default=Path("runs/type_one"))
    asked = parser.parse_args(arguments)
    print(table({d: run(asked.pairs, asked.n, d, asked.out) for d in asked.dims}, asked.n))


if __name__ == "__main__":
    main()
