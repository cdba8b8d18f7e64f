"""Labellings: the observed labels of the pooled rows and random permutations of them, drawn wherever the rows are.

The labels of a row follow from its position in the pool and the seed. So whoever holds a stretch of the rows can draw
their labels, and however the rows are cut into parts, the labels are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.deviance import xlogx
from shiftscope.kernels.labels import PACK, STRETCH, draw_labels, draw_packed

_ONE, _NONE, _ALL = np.uint64(1), np.uint64(0), ~np.uint64(0)


@dataclass(frozen=True)
class Labellings:
    """Assignments of the labels to the pooled rows: the observed one first, then random permutations of it.

    A label is one where the row belongs to the counted sample, the smaller of the two.

    Attributes
    ----------
    n_rows, n_reference : int
    n_labellings : int
        The observed labels included.
    seeds : (64 * packs,) uint64
        One per labelling; the last labelling is repeated to fill its pack.
    drawn : (64 * packs, stretches) int64
        Rows of the counted sample that each labelling has in each stretch of the free rows (see `draw_packed`).
    fixed : int
        Leading rows that keep their label in every labelling; the others are free.
    """

    n_rows: int
    n_reference: int
    n_labellings: int
    seeds: NDArray[np.uint64]
    drawn: NDArray[np.int64]
    fixed: int = 0

    @property
    def current_counted(self) -> bool:
        """Whether the counted sample is the current one."""
        return 2 * self.n_reference >= self.n_rows

    @property
    def counted(self) -> int:
        """Rows of the counted sample, the same in each labelling."""
        return self.n_rows - self.n_reference if self.current_counted else self.n_reference

    @property
    def n_packs(self) -> int:
        """Words that hold the labellings of a row."""
        return len(self.seeds) // PACK

    @cached_property
    def xlogx(self) -> NDArray[np.float64]:
        """(n + 1,) ``i log i`` for i = 0..n."""
        return xlogx(self.n_rows)

    def packed(self, start: int = 0, stop: int | None = None) -> NDArray[np.uint64]:
        """(packs, rows) labels of the rows from `start` to `stop`: bit l of pack w is that of labelling 64 w + l."""
        stop = self.n_rows if stop is None else stop
        observed = (np.arange(start, stop) >= self.n_reference) == self.current_counted
        packed = np.tile(np.where(observed, _ALL, _NONE), (self.n_packs, 1))
        free = max(start, self.fixed)
        if free < stop:
            low, high, n_free = free - self.fixed, stop - self.fixed, self.n_rows - self.fixed
            packed[:, free - start :] = draw_packed(low, high, n_free, self.seeds, self.drawn)
        packed[0] = packed[0] & ~_ONE | observed.astype(np.uint64)
        return packed


@dataclass(frozen=True)
class LabellingsWithin(Labellings):
    """Labellings that move labels within strata only: each stratum keeps its rows of either sample.

    Attributes
    ----------
    strata : (n,) intp
        Stratum of each row.
    """

    strata: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))

    def packed(self, start: int = 0, stop: int | None = None) -> NDArray[np.uint64]:
        """As for `Labellings`; all strata are drawn, so take many rows at once."""
        observed = (np.arange(self.n_rows) >= self.n_reference) == self.current_counted
        labels = np.tile(observed.astype(np.uint8), (len(self.seeds), 1))
        order = np.argsort(self.strata, kind="stable")
        for at, rows in enumerate(np.split(order, np.flatnonzero(np.diff(self.strata[order])) + 1)):
            counted = int(observed[rows].sum())
            if 0 < counted < rows.size:
                labels[1:, rows] = draw_labels(rows.size, counted, self.seeds[1:] + np.uint64(at))
        octets = np.packbits(np.ascontiguousarray(labels[:, start:stop].T), axis=1, bitorder="little")
        return np.ascontiguousarray(octets.view("<u8").T)


def draw_labellings(n_rows: int, n_reference: int, seeds: NDArray[np.uint64], fixed: int = 0) -> Labellings:
    """The plan of the observed labels and of one random permutation of them per seed, the first rows fixed."""
    n_labellings = 1 + len(seeds)
    at = np.minimum(np.arange(-(-n_labellings // PACK) * PACK), n_labellings - 1)
    labellings = Labellings(
        n_rows, n_reference, n_labellings, np.append(_NONE, seeds)[at], np.empty((0, 0), np.int64), fixed
    )
    held = max(0, n_reference - fixed)  # free rows of the reference sample
    free = n_rows - fixed
    drawn = _shared_out(free, free - held if labellings.current_counted else held, seeds)
    return replace(labellings, drawn=np.vstack([drawn[:1], drawn])[at])


def labellings_within(strata: NDArray[np.intp], n_reference: int, seeds: NDArray[np.uint64]) -> LabellingsWithin:
    """The observed labels, and one random permutation of them within strata per seed."""
    plan = draw_labellings(len(strata), n_reference, seeds)
    return LabellingsWithin(**vars(plan), strata=strata)


def random_labels(
    is_current: NDArray[np.bool_], numbers: range, random_state: int, listed: int | None = None
) -> NDArray[np.uint8]:
    """(n, len(numbers)) labels; column b is a random choice of as many current rows, seeded by (seed, b).

    The first `listed` rows (default: all) and the others keep their numbers of current rows: the rows that are looked
    at may have been drawn sample by sample.
    """
    rng = np.random.default_rng(random_state)
    seeds = rng.integers(0, 2**64, size=numbers.stop, dtype=np.uint64)[numbers.start :]
    parts = np.split(is_current, [is_current.size if listed is None else listed])
    labels = [draw_labels(part.size, int(part.sum()), seeds + np.uint64(at)) for at, part in enumerate(parts)]
    return np.asarray(labels[0].T if parts[1].size == 0 else np.concatenate(labels, axis=1).T)


def unpack_labels(packed: NDArray[np.uint64], n_labellings: int) -> NDArray[np.uint8]:
    """(packs, n) as (n, labellings) labels."""
    n_bytes = np.ascontiguousarray(packed.T).astype("<u8").view(np.uint8)
    return np.unpackbits(n_bytes, axis=1, count=n_labellings, bitorder="little")


def _shared_out(n: int, counted: int, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many rows each labelling draws in each stretch: multivariate hypergeometric, as in a draw from all rows."""
    lengths = np.diff(np.append(np.arange(0, n, STRETCH), n))
    if len(lengths) == 1:
        return np.full((len(seeds), 1), counted, dtype=np.int64)
    return np.array(
        [np.random.default_rng(int(seed)).multivariate_hypergeometric(lengths, counted) for seed in seeds],
        dtype=np.int64,
    )
