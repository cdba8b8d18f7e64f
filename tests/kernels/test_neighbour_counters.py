from __future__ import annotations

import numpy as np
from numba import njit

from shiftscope.kernels.neighbour_counters import ENOUGH, FEW, MOST, PLANES, WORDS, bound_masks, count_and_compare


@njit
def counted(labels, rows, masks, steps, state):
    for step in range(rows.size):
        count_and_compare(labels, rows[step], masks, steps[step], state)


def test_count_and_compare():
    rng = np.random.default_rng(4)
    labellings = rng.random((30, 64 * WORDS)) < 0.6
    labels = np.packbits(labellings, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    rows = rng.integers(0, 30, 200)
    few, enough = np.array([0, 3, 40, 118]), np.array([MOST + 1, 12, 90, 131])
    steps = rng.integers(0, 4, 200)
    state = np.zeros((PLANES + 2, WORDS), np.uint64)
    counted(labels, rows, bound_masks(few, enough), steps, state)
    counts = np.cumsum(labellings[rows], axis=0)
    expected = np.any(counts < few[steps][:, None], axis=0), np.any(counts >= enough[steps][:, None], axis=0)
    for mark, bits in zip(expected, state[[FEW, ENOUGH]], strict=True):
        np.testing.assert_array_equal(np.unpackbits(bits.view(np.uint8), bitorder="little").astype(bool), mark)
        assert mark.any()
    planes = np.unpackbits(state[:PLANES].view(np.uint8), axis=1, bitorder="little").astype(np.int64)
    np.testing.assert_array_equal(np.left_shift(planes, np.arange(PLANES)[:, None]).sum(axis=0), counts[-1])
