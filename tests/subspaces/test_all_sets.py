from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from shiftscope.subspaces.all_sets import AllSets, blocks


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_sets_are_those_of_itertools_in_the_same_order(size: int, count: int) -> None:
    features = 3 * np.arange(count) + 1
    expected = np.array(list(combinations(features.tolist(), size)), np.int64).reshape(-1, size)
    sets = AllSets(features, size)
    assert sets.shape == expected.shape
    np.testing.assert_array_equal(sets[:], expected)
    np.testing.assert_array_equal(np.concatenate([sets[:0], *(sets[part] for part in blocks(len(sets), 5))]), expected)
    for at in range(len(sets)):
        np.testing.assert_array_equal(sets[at], expected[at])
    np.testing.assert_array_equal(sets[np.arange(len(sets))[::-1]], expected[::-1])
