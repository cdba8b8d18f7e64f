"""Numbers that may stand for something else: one far value, often repeated, with nothing near it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.messages import percent
from shiftscope.tables.column_kinds import Column, number_text

LEAST_TIMES = 5  # as often a value must occur
LEAST_DISTINCT = 3  # other values
FEW_DISTINCT = 10  # below, they are codes, and the distance must be
CODE_RANGES = 2.0  # so many times their range
GAP_TO_SPREAD = 0.5  # distance to the nearest other value, in interquartile ranges of the others
GAP_TO_GAPS = 3.0  # and in the widest gaps of the twentieth of the others next to it
TAIL = 0.05
COLUMNS_TOLD = 3
SORTED = 1 << 18  # values that are sorted; of more, every so many-th


@dataclass(frozen=True)
class Sentinel:
    """A far value of exactly one number, and its share of each sample."""

    value: float
    shares: tuple[float, ...]


def find_sentinels(columns: Sequence[Column]) -> tuple[Sentinel, ...]:
    """The far values of a column of numbers, at its lower and its upper end."""
    if not columns or any(column.kind != "number" and not column.empty for column in columns):
        return ()
    values = np.concatenate([column.values for column in columns])
    values = values[np.isfinite(values)]
    if len(values) < LEAST_DISTINCT + LEAST_TIMES:
        return ()
    return tuple(
        Sentinel(float(end), tuple(float(np.mean(column.values == end)) for column in columns))
        for end in (values.min(), values.max())
        if _stands_apart(values, float(end))
    )


def sentinel_doubts(found: Mapping[str, Sequence[Sentinel]]) -> tuple[str, ...]:
    """One line for each far value, with the columns that have it and its share in each sample."""
    columns: dict[float, list[tuple[str, Sentinel]]] = {}
    for name, sentinels in found.items():
        for sentinel in sentinels:
            columns.setdefault(sentinel.value, []).append((name, sentinel))
    doubts = []
    for value, having in columns.items():
        text = number_text(value)
        shares = [f"{name} {' -> '.join(map(percent, sentinel.shares))}" for name, sentinel in having[:COLUMNS_TOLD]]
        more = f" and {len(having) - COLUMNS_TOLD} more columns" if len(having) > COLUMNS_TOLD else ""
        option = text if len(having) > 1 else f"{having[0][0]}={text}"
        doubts.append(
            f"{text} lies far from all other values (share of the rows: {', '.join(shares)}{more}); "
            f"if it means missing, say --missing {shlex.quote(option)}"
        )
    return tuple(doubts)


def _stands_apart(values: NDArray[np.float64], end: float) -> bool:
    values, end = 0.25 * values, 0.25 * end  # so that no distance exceeds the largest double
    times = int((values == end).sum())
    if times < LEAST_TIMES or len(values) - times < LEAST_DISTINCT:
        return False
    others = values[values != end]
    nearest = others[np.argmin(np.abs(others - end))]
    step = max(1, len(others) // SORTED)
    ordered = np.unique(np.append(others[::step], nearest))
    if len(ordered) < FEW_DISTINCT:
        far = abs(float(nearest) - end) >= CODE_RANGES * (ordered[-1] - ordered[0])
        return len(ordered) >= LEAST_DISTINCT and bool(far)
    if times <= int((others == nearest).sum()):
        return False
    low, high = np.quantile(others[::step], (0.25, 0.75))
    ordered = ordered if nearest > end else ordered[::-1]
    tail = ordered[: max(5, int(TAIL * len(ordered)))]
    gap = abs(float(nearest) - end)
    return bool(gap >= GAP_TO_SPREAD * (high - low) and gap >= GAP_TO_GAPS * np.abs(np.diff(tail)).max())
