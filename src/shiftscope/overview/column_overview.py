"""One column in the overview: what it is like in either sample, how far it moved, and what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

from shiftscope.encoding.units import unit_in_words
from shiftscope.messages import percent, readable
from shiftscope.tables.column_kinds import Kind
from shiftscope.tables.dates import time_text

FlagKind = Literal["missing", "constant", "separate", "rounding", "heap", "unit", "new levels", "lost levels"]


@dataclass(frozen=True)
class ColumnSide:
    """A column in one sample.

    Attributes
    ----------
    rows, missing : int
        All rows, and those without a value.
    seen : int
        Rows at hand that all that follows is about: those with a value, for a category all. On a cluster there may be
        more rows than are at hand.
    distinct : int
        Different values among them.
    low, quarter, median, three_quarters, high : float
        Smallest value, quartiles and largest one, in the user's units (times in seconds); NaN for a category and where
        no value is there.
    levels : tuple of (str, int)
        Rows with each of the levels, or of the values of a number, whose shares changed most; empty for numbers of
        which no single value stands out.
    """

    rows: int
    missing: int
    seen: int
    distinct: int
    low: float
    quarter: float
    median: float
    three_quarters: float
    high: float
    levels: tuple[tuple[str, int], ...] = ()

    @property
    def missing_share(self) -> float:
        """Share of the rows without a value."""
        return self.missing / self.rows


@dataclass(frozen=True)
class Flag:
    """Something that a person should know of a column before reading on.

    Attributes
    ----------
    kind : str
        "missing", "constant", "separate", "rounding", "heap", "unit", "new levels" or "lost levels".
    reference, current : str
        What it says of either sample: a share, a value, a range, a step, names of levels.
    """

    kind: FlagKind
    reference: str
    current: str

    def swapped(self) -> Flag:
        """The same with the two samples exchanged."""
        kinds: dict[FlagKind, FlagKind] = {"new levels": "lost levels", "lost levels": "new levels"}
        return Flag(kinds.get(self.kind, self.kind), self.current, self.reference)

    @property
    def sentence(self) -> str:
        """What follows the column's name."""
        first, second = self.reference, self.current
        if self.kind == "missing":
            return f"missing in {first} of the reference and {second} of the current rows"
        if self.kind == "constant":
            return f"{first} in the reference and {second} in the current sample"
        if self.kind == "separate":
            return f"tells the samples apart by itself: {first} in the reference, {second} in the current sample"
        if self.kind == "rounding":
            return f"rounded differently: {first} in the reference, {second} in the current sample"
        if self.kind == "heap":
            return f"heaps differently: {first} in the reference, {second} in the current sample"
        if self.kind == "unit":
            return f"looks like another unit: {unit_in_words((first, second))}"
        if self.kind == "new levels":
            return f"has levels that the reference lacks: {second}"
        return f"lacks levels that the reference has: {first}"


@dataclass(frozen=True)
class ColumnOverview:
    """One column, by itself.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "time", "duration", "category"}
    reference, current : ColumnSide
    shift : float
        By how much the median is higher in the current sample, in pooled standard deviations; NaN for a category.
    effect : float
        How far it moved: for numbers and times the Wasserstein distance of the values that are there, in pooled
        standard deviations; for categories the total variation, missing values being a level. NaN if a sample has no
        value at all.
    effect_interval : (float, float)
        95 % interval of `effect`.
    evidence : float
        What the scan found in this column alone, on the scale on which it ranks sets; NaN without a scan.
    p_value : float
        Family-wise over all columns: how often random labellings reach that evidence in any column. NaN without a scan.
    flags : tuple of Flag
    """

    name: str
    kind: Kind
    reference: ColumnSide
    current: ColumnSide
    shift: float
    effect: float
    effect_interval: tuple[float, float]
    evidence: float
    p_value: float
    flags: tuple[Flag, ...]

    def swapped(self) -> ColumnOverview:
        """The same with the two samples exchanged."""
        flags = tuple(flag.swapped() for flag in self.flags)
        return replace(self, reference=self.current, current=self.reference, shift=-self.shift, flags=flags)

    @property
    def strength(self) -> tuple[float, float]:
        """Sorts columns, strongest first: by evidence, then by effect."""
        evidence, effect = (value if isfinite(value) else 0.0 for value in (self.evidence, self.effect))
        return -evidence, -max(effect, self.missing_change)

    @property
    def missing_change(self) -> float:
        """By how much the share of missing values differs."""
        return abs(self.current.missing_share - self.reference.missing_share)

    @property
    def separates(self) -> bool:
        """Whether the column alone tells every row of one sample from every row of the other."""
        return any(flag.kind == "separate" for flag in self.flags)

    @property
    def change(self) -> str:
        """How the column as a whole differs, in the most telling way: "median 56 -> 49", "missing: 1 % -> 90 %"."""
        told = {flag.kind: flag.sentence for flag in self.flags}
        for kind in ("separate", "unit", "constant"):
            if kind in told:
                return told[kind]
        if "missing" not in told:
            return self._values()
        gaps = f"missing: {percent(self.reference.missing_share)} -> {percent(self.current.missing_share)}"
        both = self.effect_interval[0] > 0 and isfinite(self.effect) and self.kind != "category"
        return f"{gaps}; of the others {self._values()}" if both else gaps

    def _values(self) -> str:
        first, second = self.reference, self.current
        before, after = self.text(first.median), self.text(second.median)
        surely = self.effect_interval[0] > 0
        if first.levels and (before == after or not surely):
            return self._level()
        if before != after:
            return f"median {before} -> {after}"
        halves = [f"{self.text(side.quarter)} to {self.text(side.three_quarters)}" for side in (first, second)]
        if halves[0] != halves[1]:
            return f"median {before} in both, middle half {halves[0]} -> {halves[1]}"
        return f"median {before} and middle half {halves[0]} in both"

    def _level(self) -> str:
        """The level, or value, whose share of the values that are there changed most; a category's of all rows."""
        level = self.reference.levels[0][0]
        shares = [dict(side.levels)[level] / side.seen for side in (self.reference, self.current)]
        return f"= {readable(level)}: {percent(shares[0])} -> {percent(shares[1])}"

    def text(self, value: float) -> str:
        """A value as people read it."""
        if not isfinite(value):
            return "–"
        return f"{value:.4g}" if self.kind in ("number", "category") else time_text(self.kind, value)
