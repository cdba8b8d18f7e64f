"""p-values from labellings: how often do random ones come as far as the observed one?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-9  # what sums and quotients may be off by: nearer numbers are one number


def critical_value(null: NDArray[np.float64], level: float) -> float:
    """What a value must exceed so that its p-value is at most `level`; infinite if no value can."""
    spare = int(np.floor(level * (1 + len(null)) + ROUNDING)) - 1  # labellings that may reach it
    if spare < 0:
        return float("inf")
    return float(np.sort(null)[-1 - spare]) if spare < len(null) else -float("inf")


def p_values(evidence: NDArray[np.float64], null: NDArray[np.float64]) -> NDArray[np.float64]:
    """(1 + number of labellings that reach each value) / (1 + labellings); `null` without the observed."""
    reached = len(null) - np.searchsorted(np.sort(null), evidence, side="left")
    return np.asarray((1 + reached) / (1 + len(null)))


def smallest_p_value(observed: NDArray[np.float64], permuted: NDArray[np.float64]) -> float:
    """Exact p-value of the smallest of several permutation p-values.

    The data are one of B + 1 equally likely labellings. Each labelling gets its upper rank in every statistic, then
    the smallest of these is ranked itself, so the price of looking at several statistics is paid exactly. Labellings
    that lead in one statistic or another share the smallest rank; among them the largest standardised statistic
    decides. All of this treats the B + 1 labellings alike, which is what makes the p-value exact.

    Parameters
    ----------
    observed : (s,) statistics of the data; larger means more extreme
    permuted : (B, s) the same of the random labellings
    """
    together = np.vstack([observed, permuted])
    smallest = np.min([upper_rank(column) for column in together.T], axis=0)
    spread = together.std(axis=0)
    standardised = (together - together.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    largest = standardised.max(axis=1)
    extreme = (smallest < smallest[0]) | ((smallest == smallest[0]) & (largest >= largest[0]))
    return float(np.mean(extreme))


def upper_rank(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of `values` at least as large as each of them."""
    ordered = np.sort(values)
    return 1.0 - np.searchsorted(ordered, values, side="left") / values.size
