"""Random labels of the pooled rows: many labellings packed into the bits of words, or a byte per row."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit

PACK = 64  # labellings per word
STRETCH = 1 << 16  # rows drawn one after the other; stretches are independent given how many rows each draws
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # SplitMix64: step and two multipliers
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True, parallel=True, nogil=True)
def draw_packed(
    start: int, stop: int, n: int, seeds: NDArray[np.uint64], drawn: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Packed labels of rows `start` to `stop` (exclusive) of `n`: (packs, stop - start).

    Bit l of pack w is that of labelling 64 w + l. Labelling l draws ``drawn[l, s]`` of the rows of stretch s, all
    choices equally likely: row i is drawn with probability (rows still wanted) / (rows left in the stretch). The random
    number of a row depends on the seed of the labelling and on the row's position alone (SplitMix64 counts), so any
    part of the rows can be drawn by itself.

    seeds : (64 * packs,) uint64
    drawn : (64 * packs, stretches) int64
    """
    n_packs = seeds.shape[0] // PACK
    first, last = start // STRETCH, (stop + STRETCH - 1) // STRETCH
    out = np.empty((n_packs, stop - start), np.uint64)
    for task in prange(n_packs * (last - first)):
        word, stretch = task // (last - first), first + task % (last - first)
        low, high = stretch * STRETCH, min((stretch + 1) * STRETCH, n)
        state, wanted = np.empty(PACK, np.uint64), np.empty(PACK, np.uint64)
        for labelling in range(PACK):
            state[labelling] = seeds[word * PACK + labelling] + np.uint64(low) * _GOLDEN
            wanted[labelling] = np.uint64(drawn[word * PACK + labelling, stretch])
        for row in range(low, min(high, stop)):
            left = np.uint64(high - row)
            bits = np.uint64(0)
            for labelling in range(PACK):
                state[labelling] += _GOLDEN
                hit = _hit(state[labelling], left, wanted[labelling])
                wanted[labelling] -= hit
                bits |= hit << np.uint64(labelling)
            if row >= start:
                out[word, row - start] = bits
    return out


@njit(cache=True, parallel=True)
def draw_labels(n: int, counted: int, seeds: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """`counted` of `n` rows drawn without replacement, all choices equally likely: (len(seeds), n), one if drawn.

    Row i is drawn with probability (rows still wanted) / (rows left).
    """
    out = np.empty((seeds.shape[0], n), np.uint8)
    for labelling in prange(seeds.shape[0]):
        state = seeds[labelling]
        wanted = np.uint64(counted)
        for i in range(n):
            state += _GOLDEN
            hit = _hit(state, np.uint64(n - i), wanted)
            out[labelling, i] = hit
            wanted -= hit
    return out


@njit(cache=True, inline="always")
def _hit(state: np.uint64, left: np.uint64, wanted: np.uint64) -> np.uint64:
    """One with probability `wanted` / `left`: the upper half of SplitMix64's number decides."""
    x = (state ^ (state >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    x = (x ^ (x >> np.uint64(31))) >> np.uint64(32)
    return np.uint64((x * left) >> np.uint64(32) < wanted)
