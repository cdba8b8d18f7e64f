"""What a mode is: in pool positions while it is sought, in the user's terms when it is told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.sample_order import Side, other_side
from shiftscope.messages import percent, readable
from shiftscope.modes.localise import Localisation
from shiftscope.tables.column_kinds import Kind
from shiftscope.tables.dates import time_text

Origin = Literal["scan", "full space"]

TOLD_SHARE = 0.1  # of the change among a mode's rows: a smaller one of the whole sample does not tell the story ...
TOLD_RATIO = 2.0  # ... unless the level has become so many times as frequent
MOVED = 0.25  # pooled standard deviations by which a median must move to be told by that
NARROWER, WIDER = 0.75, 1.33  # ratios of spreads that are told, where the median has not moved
ALIKE = 0.1  # pooled standard deviations: a median that moved less, with a like spread, is told as much the same


@dataclass(frozen=True)
class Settled:
    """A mode at the end of its refinement.

    Attributes
    ----------
    is_current : bool
        The sample with the excess.
    features : tuple of int
        Positions of the supporting features, strongest first.
    rows : intp array
        Pool positions of the mode's rows.
    settled : bool
        The features are confirmed: by a localisation that returned them, or by the scan's calibrated search.
    localisation : Localisation or None
        Weights and curves behind the features; None for a mode that the scan found.
    p_value : float
        Calibrated p-value of the evidence the mode was founded on.
    origin : {"scan", "full space"}
    enough : float
        Share of the effect that would just have been enough to be found; 0 if that is not known.
    broad : bool
        A difference of the features as a whole, not of a compact group of rows.
    of_levels : bool
        The excess is one of levels or of missing values.
    counterpart : intp array
        Pool positions of rows that the other sample has instead, where the excess is one of levels; else empty.
    """

    is_current: bool
    features: tuple[int, ...]
    rows: NDArray[np.intp]
    settled: bool
    localisation: Localisation | None
    p_value: float
    origin: Origin
    enough: float = 0.0
    broad: bool = False
    of_levels: bool = False
    counterpart: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def all_rows(self) -> NDArray[np.intp]:
        """Pool positions of all that is taken away with the mode."""
        return np.concatenate([self.rows, self.counterpart])


@dataclass(frozen=True)
class Direction:
    """How one feature of a mode's rows differs from the other sample, in the user's units.

    Attributes
    ----------
    feature : str
    median, other_median : float
        Median of the mode's rows, and of all rows of the other sample.
    shift : float
        Their difference in pooled standard deviations.
    spread_ratio : float
        Interquartile range of the mode's rows divided by that of the other sample (infinite if the latter is 0).
    kind : {"number", "date", "time", "duration", "category"}
        What the column holds. Medians of times are in seconds; a category has none (NaN).
    level : str
        Of a category, or of a column whose values are missing in the mode: the level ("missing" if `gap`) that the
        mode's rows have most in excess; else empty.
    share, other_share, own_share : float
        Share of that level among the mode's rows, in the other sample, and in the mode's own sample as a whole.
    gap : bool
        The level is that a value is missing (or, at last, there).
    marginal : bool
        `own_share` exceeds `other_share` by more than the noise of counts.
    side : {"current", "reference"}
        The mode's own sample.
    """

    feature: str
    median: float
    other_median: float
    shift: float
    spread_ratio: float
    kind: Kind = "number"
    level: str = ""
    share: float = float("nan")
    other_share: float = float("nan")
    own_share: float = float("nan")
    gap: bool = False
    marginal: bool = True
    side: Side = "current"

    @property
    def word(self) -> str:
        """The most telling single word: higher, lower, narrower, wider, alike; later, earlier; more (of a level)."""
        if self.level:
            return "more"
        if self.kind == "date" and abs(self.shift) >= MOVED:
            return "later" if self.shift > 0 else "earlier"
        if abs(self.shift) >= MOVED:
            return "higher" if self.shift > 0 else "lower"
        if self.spread_ratio <= NARROWER:
            return "narrower"
        if self.spread_ratio >= WIDER:
            return "wider"
        if abs(self.shift) < ALIKE:
            return "alike"
        return "higher" if self.shift > 0 else "lower"

    @property
    def change(self) -> str:
        """What follows the name: "higher: median 61 against 52", "= B: 4 % -> 31 %", "missing: 2 % -> 30 %".

        Shares are those of the reference and of the current sample; where these hardly differ, as for a change in how
        columns go together, that of the mode's rows is held against the other sample's.
        """
        if self.level:
            level = self.level if self.gap else f"= {readable(self.level)}"
            change = self.own_share - self.other_share
            large = (
                change >= TOLD_SHARE * (self.share - self.other_share) or self.own_share > TOLD_RATIO * self.other_share
            )
            if self.marginal and large:
                before, after = self.other_share, self.own_share
                if self.side == "reference":
                    before, after = after, before
                return f"{level}: {percent(before)} -> {percent(after)}"
            return f"{level}: {percent(self.share)} of these rows against {percent(self.other_share)}"
        median, other = (
            f"{value:.4g}" if self.kind == "number" else time_text(self.kind, value)
            for value in (self.median, self.other_median)
        )
        return f"{'much the same' if self.word == 'alike' else self.word}: median {median} against {other}"

    def __str__(self) -> str:
        return f"{self.feature} {self.change}"


@dataclass(frozen=True)
class Mode:
    """One group of rows that one sample has in excess, or that stand for a difference of some features as a whole.

    Attributes
    ----------
    side : {"current", "reference"}
        The sample with the excess.
    features : tuple of str
        Names of the features in which the excess is visible, strongest first.
    rows : intp array
        Row positions in that sample.
    excess : float
        Excess mass as a share of that sample; 0 or less only if the scan found features that differ as a whole.
    excess_interval : (float, float)
        95 % counting interval of `excess`: it knows the noise of counts, not whether the region drawn is right.
    p_value : float
        Calibrated p-value of the evidence behind the mode.
    purity : float
        Estimated share of the rows around the mode that are truly in excess (the rest are background).
    directions : tuple of Direction
        One per feature, same order.
    settled : bool
        The subspace reproduced itself: rows found in it lead back to the same features.
    origin : {"scan", "full space"}
        Where the mode was first seen.
    localisation : Localisation or None
        Weights and subset-size curves behind `features`; None for a mode that the scan found.
    """

    side: Side
    features: tuple[str, ...]
    rows: NDArray[np.intp]
    excess: float
    excess_interval: tuple[float, float]
    p_value: float
    purity: float
    directions: tuple[Direction, ...]
    settled: bool
    origin: Origin
    localisation: Localisation | None = field(repr=False)

    def swapped(self) -> Mode:
        """The same with the two samples exchanged."""
        directions = tuple(replace(direction, side=other_side(direction.side)) for direction in self.directions)
        return replace(self, side=other_side(self.side), directions=directions)
