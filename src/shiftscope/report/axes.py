"""A user column as an axis: where its values are drawn, and how its ticks read.

Numbers and times are drawn in their units. A category, or a number with few values, has one place per level, 0, 1, 2,
..., and the missing values of any column have a place of their own before all others.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np
from matplotlib.dates import AutoDateLocator, num2date
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from shiftscope.findings import DAY, Encoded, Feature, Findings, Kind, time_text

VIEW = (0.002, 0.998)  # pooled quantiles between which numbers are drawn
DRAWABLE = (1e-100, 1e100)  # spreads outside are drawn standardised, and so are columns ...
RESOLUTION = 1e-10  # ... whose spread is smaller than this share of their mean
LEVELS_DRAWN = 10  # places for levels; rarer ones share a place
FEW_VALUES = 6  # a number with so few distinct values is drawn like a category
FIRST_ROWS = 1000
LEVEL_LENGTH = 18  # characters of a level's name beside an axis
JITTER = 0.6  # of a place: how far its rows are spread, so that they do not hide each other
SPREAD_SEED = 8461  # of its own, so that the user's random numbers are not met again
BOX = (0.05, 0.95)  # quantiles of a mode's rows that its boxes hold ...
MARGIN = 0.03  # of the range drawn, on either side
BOX_MARGIN = 0.3  # ... and a margin, in shares of their distance
BOX_SHARE = 0.1  # of a mode's rows: levels with fewer have no box
GAP_AT, GAP_WIDTH = 0.12, 0.06  # place of missing numbers: below the range, in shares of it
TICKS = 4  # intervals between ticks, about
TIME_UNITS = (DAY, 3600.0, 60.0)  # a day, an hour, a minute
TIME_STEPS = (1, 2, 3, 6, 10)  # so that hours are quarters of a day
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # of the years 1 to 9999 in days since 1970; others are drawn as numbers

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """A column that can be drawn.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "time", "duration", "category"}
    standardised : bool
        Drawn in pooled standard deviations, because the user's units cannot be drawn.
    low, high : float
        Range drawn: the bulk of the pool, and all rows of the modes seen in this column.
    labels : tuple of str
        Of a category, and of a column of few values: what stands at 0, 1, 2, ...; else empty.
    gap : float or None
        Of all others: missing values are drawn between `low` and this value; None if none is missing.
    """

    name: str
    kind: Kind
    standardised: bool
    low: float
    high: float
    labels: tuple[str, ...]
    gap: float | None


@dataclass(frozen=True)
class Drawn:
    """An axis with the place of every row of the pool on it, (n,)."""

    axis: Axis
    places: Floats

    def spread(self, rows: NDArray[np.intp], seed: int) -> Floats:
        """Places of some rows (pool positions); rows that share one by their nature are spread at random."""
        places = self.places[rows]
        noise = np.random.default_rng((SPREAD_SEED, seed)).random(len(self.places))[rows] - 0.5
        if self.axis.labels:
            return np.asarray(places + JITTER * noise)
        if self.axis.gap is None:
            return places
        low, gap = self.axis.low, self.axis.gap
        return np.asarray(np.where((places >= low) & (places < gap), places + JITTER * (gap - low) * noise, places))

    def in_view(self) -> Floats:
        """(n,) places with those out of view at the nearer end of the values in view."""
        least = self.axis.low if self.axis.gap is None else _first(self.axis)
        return np.clip(np.where(self.places < self.axis.low, least, self.places), self.axis.low, self.axis.high)


@dataclass(frozen=True)
class Ticks:
    """Where the ticks of an axis are, what they say, and what all of them have in common (a year, a day)."""

    places: tuple[float, ...]
    labels: tuple[str, ...]
    common: str


@dataclass(frozen=True)
class Box:
    """A box in a scatter plot."""

    left: float
    right: float
    bottom: float
    top: float


def drawn(result: Findings, position: int) -> Drawn:
    """One user column, drawn so that all rows of the modes seen in it are in view."""
    name, encoded = result.names[position], result.encoded
    seen = [mode for mode in result.modes if name in mode.features]
    if encoded.features[position].kind == "category":
        told = [d.level for mode in seen for d in mode.directions if d.feature == name and not d.gap]
        return _category(name, encoded, position, told)
    few = _few_values(encoded.values(position))
    if few is not None:
        return _few(name, encoded, position, few)
    rows = [result.in_pool(mode) for mode in seen]
    return _number(name, encoded, position, np.concatenate(rows) if rows else np.empty(0, np.intp))


def bin_edges(axis: Axis, count: int) -> Floats:
    """Bins of a histogram: one per place of a category, `count` even ones otherwise, and one of missing values."""
    if axis.labels:
        return np.arange(len(axis.labels) + 1, dtype=np.float64) - 0.5
    if axis.gap is None:
        return np.linspace(axis.low, axis.high, count + 1)
    return np.concatenate([[axis.low, axis.gap], np.linspace(_first(axis), axis.high, count + 1)])


def ticks(axis: Axis) -> Ticks:
    """Ticks in words that fit the kind of the column."""
    if axis.labels:
        return Ticks(tuple(float(place) for place in range(len(axis.labels))), axis.labels, "")
    low = axis.low if axis.gap is None else _first(axis)
    found = _date_ticks(low, axis.high) if axis.kind == "date" and not axis.standardised else None
    found = found or _number_ticks(axis, low)
    if axis.gap is None:
        return found
    return Ticks(((axis.low + axis.gap) / 2, *found.places), ("missing", *found.labels), found.common)


def boxes(marked: Floats, across: Axis, up: Axis) -> tuple[Box, ...]:
    """Boxes around most of a mode's rows: one for each level, or for missing values, that holds enough of them.

    Parameters
    ----------
    marked : (m, 2) float64
        Places of the mode's rows on both axes.
    """
    keys = np.stack([_stand(across, marked[:, 0]), _stand(up, marked[:, 1])], axis=1)
    found, group = np.unique(keys, axis=0, return_inverse=True)
    inside = [group.ravel() == number for number in range(len(found))]
    return tuple(
        Box(*_extent(across, marked[rows, 0]), *_extent(up, marked[rows, 1]))
        for rows in inside
        if rows.sum() >= BOX_SHARE * len(marked)
    )


def level_label(level: str) -> str:
    """A level's name beside an axis: one line, printable, short."""
    line = "".join(c if c.isprintable() else "·" for c in " ".join(level.split())) or "(empty)"
    return line if len(line) <= LEVEL_LENGTH else f"{line[: LEVEL_LENGTH - 5]}…{line[-4:]}"


def _category(name: str, encoded: Encoded, position: int, told: list[str]) -> Drawn:
    """The missing value first, then the levels told of and the most frequent ones, then all others in one place."""
    values, feature = encoded.values(position), encoded.features[position]
    levels = _levels_drawn(feature, told)
    rest = len(feature.levels) - len(levels)
    labels = [level_label(feature.levels[level]) for level in levels]
    labels += [f"{rest:,} others"] if rest else []
    place = np.full(len(feature.levels) + 1, float(len(levels)))  # of each level, and of a missing value at the end
    place[levels] = np.arange(len(levels))
    place[-1] = -1.0
    places = place[np.where(np.isnan(values), len(feature.levels), values).astype(np.intp)]
    if feature.missing:
        labels, places = ["missing", *labels], places + 1.0
    return Drawn(Axis(name, "category", False, -0.5, len(labels) - 0.5, tuple(labels), None), places)


def _levels_drawn(feature: Feature, told: list[str]) -> list[int]:
    """Positions of the levels with a place of their own, in their order by frequency."""
    if len(feature.levels) <= LEVELS_DRAWN + 1:
        return list(range(len(feature.levels)))
    wanted = dict.fromkeys(feature.levels.index(level) for level in told if level in feature.levels)
    return sorted([*wanted, *(level for level in range(LEVELS_DRAWN) if level not in wanted)][:LEVELS_DRAWN])


def _few_values(values: Floats) -> Floats | None:
    """The distinct values of a column that has few of them; else None."""
    if np.unique(values[:FIRST_ROWS]).size > FEW_VALUES + 1:  # a glance spares most columns the sorting
        return None
    distinct = np.unique(values)
    distinct = distinct[~np.isnan(distinct)]
    return distinct if 0 < distinct.size <= FEW_VALUES else None


def _few(name: str, encoded: Encoded, position: int, distinct: Floats) -> Drawn:
    """Each value of a number or time has a place of its own, in order; the missing value stands first."""
    values, feature = encoded.values(position), encoded.features[position]
    labels = [feature.text(value) for value in distinct.tolist()]
    places = np.where(np.isnan(values), -1.0, np.searchsorted(distinct, values).astype(np.float64))
    if feature.missing:
        labels, places = ["missing", *labels], places + 1.0
    return Drawn(Axis(name, feature.kind, False, -0.5, len(labels) - 0.5, tuple(labels), None), places)


def _number(name: str, encoded: Encoded, position: int, rows: NDArray[np.intp]) -> Drawn:
    """In the user's units where these can be drawn; missing values stand below the range."""
    standardised, kind = not _drawable(encoded, position), encoded.features[position].kind
    values = encoded.values(position)
    if standardised:
        values = np.where(np.isnan(values), np.nan, encoded.points[:, position])
    missing = np.isnan(values)
    there = values[~missing]
    seen = np.concatenate([np.quantile(there, VIEW), values[rows][~missing[rows]]])
    low, high = float(seen.min()), float(seen.max())
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    if not missing.any():
        return Drawn(Axis(name, kind, standardised, low, high, (), None), values)
    bottom, gap = low - GAP_AT * (high - low), low - (GAP_AT - GAP_WIDTH) * (high - low)
    out_of_view = bottom - (high - low)
    places = np.where(missing, (bottom + gap) / 2, np.where(values < gap, out_of_view, values))
    return Drawn(Axis(name, kind, standardised, bottom, high, (), gap), places)


def _drawable(encoded: Encoded, position: int) -> bool:
    """Whether a column can be drawn in the user's units: axes fail at extreme spreads and far from zero."""
    scale, centre = float(encoded.scale[position]), float(encoded.centre[position])
    return DRAWABLE[0] < scale < DRAWABLE[1] and scale > RESOLUTION * abs(centre)


def _first(axis: Axis) -> float:
    """Where the values of an axis with a gap begin."""
    assert axis.gap is not None
    return axis.gap + (axis.gap - axis.low) * (GAP_AT - GAP_WIDTH) / GAP_WIDTH


def _stand(axis: Axis, places: Floats) -> Floats:
    """What rows have in common on an axis: a level, a missing value or (-1) a value."""
    if axis.labels:
        return np.round(places)
    return np.where(places < axis.gap, 0.0, -1.0) if axis.gap is not None else np.full(len(places), -1.0)


def _extent(axis: Axis, places: Floats) -> tuple[float, float]:
    """From where to where a box goes: around a level, around the missing values, or around most values."""
    if axis.labels:
        return float(np.round(places[0])) - 0.45, float(np.round(places[0])) + 0.45
    if axis.gap is not None and places[0] < axis.gap:
        return axis.low, axis.gap
    low, high = np.quantile(places, BOX)
    margin = BOX_MARGIN * (high - low)
    return max(float(low - margin), axis.low), min(float(high + margin), axis.high)


def _number_ticks(axis: Axis, low: float) -> Ticks:
    """Round numbers; of times, a round number of seconds, minutes, hours or days."""
    timed = axis.kind != "number" and not axis.standardised
    unit = next((unit for unit in TIME_UNITS if axis.high - low >= 2 * unit), 1.0) if timed else 1.0
    locator = MaxNLocator(TICKS, steps=TIME_STEPS) if timed else MaxNLocator(TICKS)
    places = [float(tick * unit) for tick in locator.tick_values(low / unit, axis.high / unit)]
    places = [place for place in places if low <= place <= axis.high]
    labels = [time_text(axis.kind, place) if timed else f"{place:.4g}" for place in places]
    return Ticks(tuple(places), tuple(labels), "")


def _date_ticks(low: float, high: float) -> Ticks | None:
    """Round dates; None beyond the years that have any."""
    if not FIRST_DAY * DAY <= low <= high <= LAST_DAY * DAY:
        return None
    locator = AutoDateLocator(minticks=3, maxticks=TICKS + 2)
    days = [float(day) for day in locator.tick_values(num2date(low / DAY), num2date(high / DAY))]
    days = [day for day in days if low <= day * DAY <= high]
    form, common = _date_form([num2date(day) for day in days])
    labels = [num2date(day).strftime(form) for day in days]
    return Ticks(tuple(day * DAY for day in days), tuple(labels), common)


def _date_form(dates: list[datetime.datetime]) -> tuple[str, str]:
    """The shortest form that tells the dates apart, and what it leaves out."""
    if all((date.day, date.hour, date.minute, date.second) == (1, 0, 0, 0) for date in dates):
        return ("%Y" if all(date.month == 1 for date in dates) else "%Y-%m"), ""
    if all((date.hour, date.minute, date.second) == (0, 0, 0) for date in dates):
        return "%Y-%m-%d", ""
    if len({date.date() for date in dates}) == 1:
        return ("%H:%M" if all(date.second == 0 for date in dates) else "%H:%M:%S"), f"{dates[0]:%Y-%m-%d}"
    return "%m-%d %H:%M", f"{dates[0]:%Y}"
