"""What the scan gives: the strongest small feature sets, and how far chance reaches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.sample_order import Side, other_side
from shiftscope.engines.base import Gathered
from shiftscope.subspaces.families import Statistic


@dataclass(frozen=True)
class FeatureSet:
    """A small feature set in which the samples differ, or come closest to differing.

    Attributes
    ----------
    features : tuple of int
        Column positions, increasing.
    names : tuple of str
    statistic : "localised" or "broad"
        One box with an excess, or a difference of the set as a whole.
    side : "current" or "reference"
        The sample with the excess in `box`.
    value : float
        Evidence beyond what the best set of this size and statistic reaches by chance, in units of the spread
        of that chance: the scale on which all sets and labellings are compared.
    evidence : float
        Half the deviance of the counts in the box, or minus the log p-value of a broad difference.
    unit : float
        Evidence behind one unit of `value`.
    p_value : float
        Family-wise: how often the whole scan of permuted labels reaches `value` anywhere.
    box : tuple of (float, float)
        Smallest and largest value along each feature of the rows in the box: the best box of a localised set,
        the strongest cell of a broad one. In the user's units once the result is given out, standardised before; a
        missing value is -inf, a level is its position by pooled frequency.
    rows_reference, rows_current : intp arrays
        Positions, within each sample, of the rows in the box. If only some rows of the samples are at hand, of these,
        and among these.
    elsewhere_reference, elsewhere_current : int
        Rows in the box that are not at hand.
    chance : float
        Evidence that the best set of this size and statistic reaches by chance; NaN if that is not known.
    """

    features: tuple[int, ...]
    names: tuple[str, ...]
    statistic: Statistic
    side: Side
    value: float
    evidence: float
    unit: float
    p_value: float
    box: tuple[tuple[float, float], ...]
    rows_reference: NDArray[np.intp]
    rows_current: NDArray[np.intp]
    elsewhere_reference: int = 0
    elsewhere_current: int = 0
    chance: float = nan

    @property
    def count_reference(self) -> int:
        """All reference rows in the box."""
        return int(self.rows_reference.size) + self.elsewhere_reference

    @property
    def count_current(self) -> int:
        """All current rows in the box."""
        return int(self.rows_current.size) + self.elsewhere_current

    def in_pool(self, n_reference: int) -> NDArray[np.intp]:
        """Positions of the rows in the box in a pool that has so many reference rows, which come first."""
        return np.concatenate([self.rows_reference, self.rows_current + n_reference])

    def with_rows(self, rows: NDArray[np.intp], n_reference: int) -> FeatureSet:
        """The same with other rows, given by increasing positions in such a pool."""
        at = int(np.searchsorted(rows, n_reference))
        return replace(self, rows_reference=rows[:at], rows_current=rows[at:] - n_reference)

    def swapped(self) -> FeatureSet:
        """The same with the two samples exchanged."""
        return replace(
            self,
            side=other_side(self.side),
            rows_reference=self.rows_current,
            rows_current=self.rows_reference,
            elsewhere_reference=self.elsewhere_current,
            elsewhere_current=self.elsewhere_reference,
        )

    def at_hand(self, gathered: Gathered) -> FeatureSet:
        """The same with its rows as positions among the gathered ones; the others are counted."""
        reference, current = (
            np.flatnonzero(np.isin(there, rows, assume_unique=True))
            for there, rows in ((gathered.reference, self.rows_reference), (gathered.current, self.rows_current))
        )
        return replace(
            self,
            rows_reference=reference,
            rows_current=current,
            elsewhere_reference=self.count_reference - reference.size,
            elsewhere_current=self.count_current - current.size,
        )


@dataclass(frozen=True)
class ScanResult:
    """What the scan found.

    Attributes
    ----------
    sets : tuple of FeatureSet
        The strongest sets, significant or not: by p-value, then by evidence beyond chance.
    p_value : float
        Of the hypothesis that the samples do not differ: exact, by random labellings of the whole scan.
    localised_null, broad_null : (n_permutations,) arrays
        Largest `FeatureSet.value` of each kind under each random labelling.
    n_permutations : int
    pairs : (d, d) array
        Largest localised or broad value of each pair of features, of each feature on the diagonal.
    columns : (d,) array
        Largest value of each feature by itself.
    columns_null : (n_permutations,) array
        Largest value of any feature by itself under each random labelling.
    paired : int array or None
        The features of `pairs`, where there are too many to count all pairs (`ScanParams.max_pairs`); None if all are.
    """

    sets: tuple[FeatureSet, ...]
    p_value: float
    localised_null: NDArray[np.float64]
    broad_null: NDArray[np.float64]
    n_permutations: int
    pairs: NDArray[np.float64]
    columns: NDArray[np.float64]
    columns_null: NDArray[np.float64]
    paired: NDArray[np.int64] | None = None

    @property
    def null(self) -> NDArray[np.float64]:
        """(n_permutations,) largest value anywhere in the scan, under each labelling."""
        return np.maximum(self.localised_null, self.broad_null)

    def swapped(self) -> ScanResult:
        """The same with the two samples exchanged."""
        return replace(self, sets=tuple(found.swapped() for found in self.sets))

    def at_hand(self, gathered: Gathered | None) -> ScanResult:
        """The same with the rows of the sets as positions among the gathered ones, as far as they are."""
        if gathered is None:
            return self
        return replace(self, sets=tuple(found.at_hand(gathered) for found in self.sets))

    def in_units_of(self, encoded: Encoded) -> ScanResult:
        """The same with the boxes in the user's units."""
        sets = [
            replace(
                found,
                box=tuple(
                    (encoded.in_units(feature, low), encoded.in_units(feature, high))
                    for feature, (low, high) in zip(found.features, found.box, strict=True)
                ),
            )
            for found in self.sets
        ]
        return replace(self, sets=tuple(sets))
