"""What the encoding needs to know of one column, in a form that adds up over the parts of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.exact_sums import exact_sum
from shiftscope.tables.column_kinds import Column, Kind, Unusable

MOST_LEVELS = 1 << 17  # distinct texts of one column that are kept; more are no category
NOUNS = {"number": "numbers", "date": "dates", "time": "times", "duration": "durations", "category": "text"}


@dataclass(frozen=True)
class Facts:
    """One column of a sample, or of a part of it.

    Attributes
    ----------
    kind : Kind
    rows, there : int
        All rows, and those that have a value.
    infinite, first_infinite : int
        How many values are infinite, and the row of the first.
    low, high : float
        Smallest and largest finite value; a category has none.
    total : int
        Sum of the finite values (see `exact_sum`); 0 for a category.
    whole, repeats : bool
        The data had an integer type; a value of such data is known to occur twice.
    levels : mapping of str to int
        Rows with each text of a category; if there are more than `MOST_LEVELS` in all parts, some of them.
    """

    kind: Kind
    rows: int
    there: int
    infinite: int = 0
    first_infinite: int = 0
    low: float = np.inf
    high: float = -np.inf
    total: int = 0
    whole: bool = False
    repeats: bool = False
    levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """No value is there: such a column agrees with any kind."""
        return self.there == 0

    @property
    def missing(self) -> int:
        """Rows without a value."""
        return self.rows - self.there


def column_facts(column: Column) -> Facts:
    """The facts of one column."""
    values = column.values
    if column.kind == "category":
        codes = values[~np.isnan(values)].astype(np.intp)
        counts = np.bincount(codes, minlength=len(column.levels)).tolist()
        levels: Counter[str] = Counter()
        for level, rows in zip(column.levels, counts, strict=True):
            levels[level] += rows
        return Facts("category", len(values), codes.size, levels={text: rows for text, rows in levels.items() if rows})
    finite = np.isfinite(values)
    found = values if finite.all() else values[finite]
    there = len(values) - int(np.isnan(values).sum())
    return Facts(
        column.kind,
        len(values),
        there,
        infinite=there - len(found),
        first_infinite=int(np.argmax(np.isinf(values))) if there > len(found) else 0,
        low=float(found.min(initial=np.inf)),
        high=float(found.max(initial=-np.inf)),
        total=exact_sum(found),
        whole=column.whole,
        repeats=column.whole and _repeats(found),
    )


def _repeats(values: NDArray[np.float64]) -> bool:
    """Whether some whole number occurs twice: certain if there are more of them than numbers in their range."""
    if not len(values):
        return False
    return bool(len(values) > np.ptp(values) + 1) or np.unique(values).size < values.size


def merged(first: Facts | Unusable, second: Facts | Unusable) -> Facts | Unusable:
    """The facts of two parts of a sample, one behind the other."""
    if isinstance(first, Unusable) or isinstance(second, Unusable):
        return first if isinstance(first, Unusable) else second
    if first.kind != second.kind and not (first.empty or second.empty):
        return Unusable(
            f"{NOUNS[first.kind]} in one partition and {NOUNS[second.kind]} in another; make all of one kind"
        )
    return Facts(
        second.kind if first.empty else first.kind,
        first.rows + second.rows,
        first.there + second.there,
        infinite=first.infinite + second.infinite,
        first_infinite=first.first_infinite if first.infinite else first.rows + second.first_infinite,
        low=min(first.low, second.low),
        high=max(first.high, second.high),
        total=first.total + second.total,
        whole=first.whole and second.whole,
        repeats=first.repeats or second.repeats,
        levels=_together(first.levels, second.levels),
    )


def _together(first: Mapping[str, int], second: Mapping[str, int]) -> Mapping[str, int]:
    """Counts added up; beyond `MOST_LEVELS` the others are no longer looked at."""
    if not (first and second) or max(len(first), len(second)) > MOST_LEVELS:
        return max(first, second, key=len)
    return dict(Counter(first) + Counter(second))
