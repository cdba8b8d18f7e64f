"""From a settled mode to what people read: excess mass with its interval, purity, direction of each feature."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.spatial import cKDTree
from scipy.special import log_ndtr, xlogy

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import columns_of
from shiftscope.findings import Direction, Mode, Side
from shiftscope.job import Job
from shiftscope.modes.refine import Settled

COVERAGE = 0.95
WIDEST = 8.0  # standard errors that an interval reaches at most
CENTRE_RANK = 5  # the region reaches to this neighbour of most centres ...
NOISE = 2.0  # standard errors by which the shares of a level must differ to be told as a change of the samples
HUGE, HUGE_UNIT = 2.0**1020, 16.0  # differences of larger numbers may overflow: they are taken in this unit
MOSTLY = 0.5  # if more of a mode's rows lack a value, that is their direction
CENTRE_SHARE = 0.95  # ... namely of this share of them
SMALLEST_REACH = 1e-150  # the tree compares squares: a radius of 0, rows that are all alike, must not vanish


def describe(job: Job, modes: tuple[Settled, ...]) -> tuple[Mode, ...]:
    """Modes in the user's terms, strongest first.

    A mode of the full space whose region turns out to hold no excess is none. One of the scan has passed a test of its
    own, and that need not be one of excess: a change of dependence moves mass about inside a region.
    """
    described = (_described(job, mode) for mode in modes)
    told = [mode for mode in described if mode.origin == "scan" or mode.excess > 0]
    return tuple(sorted(told, key=lambda mode: (mode.p_value, -mode.excess)))


def _described(job: Job, mode: Settled) -> Mode:
    encoded = job.encoded
    columns = np.ascontiguousarray(job.points[:, columns_of(job.groups, mode.features)])
    excess = excess_mass(columns, job.is_current, mode.rows, enough=mode.enough, random_state=job.random_state)
    return Mode(
        side="current" if mode.is_current else "reference",
        features=tuple(encoded.names[feature] for feature in mode.features),
        rows=np.sort(mode.rows - (encoded.n_reference if mode.is_current else 0)),
        excess=excess.share,
        excess_interval=excess.interval,
        p_value=min(1.0, job.searches * mode.p_value),
        purity=excess.purity,
        directions=directions(encoded, mode.is_current, mode.rows, mode.features),
        settled=mode.settled,
        origin=mode.origin,
        localisation=mode.localisation,
    )


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
    *,
    enough: float = 0.0,
    reach: float = CENTRE_SHARE,
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
    reach : float
        Share of the mode's rows that see `CENTRE_RANK` others within the radius of the balls.
    """
    own_sample = is_current == is_current[rows[0]]
    half = _half(own_sample, np.random.default_rng(random_state))
    inside = np.zeros((2, 2))
    totals = np.zeros((2, 2))
    for number, drawing in enumerate((half, ~half)):
        centres = points[rows[drawing[rows]]] if drawing[rows].sum() > CENTRE_RANK else points[rows]
        region = _inside(points[~drawing], centres, reach)
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
    evidence = _half_deviance(inside.sum(axis=0), totals.sum(axis=0)) if own > other else 0.0
    return Excess(excess, (low, high), purity, evidence)


def _half_deviance(inside: NDArray[np.float64], totals: NDArray[np.float64]) -> float:
    """Of (2,) rows of either sample inside a region, and in all: the log likelihood ratio of their shares."""
    expected = inside.sum() * totals / totals.sum()
    outside, expected_outside = totals - inside, totals - expected
    rows, chance = np.append(inside, outside), np.append(expected, expected_outside)
    return float(np.sum(xlogy(rows, rows) - xlogy(rows, chance)))


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


def _inside(points: NDArray[np.float64], centres: NDArray[np.float64], reach: float) -> NDArray[np.bool_]:
    """Points within the radius that lets a share `reach` of the centres see CENTRE_RANK others."""
    tree = cKDTree(centres)
    rank = min(CENTRE_RANK, len(centres) - 1)
    if rank < 1:
        return np.zeros(len(points), dtype=np.bool_)
    spacing, _ = tree.query(centres, k=[rank + 1])
    radius = float(np.quantile(spacing[:, 0], reach))
    beyond = max(float(np.nextafter(radius, np.inf)), SMALLEST_REACH)
    nearest, _ = tree.query(points, k=1, distance_upper_bound=beyond)
    return np.asarray(nearest <= radius)


def directions(
    encoded: Encoded, is_current: bool, rows: NDArray[np.intp], features: tuple[int, ...]
) -> tuple[Direction, ...]:
    """How each feature of the mode's rows (pool positions) differs from the other sample."""
    other = encoded.is_current != is_current
    side: Side = "current" if is_current else "reference"
    return tuple(replace(_direction(encoded, rows, other, feature), side=side) for feature in features)


def _direction(encoded: Encoded, rows: NDArray[np.intp], other: NDArray[np.bool_], feature: int) -> Direction:
    values = encoded.values(feature)
    missing = np.isnan(values)
    if encoded.features[feature].kind == "category" or missing[rows].mean() > MOSTLY or missing[other].all():
        return _level_direction(encoded, values, rows, other, feature)
    distinct = np.unique(values[~missing])
    if distinct.size <= 2:  # yes or no: medians would say little
        text = encoded.features[feature].text
        codes = np.where(missing, np.nan, np.searchsorted(distinct, values))
        return _level_direction(encoded, codes, rows, other, feature, tuple(text(value) for value in distinct))
    return _number_direction(encoded, values[rows][~missing[rows]], values[other][~missing[other]], feature)


def _level_direction(
    encoded: Encoded,
    values: NDArray[np.float64],
    rows: NDArray[np.intp],
    other: NDArray[np.bool_],
    feature: int,
    levels: tuple[str, ...] = (),
) -> Direction:
    """The level, or the missing value, that the mode's rows have most in excess of the other sample.

    `values` (n,) are positions in `levels`, by default those of a category; without any levels, a value is only there
    or missing.
    """
    kind, levels = encoded.features[feature].kind, levels or encoded.features[feature].levels
    level = np.where(np.isnan(values), len(levels), values if levels else len(levels) + 1).astype(np.intp)
    shares, others, owns = (
        np.bincount(level[group], minlength=len(levels) + 2) / level[group].size for group in (rows, other, ~other)
    )
    most = int(np.argmax(shares - others))
    pooled = float(np.mean(level == most))
    noise = np.sqrt(pooled * (1.0 - pooled) * (1.0 / np.sum(other) + 1.0 / np.sum(~other)))
    return Direction(
        encoded.names[feature],
        *(float("nan"),) * 4,
        kind=kind,
        level=levels[most] if most < len(levels) else ("missing", "not missing")[most - len(levels)],
        share=float(shares[most]),
        other_share=float(others[most]),
        own_share=float(owns[most]),
        gap=most >= len(levels),
        marginal=bool(owns[most] - others[most] > NOISE * noise),
    )


def _number_direction(
    encoded: Encoded, mode: NDArray[np.float64], other: NDArray[np.float64], feature: int
) -> Direction:
    unit = HUGE_UNIT if max(np.abs(mode).max(), np.abs(other).max()) > HUGE else 1.0
    low, median, high = np.quantile(mode / unit, (0.25, 0.5, 0.75))
    other_low, other_median, other_high = np.quantile(other / unit, (0.25, 0.5, 0.75))
    spread = float((high - low) / (other_high - other_low)) if other_high > other_low else float("inf")
    shift = float((median - other_median) / (encoded.scale[feature] / unit))
    kind, medians = encoded.features[feature].kind, (float(median * unit), float(other_median * unit))
    return Direction(encoded.names[feature], *medians, shift, spread, kind=kind)
