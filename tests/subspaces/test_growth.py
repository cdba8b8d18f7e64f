from __future__ import annotations

from itertools import combinations

import numpy as np

from shiftscope.encoding.bins import bin_features
from shiftscope.engines.binned_rows import LocalRows
from shiftscope.labellings.labellings import draw_labellings
from shiftscope.subspaces.growth import grow_boxes
from shiftscope.subspaces.windows import scan_windows


def test_a_compact_minority_grows_to_its_own_features() -> None:
    rng = np.random.default_rng(5)
    points = rng.standard_normal((8_000, 9))
    support = [1, 3, 4, 6, 8]
    points[-60:, support] = 0.4 + 0.06 * rng.standard_normal((60, 5))
    bins = bin_features(points)
    rows = LocalRows.of(bins, draw_labellings(8_000, 4_000, np.arange(9, dtype=np.uint64)))
    triples = np.array(list(combinations(range(9), 3)))
    families = grow_boxes(rows, scan_windows(rows, triples, 40, 16).seeds, 8, 5, rng)
    assert [family.size for family in families] == [4, 5]
    largest = families[1]
    best = int(np.argmax(largest.observed))
    assert largest.sets[best].tolist() == support
    assert largest.maxima[0] == largest.observed[best]
    assert largest.maxima[0] > 2 * largest.maxima[1:].max()
    codes = bins.codes[support]
    inside = np.all((codes >= largest.boxes[best, :, :1]) & (codes <= largest.boxes[best, :, 1:]), axis=0)
    assert inside[-60:].mean() > 0.8
    assert inside[:-60].mean() < 0.01


def test_labellings_in_which_nothing_grows_stand_at_their_best_seed() -> None:
    """Few rows and coarse windows: few boxes are small enough to grow, and chance must not stand out by that alone."""
    rng = np.random.default_rng(1)
    points = rng.standard_normal((600, 10))
    points[:, 6:] = rng.choice(4, (600, 4), p=[0.4, 0.3, 0.2, 0.1])
    bins = bin_features(points, np.arange(10) >= 6)
    rows = LocalRows.of(bins, draw_labellings(600, 300, np.arange(127, dtype=np.uint64)))
    triples = scan_windows(rows, np.array(list(combinations(range(10), 3))), 200, 16)
    families = grow_boxes(rows, triples.seeds, 8, 5, rng)
    ungrown = np.array([family.maxima == triples.seeds.evidence for family in families])
    assert 0 < ungrown.mean() < 1
    chance = triples.localised.standardised(triples.localised.maxima).max()
    assert all(family.standardised(family.maxima).max() < 2 * chance for family in families)
