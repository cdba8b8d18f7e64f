from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from experiments.ecg import downstream, encoding


def test_encodings_bound_outliers_and_do_not_know_the_cohorts():
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((400, 3))
    pool[0, 0] = 1e4
    bounded = {kind: encoding.encode(pool, kind) for kind in encoding.KINDS}
    assert np.abs(bounded["as is"]).max() > 15
    assert max(np.abs(bounded[kind]).max() for kind in encoding.KINDS[1:]) < 4
    order = rng.permutation(400)
    for kind in encoding.KINDS:
        assert np.allclose(encoding.encode(pool[order], kind), bounded[kind][order])
        assert kind == "directions" or np.allclose(bounded[kind].std(axis=0), 1)
    assert encoding.tails(bounded["as is"]).top_rows > encoding.tails(bounded["winsorised"]).top_rows


def test_directions_are_profiles_of_one_length_in_any_features():
    pool = np.random.default_rng(1).standard_normal((300, 6)) ** 3
    scores, found = encoding.encode(pool, "normal scores"), encoding.encode(pool, "directions")
    for row, profile in zip(scores[:5], found[:5], strict=True):
        assert profile == pytest.approx(row * np.sqrt(6 / np.sum(row**2)))
    some = encoding.columns(found, [4, 1], "directions")
    assert np.allclose(np.sum(some**2, axis=1), 2)
    assert np.allclose(some, encoding.encode(pool[:, [4, 1]], "directions"))
    assert np.array_equal(encoding.columns(scores, [4, 1], "normal scores"), scores[:, [4, 1]])
    assert np.array_equal(encoding.of_one_length(np.zeros((2, 3))), np.zeros((2, 3)))


def test_trees_on_bins_are_the_trees_on_values():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((600, 3))
    points[:, 2] = np.round(points[:, 2])
    labels = (points[:, 0] > 1).astype(int)
    bins = encoding.quantile_bins(points, points)
    assert [np.unique(column).size <= encoding.BINS for column in bins.T] == [True] * 3
    assert np.array_equal(np.argsort(bins[:, 2], kind="stable"), np.argsort(points[:, 2], kind="stable"))
    with threadpool_limits(1):
        model = downstream.classifier("HGBT", seed=0).set_params(max_iter=20)
        ours, theirs = (model.fit(values, labels).predict_proba(values)[:, 1] for values in (bins, points))
    assert np.mean(np.abs(ours - theirs) < 0.01) > 0.98  # a cut may lie at the other end of a bin
