"""Sums of products of normal scores over the counted rows of every labelling: what broad contrasts are made of.

Terms are rounded to whole units and summed as whole numbers: however the rows are cut into parts, and on however many
threads, the result is the same to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.bins import BinTables
from shiftscope.kernels.contrast_sums import TERM_UNIT, add_term_sums
from shiftscope.kernels.labels import PACK
from shiftscope.labellings.labellings import Labellings

_ROWS_AT_ONCE = 1 << 16  # summed between two chances to interrupt

Terms = NDArray[np.int64]  # (terms, 3): features multiplied, d standing for the constant 1


@dataclass(frozen=True)
class TermSums:
    """Sums of terms over some rows, in units of 2**-16; those of different rows add up.

    Attributes
    ----------
    counted : (terms, labellings) int64
        Over the counted rows of each labelling.
    total : (terms,) int64
        Over all rows.
    """

    counted: NDArray[np.int64]
    total: NDArray[np.int64]

    def __add__(self, other: TermSums) -> TermSums:
        return TermSums(self.counted + other.counted, self.total + other.total)

    def centred(self, labellings: Labellings) -> NDArray[np.float32]:
        """(terms, labellings) sums of the terms minus their pooled means, over the counted rows of all rows."""
        expected = self.total[:, None] * (labellings.counted / labellings.n_rows)
        centred = np.empty(self.counted.shape, np.float32)
        np.subtract(self.counted, expected, out=centred, casting="same_kind")  # in double precision, piece by piece
        centred /= TERM_UNIT
        return centred


def term_sums(
    codes: NDArray[np.uint8], tables: BinTables, packed: NDArray[np.uint64], n_labellings: int, terms: Terms
) -> TermSums:
    """Sums over rows with the given codes (d, n) and labels (packs, n)."""
    counted = np.zeros((len(terms), PACK * len(packed)), np.int64)
    total = np.zeros(len(terms), np.int64)
    n = codes.shape[1]
    for start in range(0, n, _ROWS_AT_ONCE):
        add_term_sums(
            start, min(start + _ROWS_AT_ONCE, n), codes, tables.scores, packed, terms, counted, total
        )  # fmt: skip
    return TermSums(counted[:, :n_labellings], total)
