"""Squared distances of listed pairs of rows, summed as the search for neighbours sums them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PAIR_BLOCK = 1 << 20  # coordinate differences held at once


def pair_squares(
    rows: NDArray[np.float64], points: NDArray[np.float64], index: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Squared distances (m, k) of (m, d) `rows` and the points listed for each, as the search sums them."""
    squares = np.zeros(index.shape)
    step = max(1, PAIR_BLOCK // max(1, index.shape[1]))
    for start in range(0, len(index), step):
        some = slice(start, start + step)
        for here, column in zip(rows[some].T, points.T, strict=True):
            squares[some] += (here[:, None] - column[index[some]]) ** 2
    return squares
