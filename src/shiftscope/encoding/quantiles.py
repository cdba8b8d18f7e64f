"""Quantile bins of rows that lie in parts, exact to the last bit: counts of leading bits add up.

Values are ordered by the bits of a key. Every part counts its values by leading bits, the counts are added up, and only
the buckets that hold a wanted rank are looked at more closely, until each holds one value or so few rows that these can
be listed. Some passes over the data (three for ten million rows, four for a thousand million) give the limits that
sorting all rows would give; no part of the work needs more memory than its own rows and a table of counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.bins import Limits, NumberCodes, level_codes
from shiftscope.kernels.ordered_keys import KEY_BITS, chosen_keys, tally_keys, values_of
from shiftscope.kernels.window_counts import MAX_BINS

FIRST_BITS = 20  # sign, exponent and eight bits of the fraction
NEXT_BITS = 6
LISTED = 1 << 17  # rows of one feature that are brought together
FEATURES_AT_ONCE = 64

_NONE_BELOW, _NONE_ABOVE = np.uint64(0), ~np.uint64(0)  # keys of NaN, which no value has


@dataclass(frozen=True)
class Question:
    """What every part is asked about one feature.

    Attributes
    ----------
    feature : int
    prefixes : (p,) uint64
        Leading bits of the values that are looked at, increasing.
    known : int
        How many bits that are.
    bits : int
        Further bits by which the values are told apart; 0 for all bits.
    """

    feature: int
    prefixes: NDArray[np.uint64]
    known: int
    bits: int

    def answer(self, ranked: NDArray[np.float64]) -> Tally:
        """Of one part, (m, d); missing values are -inf and not counted."""
        values = ranked[:, self.feature]
        if self.bits == 0:
            keys, rows = np.unique(chosen_keys(values, self.prefixes, self.known), return_counts=True)
            return Tally(rows.astype(np.int64), keys, keys, 0)
        return Tally(*tally_keys(values, self.prefixes, self.known, self.bits), KEY_BITS - self.known - self.bits)


@dataclass(frozen=True)
class Tally:
    """Buckets that hold values, increasing.

    Attributes
    ----------
    counts : (b,) int64
    low, high : (b,) uint64
        Smallest and largest key.
    shift : int
        Keys in one bucket differ in so many last bits only.
    """

    counts: NDArray[np.int64]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    shift: int

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        low, high = np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high])
        buckets, place = np.unique(low >> np.uint64(self.shift), return_inverse=True)
        counts = np.zeros(len(buckets), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        least, most = np.full(len(buckets), _NONE_ABOVE), np.full(len(buckets), _NONE_BELOW)
        np.minimum.at(least, place, low)
        np.maximum.at(most, place, high)
        return Tally(counts, least, most, self.shift)


Ask = Callable[[Sequence[Question]], Sequence[Tally]]  # answers of all parts, added up


def number_limits(ask: Ask, features: Sequence[int], n_rows: int, missing: Sequence[int]) -> list[Limits]:
    """Limits of the bins of some features, as `bin_features` finds them on all rows.

    Parameters
    ----------
    ask : callable
        Answers questions about all rows.
    features : sequence of int
        Columns of numbers.
    n_rows : int
        Rows of the pool.
    missing : sequence of int
        Rows that lack a value of each of the features; not all of them do.
    """
    shares = [NumberCodes.of(n_rows, gaps) for gaps in missing]
    found: list[Limits] = []
    for at in range(0, len(features), FEATURES_AT_ONCE):
        some = slice(at, at + FEATURES_AT_ONCE)
        ranks = [np.minimum((share.least() + 1) // 2, share.rows) for share in shares[some]]
        places = order_statistics(ask, features[some], ranks)
        found += [_limits(share, n_rows, place) for share, place in zip(shares[some], places, strict=True)]
    return found


def level_limits(counts: Sequence[int], missing: int) -> Limits:
    """Limits of the bins of a category, from the rows with each level, most frequent first, and those with none."""
    lengths = np.array([missing, *counts] if missing else counts)
    values = np.arange(len(lengths), dtype=np.float64)
    if missing:
        values = np.append(-np.inf, values[:-1])
    ends = np.cumsum(lengths)
    begins = np.append(0, ends)
    start = begins[np.searchsorted(level_codes(lengths), np.arange(MAX_BINS + 1))]
    return Limits.of(start, lambda place: values[np.searchsorted(ends, place, side="right")])


@dataclass(frozen=True)
class Places:
    """Where some ranks of one feature lead to.

    Attributes
    ----------
    ranks : (w,) int64
        Counting from 1, among the values that are there.
    below, count : (w,) int64
        Values below the bucket that holds the rank, and in it.
    low, high : (w,) uint64
        Smallest and largest key in the bucket: the value itself once they are equal.
    before, behind : (w,) uint64
        Keys of the next value below the bucket and above it, `_NONE_BELOW` and `_NONE_ABOVE` if there is none.
    first, last : (1,) uint64
        Keys of the smallest and of the largest value.
    known : int
        Leading bits that all keys of a bucket share.
    """

    ranks: NDArray[np.int64]
    below: NDArray[np.int64]
    count: NDArray[np.int64]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    before: NDArray[np.uint64]
    behind: NDArray[np.uint64]
    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    known: int

    @classmethod
    def of(cls, ranks: NDArray[np.int64]) -> Places:
        """Nothing known yet."""
        below, above = np.full(len(ranks), _NONE_BELOW), np.full(len(ranks), _NONE_ABOVE)
        zeros = np.zeros_like(ranks)
        return cls(ranks, zeros, zeros, below, above, below, above, below[:1], above[:1], 0)

    @property
    def open(self) -> NDArray[np.bool_]:
        """(w,) whether the value is not yet known."""
        return np.asarray(self.low != self.high)

    def question(self, feature: int) -> Question:
        """What to ask next."""
        if self.known == 0:
            return Question(feature, np.zeros(1, np.uint64), 0, FIRST_BITS)
        prefixes, at = np.unique(self.low[self.open] >> np.uint64(KEY_BITS - self.known), return_index=True)
        few = self.count[self.open][at].sum() <= LISTED
        return Question(feature, prefixes, self.known, 0 if few else min(NEXT_BITS, KEY_BITS - self.known))

    def narrowed(self, tally: Tally) -> Places:
        """After the answer to the question."""
        places = replace(self, known=KEY_BITS - tally.shift)
        if self.known == 0:
            places = replace(places, first=tally.low[:1], last=tally.high[-1:])
        wanted = np.flatnonzero(self.open)
        shift = np.uint64(KEY_BITS - self.known) if self.known else None
        own = self.low[wanted] >> shift if shift is not None else np.zeros(len(wanted), np.uint64)
        held = tally.low >> shift if shift is not None else np.zeros(len(tally.low), np.uint64)
        begin, end = np.searchsorted(held, own), np.searchsorted(held, own, side="right")
        sums = np.append(0, np.cumsum(tally.counts))
        rank = self.ranks[wanted] - self.below[wanted] + sums[begin]  # among all values of the tally
        at = np.searchsorted(sums, rank) - 1
        changed = {
            "below": self.below[wanted] + sums[at] - sums[begin],
            "count": tally.counts[at],
            "low": tally.low[at],
            "high": tally.high[at],
            "before": np.where(at > begin, tally.high[np.maximum(at, 1) - 1], self.before[wanted]),
            "behind": np.where(at + 1 < end, tally.low[np.minimum(at + 1, len(tally.low) - 1)], self.behind[wanted]),
        }
        for name, values in changed.items():
            whole = getattr(self, name).copy()
            whole[wanted] = values
            places = replace(places, **{name: whole})
        return places


def order_statistics(ask: Ask, features: Sequence[int], ranks: Sequence[NDArray[np.int64]]) -> list[Places]:
    """The values at some ranks of each feature (see `Places`), all of them found."""
    places = [Places.of(some) for some in ranks]
    while any(place.open.any() for place in places):
        searched = [at for at, place in enumerate(places) if place.open.any()]
        tallies = ask([places[at].question(features[at]) for at in searched])
        for at, tally in zip(searched, tallies, strict=True):
            places[at] = places[at].narrowed(tally)
    return places


def _limits(share: NumberCodes, n_rows: int, places: Places) -> Limits:
    """Bins from the values at the ranks near which each code begins.

    A code begins with the smallest value of which those below and those up to it add up to `NumberCodes.least`: at
    least half of that many values lie up to it, so it is the one at that rank, or the next larger one.
    """
    missing = n_rows - share.rows
    upto = places.below + places.count
    there = places.below + upto >= share.least()
    begin = np.where(there, places.below, upto) + missing
    value = np.where(there, places.low, places.behind)
    value = np.where(begin == n_rows, places.last, value)
    before = np.where(there, places.before, places.low)
    floor = -np.inf if missing else values_of(places.first)[0]
    start, smallest, largest = np.zeros(MAX_BINS + 1, np.int64), np.empty(MAX_BINS), np.empty(MAX_BINS)
    codes = slice(share.aside + 1, MAX_BINS)
    start[1 : share.aside + 1], start[codes], start[-1] = missing, begin, n_rows
    smallest[0], smallest[1 : share.aside + 1], smallest[codes] = floor, values_of(places.first), values_of(value)
    largest[: share.aside], largest[-1:] = -np.inf, values_of(places.last)
    largest[share.aside : -1] = np.where(before == _NONE_BELOW, floor, values_of(before))
    return Limits(start, smallest, largest)
