"""What a column holds in the cells of the scan, in words and numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shiftscope.findings import Encoded, Feature
from shiftscope.messages import readable

LEVELS_NAMED = 3  # levels of a cell that are named; more are counted


def value_range(encoded: Encoded, feature: int, rows: NDArray[np.intp]) -> tuple[float, float]:
    """Smallest and largest value of some rows (pool positions); infinite where there is none to order."""
    values = encoded.values(feature)[rows]
    values = values[~np.isnan(values)]
    if encoded.features[feature].kind == "category" or not values.size:
        return float("-inf"), float("inf")
    return float(values.min()), float(values.max())


def box_range(encoded: Encoded, feature: int, low: float, high: float) -> tuple[float, float]:
    """The ends of a box in the user's units, where its rows are not at hand; infinite where there is none to order."""
    if encoded.features[feature].kind == "category" or np.isneginf(high):
        return float("-inf"), float("inf")
    return low, high


def place_in_words(encoded: Encoded, feature: int, rows: NDArray[np.intp]) -> str:
    """Where some rows (pool positions) lie in a feature, to follow its name: "20 to 35", "= B", "missing"."""
    return _in_words(encoded.values(feature)[rows], encoded.features[feature])


def box_in_words(encoded: Encoded, feature: int, low: float, high: float) -> str:
    """The same of a box in the user's units (-inf: missing), where its rows are not at hand."""
    column = encoded.features[feature]
    missing = [np.nan] if np.isneginf(low) else []
    if column.kind == "category":
        first = 0 if missing else int(low)
        return _in_words(np.array([*missing, *range(first, -1 if np.isneginf(high) else int(high) + 1)]), column)
    if missing and not np.isneginf(high):
        return f"missing or up to {column.text(high)}"
    return _in_words(np.array(missing or [low, high]), column)


def _in_words(values: NDArray[np.float64], column: Feature) -> str:
    there = np.unique(values[~np.isnan(values)])
    parts = ["missing"] if np.isnan(values).any() else []
    if column.kind == "category":
        names = [readable(column.text(level)) for level in there[:LEVELS_NAMED].tolist()]
        more = [f"{there.size - LEVELS_NAMED:,} more"] if there.size > LEVELS_NAMED else []
        parts += [f"= {name}" for name in names] + more
    elif there.size:
        low, high = column.text(float(there[0])), column.text(float(there[-1]))
        parts.append(f"= {low}" if low == high else f"{low} to {high}")
    return " or ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
