"""From a settled mode to what people read: excess mass with its interval, purity, direction of each feature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import columns_of
from shiftscope.encoding.sample_order import Side
from shiftscope.job import Job
from shiftscope.modes.excess import excess_mass
from shiftscope.modes.mode import Direction, Mode, Settled

NOISE = 2.0  # standard errors by which the shares of a level must differ to be told as a change of the samples
HUGE, HUGE_UNIT = 2.0**1020, 16.0  # differences of larger numbers may overflow: they are taken in this unit
MOSTLY = 0.5  # if more of a mode's rows lack a value, that is their direction


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
    excess = excess_mass(
        columns, job.is_current, mode.rows, job.params.modes, enough=mode.enough, random_state=job.random_state
    )
    return Mode(
        side="current" if mode.is_current else "reference",
        features=tuple(encoded.names[feature] for feature in mode.features),
        rows=np.sort(encoded.in_samples(mode.rows)[int(mode.is_current)]),
        excess=excess.share,
        excess_interval=excess.interval,
        p_value=min(1.0, job.searches * mode.p_value),
        purity=excess.purity,
        directions=directions(encoded, mode.is_current, mode.rows, mode.features),
        settled=mode.settled,
        origin=mode.origin,
        localisation=mode.localisation,
    )


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
