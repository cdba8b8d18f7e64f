"""Candidates of a search as (squared distance, position) pairs, ordered lexicographically.

Positions are distinct, so the order is total: nothing here depends on the order in which candidates arrive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

INSERTION_SIZE = 16  # shorter runs are sorted by insertion


@njit(nogil=True, cache=True)
def select_pairs(keys: NDArray[np.float64], ids: NDArray[np.int32], size: int, kth: int) -> None:
    """Reorder the first `size` pairs so that the `kth` smallest (from 0) is in place, smaller ones before it."""
    low, high = 0, size - 1
    while high - low > INSERTION_SIZE:
        left, right = _partition(keys, ids, low, high)
        if kth <= right:
            high = right
        elif kth >= left:
            low = left
        else:
            return
    _insertion(keys, ids, low, high)


@njit(nogil=True, cache=True)
def sort_pairs(keys: NDArray[np.float64], ids: NDArray[np.int32], size: int) -> None:
    """Sort the first `size` pairs in place."""
    stack = np.empty((64, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, size - 1
    depth = 1
    while depth > 0:
        depth -= 1
        low, high = stack[depth, 0], stack[depth, 1]
        while high - low > INSERTION_SIZE:
            left, right = _partition(keys, ids, low, high)
            if right - low > high - left:  # postpone the longer part: the stack stays logarithmic
                stack[depth, 0], stack[depth, 1] = low, right
                low = left
            else:
                stack[depth, 0], stack[depth, 1] = left, high
                high = right
            depth += 1
        _insertion(keys, ids, low, high)


@njit(nogil=True, cache=True)
def before(key_a: float, id_a: int, key_b: float, id_b: int) -> bool:
    """Whether pair a comes before pair b."""
    return key_a < key_b or (key_a == key_b and id_a < id_b)


@njit(nogil=True, cache=True)
def _partition(keys: Any, ids: Any, low: int, high: int) -> tuple[int, int]:
    """Split `low..high` at the median of three, now between `low..right` and `left..high`."""
    middle = (low + high) // 2
    if before(keys[middle], ids[middle], keys[low], ids[low]):
        _swap(keys, ids, middle, low)
    if before(keys[high], ids[high], keys[low], ids[low]):
        _swap(keys, ids, high, low)
    if before(keys[high], ids[high], keys[middle], ids[middle]):
        _swap(keys, ids, high, middle)
    key, name = keys[middle], ids[middle]
    _swap(keys, ids, middle, high)
    split = low
    for i in range(low, high):  # no branch: which side a pair goes to is a coin toss
        other, other_name = keys[i], ids[i]
        keys[i], ids[i] = keys[split], ids[split]
        keys[split], ids[split] = other, other_name
        split += (other < key) | ((other == key) & (other_name < name))
    _swap(keys, ids, split, high)
    return split + 1, split - 1


@njit(nogil=True, cache=True)
def _insertion(keys: Any, ids: Any, low: int, high: int) -> None:
    for i in range(low + 1, high + 1):
        key, name = keys[i], ids[i]
        j = i - 1
        while j >= low and before(key, name, keys[j], ids[j]):
            keys[j + 1], ids[j + 1] = keys[j], ids[j]
            j -= 1
        keys[j + 1], ids[j + 1] = key, name


@njit(nogil=True, cache=True)
def _swap(keys: Any, ids: Any, a: int, b: int) -> None:
    keys[a], keys[b] = keys[b], keys[a]
    ids[a], ids[b] = ids[b], ids[a]
