from __future__ import annotations

import numpy as np
import pytest

from shiftscope.modes.feature_count import (
    MAX_VALIDATION_QUERIES,
    Curve,
    best_size,
    cross_validate,
    enrichment,
    gap_size,
    size_grid,
    stratified_folds,
)
from tests.kernels.twins import slow_neighbours


def test_the_grid_of_the_paper():
    assert size_grid(1).tolist() == [1]
    assert size_grid(20).tolist() == [20, 18, 16, *range(15, 0, -1)]
    tail = [*range(150, 50, -5), *range(50, 15, -2), *range(15, 0, -1)]
    assert size_grid(565).tolist() == [565, 515, 465, 415, 365, 315, 265, 215, 165, *tail]
    assert size_grid(782).tolist() == [*range(782, 150, -50), *tail]


@pytest.mark.parametrize("d", [1, 2, 15, 16, 17, 49, 50, 51, 149, 150, 151, 200, 600])
def test_every_grid_starts_at_d_and_descends_to_one(d):
    grid = size_grid(d)
    assert grid[0] == d
    assert grid[-1] == 1
    assert (np.diff(grid) < 0).all()


def test_folds_are_even_in_both_groups():
    query = np.arange(103) < 23
    fold = stratified_folds(query, 5, np.random.default_rng(0))
    for group in (query, ~query):
        counts = np.bincount(fold[group], minlength=5)
        assert counts.max() - counts.min() <= 1


def slow_enrichment(hits):
    """Purity and nDCG of one list, written out."""
    gain = sum(1 / np.log2(rank + 1) for rank, hit in enumerate(hits, start=1) if hit)
    best = sum(1 / np.log2(rank + 1) for rank in range(1, sum(hits) + 1))
    return sum(hits) / len(hits), gain / best if best else 0.0


def test_purity_and_rank_quality_equal_the_slow_twin():
    hits = np.random.default_rng(0).random((4, 3, 9)) < 0.4
    hits[0, 0] = False
    hits[0, 1] = True
    purity, quality = enrichment(hits)
    for place in np.ndindex(4, 3):
        assert (purity[place], quality[place]) == pytest.approx(slow_enrichment(hits[place].tolist()))
    assert quality.max() <= 1


def test_targets_that_come_first_have_rank_quality_one():
    _, quality = enrichment(np.array([[True, True, False, False], [False, False, True, True]]))
    assert quality[0] == pytest.approx(1)
    assert quality[1] < 0.6


def curve_of(pool, target, query, **options):
    settings = {"k": 5, "beta": 0.2, "folds": 5, "rng": np.random.default_rng(0)} | options
    ranking = np.arange(pool.shape[1])
    return cross_validate(pool.astype(np.float32), target, query, ranking, **settings)


def test_validation_rows_are_never_neighbours():
    # Targets sit in tight quintets. With quintets as folds they would see each other only if the search
    # leaked; here the folds are drawn, so count what each query can reach outside its own fold.
    rng = np.random.default_rng(1)
    n, query = 600, np.arange(600) < 100
    pool = rng.standard_normal((n, 2))
    pool[:100] = np.repeat(1e3 * (1 + np.arange(20))[:, None], 5, axis=0) + 1e-3 * rng.standard_normal((100, 2))
    target = query.copy()
    curve = curve_of(pool, target, query, k=4, beta=0.0)
    fold = stratified_folds(query, 5, np.random.default_rng(0))
    reachable = np.array([np.count_nonzero(fold[5 * (i // 5) : 5 * (i // 5) + 5] != fold[i]) for i in range(100)])
    # Beyond its quintet a query meets the next quintets, targets too: count exactly by the slow twin.
    slow = slow_neighbours(pool.astype(np.float32).T.astype(float), np.arange(100), fold, [1, 2], 4)
    same_fold = fold[slow] == fold[:100, None, None]
    assert not same_fold.any()
    assert reachable.min() < 4  # a leaking search would have found four quintet members
    expected = [np.mean([target[slow[fold[:100] == f, s]].mean() for f in range(5)]) for s in (1, 0)]
    np.testing.assert_allclose(curve.purity, expected)


def test_the_curve_peaks_at_the_support_and_has_both_scores():
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((1000, 6))
    query = np.arange(1000) < 80
    pool[:80, :3] = 1 + 0.05 * rng.standard_normal((80, 3))
    target = query | (rng.random(1000) < 0.5)
    curve = curve_of(pool, target, query, k=30)
    assert curve.sizes.tolist() == [6, 5, 4, 3, 2, 1]
    assert best_size(curve) == 3
    assert (curve.score >= curve.purity).all()
    assert (curve.error > 0).all()
    assert curve.margin[curve.sizes == 3] == 0
    pure = curve_of(pool, target, query, k=30, beta=0.0)
    np.testing.assert_allclose(pure.score, curve.purity)


def test_many_queries_are_sampled_and_few_rows_shrink_k():
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((3 * MAX_VALIDATION_QUERIES, 1))
    target = rng.random(len(pool)) < 0.5
    curve = curve_of(pool, target, np.ones(len(pool), bool))
    assert curve.purity == pytest.approx(target.mean(), abs=0.1)
    tiny = curve_of(pool[:6], target[:6], np.ones(6, bool), k=100)
    assert 0 <= tiny.purity[0] <= 1


def some_curve(score, margin, error=0.001):
    sizes = np.arange(len(score), 0, -1)
    score = np.array(score)
    return Curve(sizes, score, score, np.full(len(score), error), np.array(margin))


def test_the_best_size_is_the_smaller_one_among_equals():
    assert best_size(some_curve([0.5, 0.8, 0.8, 0.2], [0.0] * 4)) == 2


def test_the_weight_gap_decides_between_sizes_that_cannot_be_told_apart():
    curve = some_curve([0.5, 0.80, 0.79, 0.2], [0.01, 0.0, 0.02, 0.01])
    assert gap_size(curve, np.array([2.0, 1.8, 0.1, 0.1])) == 2
    assert gap_size(curve, np.array([2.0, 1.8, 1.7, 0.1])) == 3
    assert gap_size(curve, np.array([3.8, 0.2, 0.05, 0.01])) == 2  # size 1 is clearly worse
    flat = some_curve([0.5, 0.80, 0.79, 0.2], [0.01, 0.0, 0.0, 0.01], error=0.02)
    assert gap_size(flat, np.array([2.0, 1.8, 0.1, 0.1])) == 2


@pytest.mark.parametrize("first", [True, False])
def test_equal_distances_do_not_favour_the_sample_that_comes_first(first):
    """A rare level that both samples have alike: half of the rows that share it are targets, in whatever order."""
    rng = np.random.default_rng(0)
    pool = np.column_stack([rng.random(1000) < 0.02, rng.standard_normal((1000, 4))]).astype(np.float32)
    target = (np.arange(1000) < 500) == first
    query = np.zeros(1000, dtype=bool)
    query[np.flatnonzero(target)[::5]] = True
    curve = cross_validate(pool, target, query, np.arange(5), k=100, beta=0.2, folds=5, rng=rng)
    assert abs(curve.purity[-1] - 0.5) < 0.1
