"""Planted shifts on which numbers are varied: six cases of 6,000 rows a side, and seven small ones.

The small cases have few columns and few labellings, so that many numbers can be varied at many seeds, and shifts that
are just strong enough to be found: a number that costs power costs one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

import shiftscope as ss
from experiments.benchmark20d import global_pair, local_pair
from experiments.cost import spent
from experiments.paper import planted_shifts
from experiments.paper.planted_shifts import Design, Planted, background, group
from experiments.runner import Unit

N, SMALL_N = 6_000, 1_500  # rows of either sample
SMALL_COLUMNS = 8
SMALL_PARAMS = ss.CompareParams(
    n_permutations=199,
    scan=ss.ScanParams(n_permutations=255),
    equalise=ss.EqualiseParams(k_max=100, n_permutations=99),
    localise=ss.LocaliseParams(epochs=150, learning_rate=0.03, background=500),
)


@dataclass(frozen=True)
class Case:
    """How to draw two samples with a known shift, how many rows they have, and the settings they are compared with."""

    make: Callable[[int, int], Design]  # (rows a side, seed)
    params: ss.CompareParams = field(default_factory=ss.CompareParams)
    n: int = N

    def outcome(self, seed: int, params: ss.CompareParams, n: int | None = None) -> Unit:
        """What `compare` finds at a seed, held against the truth."""
        design, start = self.make(n or self.n, seed), spent()
        result = ss.compare(design.reference, design.current, params=params)
        truths = {tuple(sorted(one.features)) for one in design.planted}
        return {
            "detected": result.detected,
            "planted": [_found(one, result) for one in design.planted],
            "others": sum(tuple(planted_shifts.positions(mode)) not in truths for mode in result.modes),
            "modes": sorted([mode.side, planted_shifts.positions(mode)] for mode in result.modes),
            "seconds": (spent() - start).seconds,
        }


def _found(planted: Planted, result: ss.ShiftResult) -> Unit:
    """`recovered`, and the excess that is told of the planted rows, as a multiple of the true one."""
    found = planted_shifts.recovered(planted, result)
    if found["recall"] is None:
        return found
    features = sorted(planted.features)
    told = sum(m.excess for m in result.modes if m.side == planted.side and planted_shifts.positions(m) == features)
    n = result.n_reference if planted.side == "reference" else result.n_current
    return {**found, "excess": told * n / planted.rows.size}  # type: ignore[union-attr]


def _benchmark(draw: Callable[..., Any], amount: float, side: str | None) -> Callable[[int, int], Design]:
    def make(n: int, seed: int) -> Design:
        pair = draw(amount, seed, n)
        rows = np.flatnonzero(pair.shifted) if side else None
        return Design(pair.reference, pair.current, (Planted(side, tuple(sorted(pair.support)), rows),))

    return make


def _planted(name: str) -> Callable[[int, int], Design]:
    return lambda n, seed: planted_shifts.DESIGNS[name](n, np.random.default_rng([seed, *name.encode()]))


def _groups(d: int, stream: int, *places: tuple[str, int, tuple[int, ...]]) -> Callable[[int, int], Design]:
    """Compact groups in `d` columns: (side, rows, columns) each."""

    def make(n: int, seed: int) -> Design:
        rng = np.random.default_rng([seed, stream])
        samples = {"reference": background(n, d, rng), "current": background(n, d, rng)}
        planted = tuple(Planted(side, where, group(samples[side], size, where, rng)) for side, size, where in places)
        return Design(samples["reference"], samples["current"], planted)

    return make


def _broad(n: int, seed: int) -> Design:
    """Three columns are a little higher."""
    rng = np.random.default_rng([seed, 10])
    reference, current = background(n, SMALL_COLUMNS, rng), background(n, SMALL_COLUMNS, rng)
    current[:, [4, 5, 7]] += 0.25
    return Design(reference, current, (Planted(None, (4, 5, 7)),))


def _interaction(n: int, seed: int) -> Design:
    """The product of three signs is positive in 68 % of the current rows; all pairs of columns stay independent."""
    rng = np.random.default_rng([seed, 11])
    samples = background(n, SMALL_COLUMNS, rng), background(n, SMALL_COLUMNS, rng)
    for sample, share in zip(samples, (0.5, 0.68), strict=True):
        three = rng.standard_normal((n, 3))
        positive = np.where(rng.random(n) < share, 1.0, -1.0)
        three[:, 2] = np.abs(three[:, 2]) * positive * np.sign(three[:, 0] * three[:, 1])
        sample[:, [4, 5, 7]] = three
    return Design(*samples, (Planted(None, (4, 5, 7)),))


def _levels(n: int, seed: int) -> Design:
    """x2 is lower in one level of x3 and higher in the other: neither alone tells anything. x1 is a category too."""
    rng = np.random.default_rng([seed, 7])
    tables = []
    for moved in (0.0, 0.4):
        site, arm = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]), rng.choice(["u", "v"], n)
        dose = np.sqrt(1.0 - moved**2) * rng.standard_normal(n) + moved * np.where(arm == "u", -1.0, 1.0)
        tables.append(pd.DataFrame({"x0": rng.standard_normal(n), "x1": site, "x2": dose, "x3": arm}))
    planted = (Planted(None, (2, 3)),)
    return Design(tables[0], tables[1], planted)  # type: ignore[arg-type]


def _gaps(n: int, seed: int) -> Design:
    """x0 is missing more often, in the rarest level of x1 only."""
    rng = np.random.default_rng([seed, 12])
    tables = []
    for lacking in (0.05, 0.4):
        site = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
        lab = np.where(rng.random(n) < np.where(site == "c", lacking, 0.05), np.nan, rng.standard_normal(n))
        rest = rng.standard_normal((2, n))
        tables.append(pd.DataFrame({"x0": lab, "x1": site, "x2": rest[0], "x3": rest[1]}))
    return Design(tables[0], tables[1], (Planted(None, (0, 1)),))  # type: ignore[arg-type]


_FEW_COLUMNS = (("current", 250, (0, 2, 4)), ("reference", 250, (1, 3, 5)))
FULL_SPACE = "full space, small"
LARGE: dict[str, Case] = {
    "paper, localised": Case(_benchmark(local_pair, 100, "current")),
    "paper, global": Case(_benchmark(global_pair, 0.25, None)),
    "two groups": Case(_planted("two groups")),
    "interaction": Case(_planted("interaction")),
    "full space": Case(
        _groups(6, 6, *_FEW_COLUMNS), ss.CompareParams(scan=None, localise=ss.LocaliseParams(epochs=300))
    ),
    "levels": Case(_levels),
}
SMALL: dict[str, Case] = {
    "two groups, small": Case(
        _groups(SMALL_COLUMNS, 8, ("current", 110, (1, 4, 7)), ("reference", 110, (2, 5, 6))), SMALL_PARAMS, SMALL_N
    ),
    "four columns, small": Case(_groups(SMALL_COLUMNS, 9, ("current", 55, (0, 3, 5, 6))), SMALL_PARAMS, SMALL_N),
    "broad, small": Case(_broad, SMALL_PARAMS, SMALL_N),
    "interaction, small": Case(_interaction, SMALL_PARAMS, SMALL_N),
    "levels, small": Case(_levels, SMALL_PARAMS, SMALL_N),
    "gaps, small": Case(_gaps, SMALL_PARAMS, SMALL_N),
    FULL_SPACE: Case(
        _groups(5, 13, ("current", 120, (0, 2, 4)), ("reference", 120, (0, 1, 3))),
        replace(SMALL_PARAMS, scan=None),
        SMALL_N,
    ),
}
CASES = LARGE | SMALL
