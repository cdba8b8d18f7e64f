"""Shifts of other kinds than the paper's, and several at once, on data of our own design.

    python -m experiments.designs --seeds 5 --out runs/designs

Background: 20 features, two overlapping Gaussian components, some features correlated; 20,000 rows a side unless the
design says otherwise. Every unit is one `compare` with default settings. A planted shift counts as recovered if a mode
on its side has exactly its features; recall and purity are those of the rows of such modes. Shifts of a whole
distribution (a correlation, an interaction) have no rows of their own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import shiftscope as ss
from experiments.units import Unit, run_units

ROWS, FEATURES = 20_000, 20


@dataclass(frozen=True)
class Planted:
    """One shift: the side with the excess (None: both), its features, and its rows if it has any of its own."""

    side: str | None
    features: tuple[int, ...]
    rows: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Design:
    """Two samples and what was planted in them."""

    reference: NDArray[np.float64]
    current: NDArray[np.float64]
    planted: tuple[Planted, ...]


def background(n: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Two overlapping components; neighbouring features of the first half are correlated."""
    rows = rng.standard_normal((n, d))
    half = d // 2
    rows[:, 1:half] = 0.6 * rows[:, : half - 1] + 0.8 * rows[:, 1:half]
    rows[rng.random(n) < 0.4] += np.linspace(-1.0, 1.0, d)
    return rows


def group(
    sample: NDArray[np.float64], size: int, features: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Make `size` random rows of `sample` a compact group in `features`, around one of its rows; returns the rows."""
    rows = np.sort(rng.choice(len(sample), size + 1, replace=False))
    centre, rows = sample[rows[0]], rows[1:]
    for feature in features:
        sample[rows, feature] = centre[feature] + 0.15 * rng.standard_normal(size)
    return rows


def groups(places: tuple[tuple[str, int, tuple[int, ...]], ...]) -> Callable[[np.random.Generator], Design]:
    """Compact groups: (side, size, features) each."""

    def make(rng: np.random.Generator) -> Design:
        samples = {"reference": background(ROWS, FEATURES, rng), "current": background(ROWS, FEATURES, rng)}
        planted = tuple(Planted(side, where, group(samples[side], size, where, rng)) for side, size, where in places)
        return Design(samples["reference"], samples["current"], planted)

    return make


def hole(rng: np.random.Generator) -> Design:
    """The current sample has no rows in a disc of two features."""
    reference, pool = background(ROWS, FEATURES, rng), background(2 * ROWS, FEATURES, rng)
    where = (3, 14)
    inside, outside = (np.hypot(rows[:, 3], rows[:, 14]) < 0.25 for rows in (reference, pool))
    return Design(reference, pool[~outside][:ROWS], (Planted("reference", where, np.flatnonzero(inside)),))


def correlation(rng: np.random.Generator) -> Design:
    """Two independent features become correlated (0.1); both marginals stay exactly normal."""
    reference, current = background(ROWS, FEATURES, rng), background(ROWS, FEATURES, rng)
    for sample, r in ((reference, 0.0), (current, 0.1)):
        one, other = rng.standard_normal((2, ROWS))
        sample[:, 12], sample[:, 17] = one, r * one + np.sqrt(1 - r**2) * other
    return Design(reference, current, (Planted(None, (12, 17)),))


def interaction(rng: np.random.Generator) -> Design:
    """The product of three signs is positive in 56 % of the current rows; all pairs of features stay independent."""
    reference, current = background(ROWS, FEATURES, rng), background(ROWS, FEATURES, rng)
    for sample, share in ((reference, 0.5), (current, 0.56)):
        three = rng.standard_normal((ROWS, 3))
        positive = np.where(rng.random(ROWS) < share, 1.0, -1.0)
        three[:, 2] = np.abs(three[:, 2]) * positive * np.sign(three[:, 0] * three[:, 1])
        sample[:, [11, 15, 19]] = three
    return Design(reference, current, (Planted(None, (11, 15, 19)),))


def unequal(rng: np.random.Generator) -> Design:
    """40,000 rows against 1,500, of which 60 form a group."""
    reference, current = background(40_000, FEATURES, rng), background(1_500, FEATURES, rng)
    where = (6, 13, 16)
    return Design(reference, current, (Planted("current", where, group(current, 60, where, rng)),))


def wide(rng: np.random.Generator) -> Design:
    """300 features, 5,000 rows a side, a group of 150 in three of them."""
    reference, current = background(5_000, 300, rng), background(5_000, 300, rng)
    where = (40, 160, 250)
    return Design(reference, current, (Planted("current", where, group(current, 150, where, rng)),))


TWO = (("current", 300, (1, 12, 17)), ("reference", 300, (5, 14, 18)))
THREE = (*TWO, ("current", 200, (10, 13, 16, 19)))
FIVE = (*THREE, ("reference", 500, (3, 11)), ("current", 500, (8, 15)))
DESIGNS: dict[str, Callable[[np.random.Generator], Design]] = {
    "two groups": groups(TWO),
    "three groups": groups(THREE),
    "five groups": groups(FIVE),
    "hole": hole,
    "correlation": correlation,
    "interaction": interaction,
    "40000-1500": unequal,
    "d = 300": wide,
}


def main() -> None:
    """Run missing units and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("runs/designs"))
    arguments = parser.parse_args()
    print(table(run_units(product(arguments.designs, range(arguments.seeds)), unit, arguments.out)))


def unit(name: str, seed: int) -> Unit:
    """One design at one seed."""
    design = DESIGNS[name](np.random.default_rng([seed, *name.encode()]))
    start = time.perf_counter()
    result = ss.compare(design.reference, design.current)
    return {
        "design": name,
        "detected": result.detected,
        "p_value": result.p_value,
        "planted": [_recovered(planted, result) for planted in design.planted],
        "modes": [[mode.side, sorted(_features(mode)), int(mode.rows.size), mode.origin] for mode in result.modes],
        "seconds": time.perf_counter() - start,
    }


def _features(mode: ss.Mode) -> set[int]:
    return {int(name[1:]) for name in mode.features}


def _recovered(planted: Planted, result: ss.ShiftResult) -> Unit:
    """Whether a mode has the side and exactly the features of a planted shift, and how it covers its rows."""
    own = [
        mode for mode in result.modes if planted.side in (None, mode.side) and _features(mode) == set(planted.features)
    ]
    found = {"side": planted.side, "features": planted.features, "exact": bool(own)}
    if planted.rows is None or not own:
        return {**found, "recall": None, "purity": None}
    rows = np.unique(np.concatenate([mode.rows for mode in own]))
    true = np.intersect1d(rows, planted.rows).size
    return {**found, "recall": true / planted.rows.size, "purity": true / rows.size}


def table(units: list[Unit]) -> str:
    """Detected, recovered, extra modes, recall and purity by design."""
    lines = ["design        seeds  detected  recovered      other modes  recall  purity  seconds"]
    for name in dict.fromkeys(unit["design"] for unit in units):
        rows = [unit for unit in units if unit["design"] == name]
        planted = [one for row in rows for one in row["planted"]]
        truths = {tuple(one["features"]) for one in planted}
        others = sum(tuple(mode[1]) not in truths for row in rows for mode in row["modes"])
        recovered = f"{sum(one['exact'] for one in planted)} of {len(planted)}"
        lines.append(
            f"{name:12s}  {len(rows):5d}  {sum(row['detected'] for row in rows):8d}  {recovered:13s}  {others:11d}  "
            f"{_mean(planted, 'recall')}  {_mean(planted, 'purity')}  {np.mean([row['seconds'] for row in rows]):7.1f}"
        )
    return "\n".join(lines)


def _mean(planted: list[Unit], key: str) -> str:
    values = [one[key] for one in planted if one[key] is not None]
    return f"{np.mean(values):6.2f}" if values else "     -"


if __name__ == "__main__":
    main()
