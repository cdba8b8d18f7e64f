"""A canonical order of the two samples, so that swapping them swaps every result exactly.

Random labellings and ties are decided by positions in the pool. If the caller's order decided which sample comes first,
compare(a, b) and compare(b, a) would draw different labellings. Instead the samples are put in an order that depends
on their content only, and the result is turned back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import BLOCK_ROWS

Side = Literal["reference", "current"]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB))
_LAST = np.uint64(31)


def other_side(side: Side) -> Side:
    """The other sample."""
    return "reference" if side == "current" else "current"


def canonical(encoded: Encoded) -> tuple[Encoded, bool]:
    """The pool with its samples in canonical order (by size, then by a digest), and whether that swapped them."""
    n = encoded.n_reference
    reference, current = encoded.ranked[:n], encoded.ranked[n:]
    swap = comes_first(len(current), len(reference), lambda: (row_digest(current), row_digest(reference)))
    return (swapped(encoded), True) if swap else (encoded, False)


def comes_first(one: int, other: int, digests: Callable[[], tuple[int, int]]) -> bool:
    """Whether a sample of `one` rows stands before one of `other` rows; equal sizes are told apart by digests."""
    if one != other:
        return one < other
    first, second = digests()
    return first < second


def swapped(encoded: Encoded) -> Encoded:
    """The same pool with the two samples exchanged."""
    order = np.roll(np.arange(len(encoded.points)), encoded.n_current)
    points = encoded.points[order]
    ranked = points if encoded.ranked is encoded.points else encoded.ranked[order]
    return replace(encoded, points=points, ranked=ranked, n_reference=encoded.n_current)


def row_digest(rows: NDArray[np.float64], first: int = 0) -> int:
    """A fingerprint of (m, d) rows from position `first` on; those of parts add up, modulo 2**64."""
    total = 0
    columns = np.arange(1, rows.shape[1] + 1, dtype=np.uint64) * _STEP
    for start in range(0, len(rows), BLOCK_ROWS):
        bits = np.ascontiguousarray(rows[start : start + BLOCK_ROWS]).view(np.uint64)
        place = np.arange(first + start, first + start + len(bits), dtype=np.uint64)
        total += int(_mixed(_mixed(bits ^ columns).sum(axis=1) + _mixed(place + _STEP)).sum())
    return total % 2**64


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words of which every bit depends on all bits of the word it comes from."""
    for shift, factor in _MIX:
        words = (words ^ (words >> shift)) * factor
    return words ^ (words >> _LAST)
