"""Sums of products of normal scores over the counted rows of every labelling: what broad contrasts are made of.

The rows are summed in blocks that begin at fixed positions of the pool, and the sums of the blocks are added as whole
numbers: however the rows are cut into parts at such positions, the result is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from shiftscope.encoding.bins import BinTables
from shiftscope.labellings.labellings import Labellings, unpack_labels

ROWS_PER_BLOCK = 1024  # rows and terms of one matrix product: few enough for the cache
_TERMS_PER_BLOCK = 1024
_BLOCKS_PER_TASK = 16  # matrix products that share the scores and labels of their rows
_UNIT = 2.0**20  # sums are kept in units of 2**-20

Result = TypeVar("Result")
Terms = NDArray[np.int64]  # (terms, 3): features multiplied, d standing for the constant 1


@dataclass(frozen=True)
class TermSums:
    """Sums of terms over some rows, in units of 2**-20; those of different rows add up.

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
        centred /= _UNIT
        return centred


def term_sums(
    codes: NDArray[np.uint8], tables: BinTables, packed: NDArray[np.uint64], n_labellings: int, terms: Terms
) -> TermSums:
    """Sums over rows with the given codes (d, n) and labels (packs, n); the rows begin at a block's first position."""
    n = codes.shape[1]
    counted = np.zeros((len(terms), n_labellings), np.int64)
    total = np.zeros(len(terms), np.int64)

    def add(task: slice) -> None:
        last = min(task.stop, len(terms))
        for at in range(0, n, ROWS_PER_BLOCK):
            rows = slice(at, min(at + ROWS_PER_BLOCK, n))
            scores = tables.normal_scores(codes[:, rows])
            labels = unpack_labels(packed[:, rows], n_labellings).astype(np.float32)
            for first in range(task.start, last, _TERMS_PER_BLOCK):
                block = slice(first, min(first + _TERMS_PER_BLOCK, last))
                values = products(scores, terms[block])
                counted[block] += _whole(values @ labels)
                total[block] += _whole(values.sum(axis=1, dtype=np.float64))

    in_blocks(add, len(terms), _BLOCKS_PER_TASK * _TERMS_PER_BLOCK)
    return TermSums(counted, total)


def products(scores: NDArray[np.float32], terms: Terms) -> NDArray[np.float32]:
    """Value of each term in each row: scores (d + 1, rows), terms (..., 3) -> (..., rows)."""
    values, constant = scores[terms[..., 0]], len(scores) - 1
    for factor in (terms[..., 1], terms[..., 2]):
        if (factor != constant).any():
            values *= scores[factor]
    return np.asarray(values)


def in_blocks(work: Callable[[slice], Result], n: int, size: int) -> list[Result]:
    """Results of all blocks, in order, on all cores; BLAS keeps to the thread that calls it."""
    blocks = [slice(start, start + size) for start in range(0, n, size)]
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(get_num_threads()) as pool:
        return list(pool.map(work, blocks))


def _whole(sums: NDArray[np.floating]) -> NDArray[np.int64]:
    return np.asarray(np.rint(sums * sums.dtype.type(_UNIT)), dtype=np.int64)
