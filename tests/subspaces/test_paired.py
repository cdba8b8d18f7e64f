from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

from shiftscope.encoding.bins import bin_features
from shiftscope.engines.binned_rows import LocalRows
from shiftscope.labellings.labellings import draw_labellings, unpack_labels
from shiftscope.params import ScanParams
from shiftscope.subspaces.paired import paired_features
from shiftscope.subspaces.scan import scan_points


def wide(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((200, 90))


def test_every_labelling_names_its_best_features_and_their_order_plays_no_part() -> None:
    """The same labellings in any order, the observed one among them, choose the same features."""
    bins = bin_features(wide())
    rows = LocalRows.of(bins, draw_labellings(200, 100, np.arange(15, dtype=np.uint64)))
    params = ScanParams(max_pairs=48)
    chosen = paired_features(rows, [], params)
    labels = unpack_labels(rows.packed, 16)
    turned = LocalRows(bins, rows.labellings, _packed(labels[:, ::-1]))
    np.testing.assert_array_equal(paired_features(turned, [], params), chosen)
    assert 16 < len(chosen) <= 48
    np.testing.assert_array_equal(paired_features(rows, [], ScanParams(max_pairs=90)), np.arange(90))


def _packed(labels: np.ndarray) -> np.ndarray:
    bits = labels.astype(np.uint64)
    return np.sum(bits << np.arange(bits.shape[1], dtype=np.uint64), axis=1, dtype=np.uint64)[None, :]


def test_beyond_the_limit_pairs_are_counted_among_features_that_stand_out() -> None:
    points = wide()
    points[100:, [7, 60]] += 1.2
    names = tuple(f"x{feature}" for feature in range(90))
    found = scan_points(points, 100, names, ScanParams(n_permutations=31, max_pairs=64, level=0.04))
    assert found.paired is not None
    assert {7, 60} <= set(found.paired.tolist())
    assert found.pairs.shape == (len(found.paired),) * 2
    best = np.unravel_index(np.argmax(found.pairs), found.pairs.shape)
    assert set(found.paired[list(best)].tolist()) <= {7, 60}
    assert found.p_value == 1 / 32
    counted = {one.features for one in found.sets if len(one.features) == 2}
    assert counted <= set(combinations(found.paired.tolist(), 2))
    assert (7, 60) in counted


def test_without_pairs_single_features_are_left() -> None:
    found = scan_points(wide(), 100, tuple(map(str, range(90))), ScanParams(n_permutations=31, max_pairs=0, beam=0))
    assert found.pairs.shape == (0, 0)
    assert {len(one.features) for one in found.sets} == {1}


def test_the_p_value_stays_exact_under_the_beam() -> None:
    """Equal samples: p-values of 99 scans are uniform, as far as their number tells."""
    params, names = ScanParams(n_permutations=19, max_pairs=20, max_features=2, n_seeds=0), tuple(map(str, range(30)))
    samples = (np.random.default_rng(seed).standard_normal((40, 30)) for seed in range(99))
    found = [scan_points(points, 20, names, params).p_value for points in samples]
    assert np.sum(np.array(found) <= 0.2) == pytest.approx(0.2 * 99, abs=3.5 * np.sqrt(99 * 0.16))


def test_blocks_of_sets_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    points = wide(3)[:, :20]
    points[100:130, [2, 5]] = 0.5
    params = ScanParams(n_permutations=63, max_triples=0, n_seeds=64, beam=8, max_features=4)
    names = tuple(map(str, range(20)))
    whole = scan_points(points, 100, names, params)
    monkeypatch.setattr(sys.modules["shiftscope.subspaces.windows"], "SETS_AT_ONCE", 37)
    monkeypatch.setattr(sys.modules["shiftscope.subspaces.scan"], "SETS_AT_ONCE", 37)
    monkeypatch.setattr(sys.modules["shiftscope.subspaces.contrasts"], "SUMS_AT_ONCE", 64 * 40)
    parts = scan_points(points, 100, names, params)
    np.testing.assert_array_equal(parts.localised_null, whole.localised_null)
    np.testing.assert_array_equal(parts.broad_null, whole.broad_null)
    np.testing.assert_array_equal(parts.pairs, whole.pairs)
    assert parts.p_value == whole.p_value
    assert [(one.features, one.box) for one in parts.sets] == [(one.features, one.box) for one in whole.sets]
