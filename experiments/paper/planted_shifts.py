"""Shifts of other kinds than the paper's, and several at once, on data of our own design.

    python -m experiments.paper.planted_shifts --seeds 5

Background: 20 features, two overlapping Gaussian components, some features correlated; 20,000 rows a side unless the
design says otherwise. Every unit is one `compare` with default settings. A planted shift counts as recovered if a mode
on its side has exactly its features; recall and purity are those of the rows of such modes. Shifts of a whole
distribution (a correlation, an interaction) have no rows of their own. One JSON file per design and seed; what is there
is not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

import shiftscope as ss
from experiments.command import StudyParser, seeds_of
from experiments.cost import spent
from experiments.paper.outcome import positions
from experiments.runner import Unit, run_units

N, QUICK_N = 20_000, 4_000  # rows of either sample
FEATURES = 20
SEEDS = 5


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


Maker = Callable[[int, np.random.Generator], Design]  # of so many rows a side


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


def groups(places: tuple[tuple[str, int, tuple[int, ...]], ...]) -> Maker:
    """Compact groups: (side, size, features) each."""

    def make(n: int, rng: np.random.Generator) -> Design:
        samples = {"reference": background(n, FEATURES, rng), "current": background(n, FEATURES, rng)}
        planted = tuple(Planted(side, where, group(samples[side], size, where, rng)) for side, size, where in places)
        return Design(samples["reference"], samples["current"], planted)

    return make


def hole(n: int, rng: np.random.Generator) -> Design:
    """The current sample has no rows in a disc of two features."""
    reference, pool = background(n, FEATURES, rng), background(2 * n, FEATURES, rng)
    where = (3, 14)
    inside, outside = (np.hypot(rows[:, 3], rows[:, 14]) < 0.25 for rows in (reference, pool))
    return Design(reference, pool[~outside][:n], (Planted("reference", where, np.flatnonzero(inside)),))


def correlation(n: int, rng: np.random.Generator) -> Design:
    """Two independent features become correlated (0.1); both marginals stay exactly normal."""
    reference, current = background(n, FEATURES, rng), background(n, FEATURES, rng)
    for sample, r in ((reference, 0.0), (current, 0.1)):
        one, other = rng.standard_normal((2, n))
        sample[:, 12], sample[:, 17] = one, r * one + np.sqrt(1 - r**2) * other
    return Design(reference, current, (Planted(None, (12, 17)),))


def interaction(n: int, rng: np.random.Generator) -> Design:
    """The product of three signs is positive in 56 % of the current rows; all pairs of features stay independent."""
    reference, current = background(n, FEATURES, rng), background(n, FEATURES, rng)
    for sample, share in ((reference, 0.5), (current, 0.56)):
        three = rng.standard_normal((n, 3))
        positive = np.where(rng.random(n) < share, 1.0, -1.0)
        three[:, 2] = np.abs(three[:, 2]) * positive * np.sign(three[:, 0] * three[:, 1])
        sample[:, [11, 15, 19]] = three
    return Design(reference, current, (Planted(None, (11, 15, 19)),))


def unequal(n: int, rng: np.random.Generator) -> Design:
    """40,000 rows against 1,500, of which 60 form a group."""
    reference, current = background(2 * n, FEATURES, rng), background(3 * n // 40, FEATURES, rng)
    where = (6, 13, 16)
    return Design(reference, current, (Planted("current", where, group(current, 60, where, rng)),))


def wide(n: int, rng: np.random.Generator) -> Design:
    """300 features, 5,000 rows a side, a group of 150 in three of them."""
    reference, current = background(n // 4, 300, rng), background(n // 4, 300, rng)
    where = (40, 160, 250)
    return Design(reference, current, (Planted("current", where, group(current, 150, where, rng)),))


TWO = (("current", 300, (1, 12, 17)), ("reference", 300, (5, 14, 18)))
THREE = (*TWO, ("current", 200, (10, 13, 16, 19)))
FIVE = (*THREE, ("reference", 500, (3, 11)), ("current", 500, (8, 15)))
DESIGNS: dict[str, Maker] = {
    "two groups": groups(TWO),
    "three groups": groups(THREE),
    "five groups": groups(FIVE),
    "hole": hole,
    "correlation": correlation,
    "interaction": interaction,
    "40000-1500": unequal,
    "d = 300": wide,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units and print the table."""
    parser = StudyParser(__doc__, "planted_shifts")
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS))
    asked = parser.parse_args(arguments)
    keys = product(asked.designs, seeds_of(asked, SEEDS))
    print(table(run_units(keys, partial(unit, QUICK_N if asked.quick else N), asked.out)))


def unit(n: int, name: str, seed: int) -> Unit:
    """One design at one seed."""
    design = DESIGNS[name](n, np.random.default_rng([seed, *name.encode()]))
    start = spent()
    result = ss.compare(design.reference, design.current)
    return {
        "design": name,
        "detected": result.detected,
        "p_value": result.p_value,
        "planted": [recovered(planted, result) for planted in design.planted],
        "modes": [[mode.side, positions(mode), int(mode.rows.size), mode.origin] for mode in result.modes],
        "seconds": (spent() - start).seconds,
    }


def recovered(planted: Planted, result: ss.ShiftResult) -> Unit:
    """Whether a mode has the side and exactly the features of a planted shift, and how it covers its rows."""
    same = [mode for mode in result.modes if positions(mode) == sorted(planted.features)]
    own = [mode for mode in same if planted.side in (None, mode.side)]
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
