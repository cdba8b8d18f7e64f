from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from shiftscope.kernels.cell_counters import BITS, add_words


def slow_add_words(packed: np.ndarray, cells: np.ndarray, lines: np.ndarray) -> None:
    """One bit at a time."""
    for pack, cell in zip(packed.tolist(), cells.tolist(), strict=True):
        for labelling in range(BITS):
            lines[cell, labelling] += pack >> labelling & 1


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_bits_are_added_to_the_counters_of_their_lane(kind: type) -> None:
    rng = np.random.default_rng(5)
    packed, cells = rng.integers(0, 2**64, 300, dtype=np.uint64), rng.integers(0, 7, 300).astype(np.uint16)
    fast = rng.integers(0, 100, (7, BITS)).astype(kind)
    slow = fast.copy()
    add_words(packed, cells, fast)
    slow_add_words(packed, cells, slow)
    np.testing.assert_array_equal(fast, slow)


def test_lines_may_lie_anywhere_in_a_larger_table() -> None:
    table = np.zeros((5, 3, BITS), np.uint16)
    add_words(np.array([1, 1 << 63, 0], np.uint64), np.array([2, 2, 1], np.uint16), table[3])
    assert table.sum() == 2
    assert table[3, 2, 0] == table[3, 2, BITS - 1] == 1


def test_lines_that_do_not_lie_in_one_piece_are_refused() -> None:
    with pytest.raises(TypingError, match="C-contiguous"):
        add_words(np.zeros(1, np.uint64), np.zeros(1, np.uint16), np.zeros((4, BITS), np.uint8, order="F"))
