"""Permutation p-values at small levels, at the price of a few labellings for all but the strongest data.

A level spent on one batch of many may need tens of thousands of labellings. Stage j draws n_j of them, more than the
stage before, and gives the exact p-value q_j. The search stops at the first stage with q_j > c_j, or at the last one,
and the p-value is that q_j. With c_1 > c_2 > ... it is valid at every level u. Let c_j <= u < c_(j-1): a stage before j
stops only with a p-value above u, so a p-value of at most u means that stage j was reached, and that q_j <= u, either
because it stopped there or because it went on (q_j <= c_j <= u). And P(q_j <= u) <= u. Nothing is assumed on how the
stages depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from shiftscope.labellings.p_values import ROUNDING

FIRST = 127  # labellings of the first stage
GROWTH = 8  # labellings of a stage divided by those of the stage before
NEAR = 4  # the last stage follows at once if it is at most this many times as large as the one due
LEADERS = 4  # a stage is followed by another if at most so many labellings, the observed one included, come as far


@dataclass(frozen=True)
class StagedPValue:
    """A p-value and the largest number of labellings that it took."""

    p_value: float
    n_permutations: int


def staged_p_value(test: Callable[[int], float], level: float) -> StagedPValue:
    """The staged p-value of `test(n_permutations)`, with as many labellings at last as `level` asks for."""
    for n_permutations in stages(level):
        p_value = test(n_permutations)
        if p_value > LEADERS / (n_permutations + 1):
            break
    return StagedPValue(p_value, n_permutations)


def stages(level: float) -> list[int]:
    """Permutations of each stage, the last one just enough for a p-value of `level`."""
    last = max(1, math.ceil(1.0 / level * (1.0 - ROUNDING)) - 1)
    if 1.0 / (last + 1) > level:  # by rounding: the smallest p-value must not miss the level
        last += 1
    sizes = []
    due = FIRST
    while last + 1 > NEAR * (due + 1):
        sizes.append(due)
        due = GROWTH * (due + 1) - 1
    return [*sizes, last]
