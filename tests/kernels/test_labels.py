from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from shiftscope.kernels.labels import PACK, STRETCH, draw_labels, draw_packed
from tests.kernels.twins import slow_labels


@pytest.mark.parametrize(("n", "counted"), [(1, 0), (1, 1), (37, 12), (200, 199)])
def test_labels_are_those_of_pythons_integers(n: int, counted: int) -> None:
    seeds = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)
    expected = [slow_labels(0, n, n, int(seed), [counted]) for seed in seeds]
    np.testing.assert_array_equal(draw_labels(n, counted, seeds), expected)


@pytest.mark.parametrize(("start", "stop"), [(0, 9), (STRETCH - 5, STRETCH + 5), (STRETCH + 90, STRETCH + 100)])
def test_packed_labels_are_those_of_pythons_integers(start: int, stop: int) -> None:
    n, drawn = STRETCH + 100, np.array([[30_000, 40], [7, 100], [STRETCH, 0]] * PACK)[:PACK]
    seeds = np.random.default_rng(0).integers(0, 2**64, PACK, dtype=np.uint64)
    (packed,) = draw_packed(start, stop, n, seeds, drawn)
    for labelling in (0, 1, 2, PACK - 1):
        expected = slow_labels(start, stop, n, int(seeds[labelling]), drawn[labelling].tolist())
        assert [int(word) >> labelling & 1 for word in packed] == expected


def test_drawn_labels_have_the_wanted_count_and_repeat_with_their_seed() -> None:
    seeds = np.arange(40, dtype=np.uint64)
    drawn = draw_labels(101, 17, seeds)
    assert (drawn.sum(axis=1) == 17).all()
    assert len(np.unique(drawn, axis=0)) == 40
    np.testing.assert_array_equal(draw_labels(101, 17, seeds[7:8])[0], drawn[7])


def test_every_choice_of_rows_is_equally_likely() -> None:
    labellings = 12_000
    seeds = np.random.default_rng(0).integers(0, 2**64, labellings, dtype=np.uint64)
    drawn = draw_labels(5, 2, seeds)
    choices, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(choices) == 10
    low, high = binom.interval(1 - 1e-4, labellings, 0.1)
    assert ((counts >= low) & (counts <= high)).all()
