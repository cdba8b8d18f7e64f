"""Families of scanned sets, and the one scale on which all of them are ranked.

Every statistic of the scan is on the scale of minus a log p-value, up to the size of its search. A family (one
statistic, one set size) is put on the common scale by the permutation distribution of its own maximum, so that
the few single features are not drowned by the many triples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Statistic = Literal["localised", "broad"]

_GUMBEL_SPREAD = np.log(np.log(2.0) / np.log(4.0 / 3.0))  # 0.75 quantile minus median of a Gumbel variable


class Lines(Protocol):
    """An array, or what is read like one and makes its lines when asked for them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, at: Any, /) -> Any: ...


@dataclass(frozen=True)
class Family:
    """All scanned sets of one size under one statistic.

    Attributes
    ----------
    statistic : "localised" or "broad"
    sets : (s, size) int64
        Features of each set.
    observed : (s,) float64
        Evidence of each set under the observed labels.
    maxima : (labellings,) float64
        Largest evidence of the family under each labelling, the observed one first.
    boxes : (s, size, 2) int64 or None
        First and last fine code (inclusive) along each feature of the box behind the evidence; None when the
        evidence is that of a whole set.
    """

    statistic: Statistic
    sets: Lines
    observed: NDArray[np.float64]
    maxima: NDArray[np.float64]
    boxes: Lines | None

    @property
    def size(self) -> int:
        """Features per set."""
        return self.sets.shape[1]

    @property
    def chance(self) -> float:
        """What the best set of the family reaches by chance: the median of the labellings' maxima."""
        return float(np.median(self.maxima))

    @property
    def unit(self) -> float:
        """Spread of the labellings' maxima.

        A maximum of many log p-values has a Gumbel distribution of scale 1; the unit is the scale that the
        upper quartile of the maxima implies, and at least 1. Median and quartile run over all labellings alike, the
        observed one included: this keeps the labellings exchangeable, which is what makes the p-values exact.
        """
        spread = float(np.quantile(self.maxima, 0.75)) - self.chance
        return max(1.0, spread / float(_GUMBEL_SPREAD))

    def standardised(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """`evidence` beyond chance, in units of the spread of the labellings' maxima."""
        return np.asarray((evidence - self.chance) / self.unit)


def family_wise(families: list[Family]) -> NDArray[np.float64]:
    """Largest standardised evidence over all families under each labelling: (labellings,)."""
    return np.asarray(np.max([family.standardised(family.maxima) for family in families], axis=0))
