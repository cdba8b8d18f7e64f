"""Neighbours from all distances, and tables that are hard to search."""

from __future__ import annotations

import numpy as np

from shiftscope.engines.local_neighbours import Layout

# small blocks and groups, so that tables of a few hundred rows have many of both
LAYOUTS = (Layout(32, 5), Layout(64, 50), Layout(100, 9))


def brute_force(points, k, queries=None):
    """The slow twin: one row at a time, all distances, sorted by (distance, position)."""
    index, tied = [], []
    for i in range(len(points)) if queries is None else queries:
        squares = squares_from(points, i)
        order = np.lexsort((np.arange(len(points)), squares))
        order = order[order != i]
        equal = squares[order[:-1]] == squares[order[1:]]
        index.append(order[:k])
        tied.append(np.append(equal, False)[:k])
    return np.array(index), np.array(tied)


def squares_from(points, i):
    squares = np.zeros(len(points))
    for f in range(points.shape[1]):
        squares += (points[i, f] - points[:, f]) ** 2
    return squares


def tables():
    rng = np.random.default_rng(1)
    normal = rng.standard_normal((300, 5))
    return {
        "normal": normal,
        "two rows": normal[:2],
        "one feature": normal[:, :1],
        "300 features": rng.standard_normal((150, 300)),
        "duplicates": np.repeat(normal[:40, :3], 10, axis=0)[rng.permutation(400)],
        "integer grid": rng.integers(0, 4, (400, 3)).astype(float),
        "constant": np.zeros((200, 4)),
        "far 1e6": normal[:, :4] + 1e6,
        "far 1e8": normal[:, :4] + 1e8,
        "two far clusters": np.vstack([normal, normal[::-1] + 1e7]),
        "outliers": np.vstack([normal[:, :3], [[1e9, 0, 0], [0, -1e12, 0]]]),
        "tiny": normal[:, :3] * 1e-200,
        "huge": normal[:, :3] * 1e100,
    }
