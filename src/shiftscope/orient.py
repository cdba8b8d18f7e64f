"""A canonical order of the two samples, so that swapping them swaps every result exactly.

Random labellings and ties are decided by positions in the pool. If the caller's order decided which sample comes first,
compare(a, b) and compare(b, a) would draw different labellings. Instead the samples are put in an order that depends
on their content only, and the result is turned back.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from shiftscope.encode import Encoded


def canonical(encoded: Encoded) -> tuple[Encoded, bool]:
    """The pool with its samples in canonical order (by size, then by a digest), and whether that swapped them."""
    reference, current = encoded.reference, encoded.current
    swap = (len(current), _digest(current)) < (len(reference), _digest(reference))
    return (swapped(encoded), True) if swap else (encoded, False)


def swapped(encoded: Encoded) -> Encoded:
    """The same pool with the two samples exchanged."""
    order = np.roll(np.arange(len(encoded.points)), encoded.n_current)
    points = encoded.points[order]
    ranked = points if encoded.ranked is encoded.points else encoded.ranked[order]
    return replace(encoded, points=points, ranked=ranked, n_reference=encoded.n_current)


def _digest(rows: np.ndarray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(rows).data, digest_size=16).digest()
