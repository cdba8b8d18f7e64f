"""Slow, obvious twins that the tests of several kernels share."""

from __future__ import annotations

from math import log

import numpy as np

from shiftscope.kernels.labels import STRETCH


def slow_xlogx(n: int) -> np.ndarray:
    """`i log i` for i = 0..n."""
    return np.array([i * log(i) if i else 0.0 for i in range(n + 1)])


def slow_half_deviance(k: int, n: int, counted: int, total: int) -> float:
    """Sum of observed log(observed / expected) over the two-by-two table."""
    rows, columns = (n, total - n), (counted, total - counted)
    observed = ((k, n - k), (counted - k, total - n - counted + k))
    return sum(
        observed[i][j] * log(observed[i][j] * total / (rows[i] * columns[j]))
        for i in (0, 1)
        for j in (0, 1)
        if observed[i][j]
    )


def slow_labels(start: int, stop: int, n: int, seed: int, drawn: list[int]) -> list[int]:
    """One labelling, with Python's integers: `drawn` rows of each stretch (SplitMix64)."""
    mask, labels = 2**64 - 1, []
    for stretch, wanted in enumerate(drawn):
        low, high = stretch * STRETCH, min(n, (stretch + 1) * STRETCH)
        for row in range(low, high):
            x = (seed + (row + 1) * 0x9E3779B97F4A7C15) & mask
            x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & mask
            x = ((x ^ x >> 27) * 0x94D049BB133111EB) & mask
            hit = int(((x ^ x >> 31) >> 32) * (high - row) >> 32 < wanted)
            wanted -= hit
            labels.append(hit)
    return labels[start:stop]


def slow_neighbours(columns, queries, fold, sizes, k):
    """Nearest rows outside the own fold in the first features, equal distances by position."""
    found = np.empty((len(queries), len(sizes), k), int)
    for i, row in enumerate(queries):
        for s, size in enumerate(sizes):
            distance = ((columns[:size] - columns[:size, [row]]) ** 2).sum(axis=0)
            eligible = [j for j in range(columns.shape[1]) if fold[j] != fold[row]]
            found[i, s] = sorted(eligible, key=lambda j: (distance[j], j))[:k]
    return found
