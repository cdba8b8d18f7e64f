"""How much more of a region one sample has than the other, as a share, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.spatial import cKDTree
from scipy.special import log_ndtr

from shiftscope.kernels.deviance import half_deviances
from shiftscope.params import ModeParams

COVERAGE = 0.95
WIDEST = 8.0  # standard errors that an interval reaches at most
SMALLEST_RADIUS = 1e-150  # the tree compares squares: a radius of 0, rows that are all alike, must not vanish


@dataclass(frozen=True)
class Excess:
    """Excess mass of a region as a share of its sample, its interval, and the share of the region it makes up.

    `evidence` is half the deviance of the labels in the region; 0 if the other sample is in excess there.
    """

    share: float
    interval: tuple[float, float]
    purity: float
    evidence: float


def excess_mass(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    rows: NDArray[np.intp],
    params: ModeParams,
    *,
    enough: float = 0.0,
    reach: float | None = None,
    random_state: int = 0,
) -> Excess:
    """Excess around a mode's rows, counted on rows that had no part in drawing the region.

    The pool is cut in two halves. The mode's rows in one half draw a region, the union of balls around them; the rows
    of the other half are counted in it, a of N in the mode's own sample and b of M in the other. The excess is
    a / N - b / M, averaged over both ways round, with variance a / N^2 + b / M^2 each. Modes are only looked at once
    they are found, and near the limit of what can be found it takes luck to be found: the interval is conditional on
    an estimate of at least `enough` times this one (normal, truncated below), unless there is no excess to be found by.

    Parameters
    ----------
    points : (n, m) float64
        Pooled matrix, the mode's features only.
    is_current : (n,) bool
    rows : intp array
        Pool positions of the mode's rows, all of one sample.
    enough : float
        Share of the excess that would just have been enough to be found.
    params : ModeParams
    reach : float, optional
        Share of the mode's rows that see `region_rank` others within the radius of the balls; by default
        `region_share`.
    """
    own_sample = is_current == is_current[rows[0]]
    half = _half(own_sample, np.random.default_rng(random_state))
    reach = params.region_share if reach is None else reach
    inside = np.zeros((2, 2))
    totals = np.zeros((2, 2))
    for number, drawing in enumerate((half, ~half)):
        centres = points[rows[drawing[rows]]] if drawing[rows].sum() > params.region_rank else points[rows]
        region = _inside(points[~drawing], centres, params.region_rank, reach)
        for sample, member in enumerate((own_sample[~drawing], ~own_sample[~drawing])):
            inside[number, sample] = np.sum(region & member)
            totals[number, sample] = np.sum(member)
    shares = inside / totals
    excess = float(np.mean(shares[:, 0] - shares[:, 1]))
    # Each half gives one estimate; a count of zero still leaves the uncertainty of one row.
    error = float(np.sqrt(np.sum(np.maximum(inside, 1.0) / totals**2)) / 2.0)
    low, high = _interval(excess, error, enough)
    own, other = float(shares[:, 0].mean()), float(shares[:, 1].mean())
    purity = float(np.clip(1.0 - other / own, 0.0, 1.0)) if own > 0 else 0.0
    held, counted = inside.sum(axis=0), totals.sum(axis=0)
    evidence = float(half_deviances(held[0], held.sum(), counted[0], counted.sum())) if own > other else 0.0
    return Excess(excess, (low, high), purity, evidence)


def _interval(estimate: float, error: float, enough: float) -> tuple[float, float]:
    """Given that an excess was found by its size; without that if it cannot have been: none, or far too little."""
    if enough > 0 and estimate > 0:
        low, high = _interval_given_found(estimate, error, enough * estimate)
        if high > 0:
            return max(0.0, low), min(1.0, high)
    low, high = _interval_given_found(estimate, error, -np.inf)
    return max(-1.0, low), min(1.0, high)


def _interval_given_found(estimate: float, error: float, limit: float) -> tuple[float, float]:
    """Means of a normal estimate, of which only values of at least `limit` are ever seen, that make this one likely.

    P(X >= estimate | X >= limit) rises with the mean; it is half of what COVERAGE leaves over at either end.
    """

    def surprise(mean: float, share: float) -> float:
        ratio = log_ndtr((mean - estimate) / error) - log_ndtr((mean - limit) / error)
        return float(ratio - np.log(share))

    tail = (1.0 - COVERAGE) / 2.0
    widest = estimate - WIDEST * error, estimate + WIDEST * error
    low, high = (
        widest[0] if surprise(widest[0], share) > 0 else brentq(surprise, *widest, args=(share,))
        for share in (tail, 1.0 - tail)
    )
    return float(low), float(high)


def _half(own_sample: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """A random half of either sample, so that neither half lacks one."""
    half = np.empty(own_sample.size, dtype=np.bool_)
    for member in (own_sample, ~own_sample):
        half[member] = rng.permutation(np.sum(member)) % 2 == 0
    return half


def _inside(points: NDArray[np.float64], centres: NDArray[np.float64], rank: int, reach: float) -> NDArray[np.bool_]:
    """Points within the radius that lets a share `reach` of the centres see `rank` others."""
    tree = cKDTree(centres)
    rank = min(rank, len(centres) - 1)
    if rank < 1:
        return np.zeros(len(points), dtype=np.bool_)
    spacing, _ = tree.query(centres, k=[rank + 1])
    radius = float(np.quantile(spacing[:, 0], reach))
    beyond = max(float(np.nextafter(radius, np.inf)), SMALLEST_RADIUS)
    nearest, _ = tree.query(points, k=1, distance_upper_bound=beyond)
    return np.asarray(nearest <= radius)
