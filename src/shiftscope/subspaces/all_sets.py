"""All sets of one size among some features, in lexicographic order, made when asked for: pairs are many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

SETS_AT_ONCE = 1 << 18  # most sets whose evidence is in memory, under 64 labellings: half a gigabyte


@dataclass(frozen=True)
class AllSets:
    """All sets of `size` of some `features` (p,), which increase; it is read like an array (sets, size)."""

    features: NDArray[np.int64]
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Of the array."""
        return len(self), self.size

    def __len__(self) -> int:
        return comb(len(self.features), self.size)

    def __getitem__(self, at: int | slice | NDArray[np.integer]) -> NDArray[np.int64]:
        places = np.arange(*at.indices(len(self))) if isinstance(at, slice) else np.atleast_1d(at)
        sets = self.features[_chosen(places, len(self.features), self.size)]
        return np.asarray(sets if isinstance(at, slice) or np.ndim(at) else sets[0])


def blocks(n: int, most: int) -> Iterator[slice]:
    """The places 0..n, at most so many at a time."""
    return (slice(start, min(start + most, n)) for start in range(0, n, most))


def _chosen(places: NDArray[np.integer], p: int, size: int) -> NDArray[np.integer]:
    """Positions, among p, of the sets at `places`.

    The shorter sets that begin behind a first element are the last ones in their own order, in one piece.
    """
    if size == 1:
        return places[:, None]
    begins, shorter = (np.cumsum([0, *(comb(p - 1 - a, s - 1) for a in range(p))]) for s in (size, size - 1))
    first = np.searchsorted(begins, places, side="right") - 1
    return np.column_stack([first, _chosen(shorter[first + 1] + places - begins[first], p, size - 1)])
