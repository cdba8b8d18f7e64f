from __future__ import annotations

import numpy as np
import pytest

from shiftscope.kernels import pair_squares as kernel
from shiftscope.kernels.pair_squares import pair_squares


def slow_pair_squares(rows: np.ndarray, points: np.ndarray, index: np.ndarray) -> list[list[float]]:
    """One pair at a time, features in order."""
    found = []
    for row, listed in zip(rows.tolist(), index.tolist(), strict=True):
        found.append([])
        for other in listed:
            total = 0.0
            for here, there in zip(row, points[other].tolist(), strict=True):
                total += (here - there) * (here - there)
            found[-1].append(total)
    return found


@pytest.mark.parametrize("block", [1, 17, 1 << 20])
@pytest.mark.parametrize(("m", "k", "d"), [(12, 5, 3), (7, 1, 1), (3, 30, 40)])
def test_squares_are_summed_feature_by_feature(
    m: int, k: int, d: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit: a search that compares them with its own must not see a difference."""
    monkeypatch.setattr(kernel, "PAIR_BLOCK", block)
    rng = np.random.default_rng(d)
    rows, points = (rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d) for n in (m, 50))
    index = rng.integers(0, 50, (m, k))
    np.testing.assert_array_equal(pair_squares(rows, points, index), slow_pair_squares(rows, points, index))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
def test_no_pairs_have_no_squares(shape: tuple[int, int]) -> None:
    assert pair_squares(np.zeros((shape[0], 2)), np.zeros((5, 2)), np.zeros(shape, np.int32)).shape == shape
