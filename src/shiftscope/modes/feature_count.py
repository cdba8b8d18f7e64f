"""How many of the ranked features to keep: leakage-safe cross-validation of hard neighbourhoods (Supp. S5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.features import Groups, columns_of
from shiftscope.kernels.enrichment import nested_neighbours

MAX_VALIDATION_QUERIES = 500  # a standard error of 0.5 / sqrt(500) = 0.02 at worst; more queries only cost time


@dataclass(frozen=True)
class Curve:
    """Cross-validated enrichment of the queries' neighbourhoods, per number of features kept.

    Attributes
    ----------
    sizes : (s,) int array
        Numbers of leading features, the paper's grid, from d down to 1.
    score : (s,) array
        Mean of ``s_i = phi_i + beta (1 - phi_i) q_i``.
    purity : (s,) array
        The same with beta = 0: the share of targets among the k nearest neighbours.
    error : (s,) array
        Standard error of `score` over queries.
    margin : (s,) array
        Standard error over queries of the difference between each score and the best one.
    """

    sizes: NDArray[np.intp]
    score: NDArray[np.float64]
    purity: NDArray[np.float64]
    error: NDArray[np.float64]
    margin: NDArray[np.float64]


def cross_validate(
    pool: NDArray[np.float32],
    target: NDArray[np.bool_],
    query: NDArray[np.bool_],
    ranking: NDArray[np.intp],
    *,
    k: int,
    beta: float,
    folds: int,
    rng: np.random.Generator,
    groups: Groups | None = None,
) -> Curve:
    """Score every candidate number of leading features.

    Each query lies in one validation fold, and its neighbours are searched among all rows outside that fold:
    one search per query does the work of all folds, and the subsets are nested, so distances only grow.

    Parameters
    ----------
    pool : (n, d) array
    target, query : (n,) bool arrays
    ranking : (d,) int array
        Features, strongest first.
    k : int
        Neighbours per query; fewer when fewer rows lie outside a fold.
    beta : float
        Weight of the rank term.
    folds : int
    rng : Generator
        Draws the folds, 500 of the queries when there are more, and the order of rows at equal distances.
    groups : d tuples of int, optional
        The pool's columns of each feature; by default every column is a feature.
    """
    fold = stratified_folds(query, folds, rng)
    queries = np.flatnonzero(query)
    if queries.size > MAX_VALIDATION_QUERIES:
        queries = np.sort(rng.choice(queries, MAX_VALIDATION_QUERIES, replace=False))
    k = min(k, len(pool) - int(np.bincount(fold).max()))
    sizes = size_grid(len(ranking))
    groups = groups or tuple((f,) for f in range(len(ranking)))
    mixed = rng.permutation(len(pool))  # equal distances are ordered by position, which must tell nothing of the sample
    columns = np.ascontiguousarray(pool[mixed][:, columns_of(groups, ranking)].T)
    used = np.cumsum([len(groups[f]) for f in ranking])  # columns of the leading 1, 2, ... features
    places = np.argsort(mixed)[queries]
    neighbours = nested_neighbours(columns, places, fold[mixed], used[sizes[::-1] - 1].astype(sizes.dtype), k)
    purity, rank_quality = enrichment(target[mixed][neighbours[:, ::-1]])
    score = purity + beta * (1 - purity) * rank_quality
    own = fold[queries]
    mean = fold_mean(score, own)
    return Curve(
        sizes=sizes,
        score=mean,
        purity=fold_mean(purity, own),
        error=standard_error(score),
        margin=standard_error(score - score[:, [np.argmax(mean)]]),
    )


def size_grid(d: int) -> NDArray[np.intp]:
    """Candidate sizes of the paper: d, to 150 by 50, to 50 by 5, to 16 by 2, then each integer down to 1."""
    sweep = [*range(d, 149, -50), *range(150, 49, -5), *range(50, 15, -2), *range(15, 0, -1)]
    return np.array(sorted({d, *(m for m in sweep if m <= d)}, reverse=True), dtype=np.intp)


def stratified_folds(query: NDArray[np.bool_], folds: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Fold of each row: queries and other rows are each dealt out evenly, in random order."""
    fold = np.empty(len(query), np.int8)
    for group in (query, ~query):
        fold[group] = rng.permutation(np.arange(np.count_nonzero(group)) % folds)
    return fold


def enrichment(hits: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Purity phi and normalised discounted gain q of neighbour lists.

    ``phi = c / k`` for c targets among the k neighbours, and
    ``q = sum_r hit_r / log2(r + 1)  /  sum_{r <= c} 1 / log2(r + 1)``, zero when c = 0: one when the targets
    are the closest ones.

    Parameters
    ----------
    hits : (..., k) bool array
        Whether the neighbour of each rank is a target, nearest first.
    """
    k = hits.shape[-1]
    discount = 1 / np.log2(np.arange(2, k + 2))
    count = np.count_nonzero(hits, axis=-1)
    ideal = np.concatenate([[1.0], np.cumsum(discount)])  # no hit at all: 0 / 1
    return count / k, np.minimum(np.sum(hits * discount, axis=-1) / ideal[count], 1.0)


def fold_mean(values: NDArray[np.float64], fold: NDArray[np.int8]) -> NDArray[np.float64]:
    """Mean over the queries of a fold, averaged across the folds that hold queries."""
    means: NDArray[np.float64] = np.mean([values[fold == f].mean(axis=0) for f in np.unique(fold)], axis=0)
    return means


def standard_error(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard error of the mean over the first axis."""
    error: NDArray[np.float64] = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return error


def best_size(curve: Curve) -> int:
    """The size of largest score, the smaller one among equals (the paper's rule)."""
    return int(curve.sizes[curve.score == curve.score.max()].min())


def gap_size(curve: Curve, weights: NDArray[np.float64]) -> int:
    """Among sizes within one standard error of the best, the one with the largest drop of weight behind it.

    Scores of neighbouring sizes often differ by less than their noise, and then the maximum is a matter of
    chance, while the weights of supporting and idle features stand far apart.

    Parameters
    ----------
    weights : (d,) array
        Sorted, largest first.
    """
    best = np.argmax(curve.score)
    # The error of the score matters when queries differ in kind (anchors and noise), that of the difference
    # when they agree on the best size but hardly on its rivals: a rival within either is as good.
    rivals = curve.sizes[curve.score[best] - curve.score <= np.maximum(curve.error[best], curve.margin)]
    drop = weights - np.append(weights[1:], 0.0)
    return int(rivals[np.argmax(drop[rivals - 1])])
