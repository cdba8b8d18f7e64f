from __future__ import annotations

from itertools import combinations

import numpy as np

from shiftscope.questions.matched_rows import telling_features
from tests.pairs import encode_pair

N = 600


def planted() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """40 of 50 suspected rows form a compact group in x1 and x3; the other 10 are ordinary."""
    reference, current = np.random.default_rng(0).standard_normal((2, N, 5))
    rows = np.random.default_rng(1).choice(N, 50, replace=False)
    current[np.ix_(rows[:40], [1, 3])] = (1.0, -1.0) + 0.1 * np.random.default_rng(2).standard_normal((40, 2))
    return reference, current, rows


def test_matching_adds_what_is_missing_and_drops_what_is_not_telling():
    reference, current, rows = planted()
    encoded = encode_pair(reference, current)
    labels = np.zeros(2 * N, dtype=bool)
    labels[N + rows] = True
    for start in (*combinations(range(5), 2), (1,)):
        if {1, 3} & set(start):
            assert telling_features(encoded, labels, start, 0.01) == (1, 3)
    assert telling_features(encoded, np.arange(2 * N) % 9 == 0, (0, 2), 0.01) == (0, 2)  # nothing tells: unchanged
