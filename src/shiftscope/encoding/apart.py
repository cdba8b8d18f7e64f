"""Columns that tell the samples apart by themselves: a date, a site, a sensor that was replaced.

Such a column leaves nothing to ask of it, and hides all the others: every row stands out. It is told and set aside, and
the comparison goes on without it.
"""

from __future__ import annotations

from math import exp, ldexp, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shiftscope.encoding.column_facts import Facts
from shiftscope.encoding.features import Centre
from shiftscope.encoding.units import other_unit, unit_in_words
from shiftscope.messages import readable
from shiftscope.tables.column_kinds import value_text

SURE = 1e-6  # chance beyond which ranges that do not meet are no chance
UNIT_TOLERANCE = (0.25, 0.05, 0.25)  # of the range: how far ends and mean may be off after a conversion
LEVELS_TOLD = 5  # levels of either sample that are named


def chance_apart(pair: tuple[Facts, Facts]) -> float | None:
    """How likely values of one distribution would be apart as these are; None if they meet, or that is too likely."""
    first, second = pair
    if first.empty or second.empty:
        return None
    if first.kind == "category":
        apart = not {*first.levels} & {*second.levels}
    else:
        apart = first.high < second.low or second.high < first.low
    chance = exp(log_split(first.there, second.there))
    return chance if apart and not (first.missing and second.missing) and chance < SURE else None


def log_split(n: int, m: int) -> float:
    """Log-chance that all of n values lie on one side of m others, of one distribution without ties."""
    return float(log(2.0) + gammaln(n + 1) + gammaln(m + 1) - gammaln(n + m + 1))


def apart_in_words(pair: tuple[Facts, Facts]) -> str:
    """What either sample holds, and whether it may be the same in another unit."""
    first, second = (_held(facts) for facts in pair)
    formulas = (
        other_unit(_places(pair[0]), _places(pair[1]), np.array(UNIT_TOLERANCE)) if pair[0].kind == "number" else None
    )
    unit = f"; looks like another unit: {unit_in_words(formulas)}" if formulas is not None else ""
    return f"{first} in the reference and {second} in the current sample{unit}"


def _places(facts: Facts) -> NDArray[np.float64]:
    """Smallest value, mean and largest value."""
    centre = Centre.of(facts.there, facts.total, facts.low, facts.high)
    return np.array([facts.low, ldexp(centre.mean, centre.exponent), facts.high])


def _held(facts: Facts) -> str:
    if facts.kind == "category":
        names = sorted(facts.levels, key=lambda level: (-facts.levels[level], level))
        more = f" and {len(names) - LEVELS_TOLD:,} more" if len(names) > LEVELS_TOLD else ""
        return ", ".join(readable(name) for name in names[:LEVELS_TOLD]) + more
    low, high = value_text(facts.kind, facts.low), value_text(facts.kind, facts.high)
    return low if low == high else f"{low} to {high}"
