from __future__ import annotations

import numpy as np
from scipy.stats import chi2, hypergeom

from shiftscope.kernels import labels as kernel
from shiftscope.kernels.labels import draw_labels
from shiftscope.labellings.labellings import draw_labellings, labellings_within, random_labels, unpack_labels
from tests.kernels.twins import slow_labels
from tests.packing import pack_labels


def seeds(count: int, state: int) -> np.ndarray:
    return np.random.default_rng(state).integers(0, 2**64, count, dtype=np.uint64)


def test_packed_labels_unpack_to_themselves() -> None:
    labels = np.random.default_rng(0).integers(0, 2, (70, 33)).astype(np.uint8)
    packed = pack_labels(labels)
    assert packed.shape == (2, 33)
    np.testing.assert_array_equal(unpack_labels(packed, 70), labels.T)
    np.testing.assert_array_equal(unpack_labels(packed, 128)[:, 70:], np.tile(labels[-1], (58, 1)).T)


def test_one_stretch_is_drawn_like_a_single_sample() -> None:
    labellings = draw_labellings(101, 84, seeds(39, 3))
    labels = unpack_labels(labellings.packed(), 40).T
    np.testing.assert_array_equal(labels[1:], draw_labels(101, 17, labellings.seeds[1:40]))
    np.testing.assert_array_equal(labels[0], np.arange(101) >= 84)


def test_any_part_of_the_rows_has_the_labels_of_the_whole() -> None:
    n = 2 * kernel.STRETCH + 777
    labellings = draw_labellings(n, 50_000, seeds(3, 1))
    packed = labellings.packed()
    assert (unpack_labels(packed, 4).sum(axis=0) == 50_000).all()
    for start, stop in ((0, 5), (kernel.STRETCH - 3, kernel.STRETCH + 4), (n - 9, n), (40_000, 130_000)):
        np.testing.assert_array_equal(labellings.packed(start, stop), packed[:, start:stop])
    expected = slow_labels(
        kernel.STRETCH - 5, kernel.STRETCH + 5, n, int(labellings.seeds[2]), labellings.drawn[2].tolist()
    )
    np.testing.assert_array_equal(unpack_labels(packed[:, kernel.STRETCH - 5 : kernel.STRETCH + 5], 4)[:, 2], expected)


def test_stretches_share_the_counted_rows_as_a_single_draw_would() -> None:
    n, counted = kernel.STRETCH + 1000, 20_000
    labellings = draw_labellings(n, counted, seeds(2047, 2))
    first = labellings.drawn[1:, 0]
    law = hypergeom(n, counted, kernel.STRETCH)
    assert (labellings.drawn.sum(axis=1) == counted).all()
    assert abs(first.mean() - law.mean()) < 4 * law.std() / np.sqrt(len(first))
    assert 0.85 < first.std() / law.std() < 1.15


def test_leading_rows_may_keep_their_labels() -> None:
    labellings = draw_labellings(120, 90, seeds(70, 4), fixed=80)
    labels = unpack_labels(labellings.packed(), 71)
    assert (labels[:80] == 0).all()
    assert (labels.sum(axis=0) == 30).all()
    np.testing.assert_array_equal(labels[80:, 1:], draw_labels(40, 30, labellings.seeds[1:71]).T)
    np.testing.assert_array_equal(labellings.packed(70, 95), labellings.packed()[:, 70:95])


def test_every_labelling_is_equally_likely() -> None:
    """All 15 choices of 2 rows among 6, by a chi-square with 14 degrees of freedom."""
    labels = random_labels(np.arange(6) >= 4, range(6000), 3)
    assert np.all(labels.sum(axis=0) == 2)
    _, counts = np.unique(labels.T @ (1 << np.arange(6)), return_counts=True)
    assert counts.size == 15
    assert chi2.sf(np.sum((counts - 400) ** 2 / 400), 14) > 1e-4


def test_labels_move_within_strata_only() -> None:
    rng = np.random.default_rng(6)
    strata = rng.integers(0, 4, 90)
    strata[60:75] = 7  # all of one sample: nothing can move
    labellings = labellings_within(strata, 60, seeds(70, 5))
    labels = unpack_labels(labellings.packed(), 71)
    np.testing.assert_array_equal(labels[:, 0], np.arange(90) >= 60)
    for stratum in np.unique(strata):
        inside = labels[strata == stratum]
        assert (inside.sum(axis=0) == inside[:, 0].sum()).all()
    assert len(np.unique(labels, axis=1).T) == 71
    np.testing.assert_array_equal(labellings.packed(20, 50), labellings.packed()[:, 20:50])


def test_within_a_stratum_every_choice_is_equally_likely() -> None:
    """All 6 choices of 2 rows among 4, by a chi-square with 5 degrees of freedom."""
    labellings = labellings_within(np.array([0, 1, 0, 1, 0, 0, 1]), 4, seeds(3000, 8))
    labels = unpack_labels(labellings.packed(), 3001)[[0, 2, 4, 5], 1:]
    _, counts = np.unique((1 << np.arange(4)) @ labels, return_counts=True)
    assert counts.size == 6
    assert chi2.sf(np.sum((counts - 500) ** 2 / 500), 5) > 1e-4
