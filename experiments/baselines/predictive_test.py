"""Classifiers as two-sample tests whose level holds: every row is judged by a model that has not seen its label.

Two ways to keep a row out of its own model. `out_of_fold` serves rankings: each fold is scored by a model of all the
others. Its scores are no basis for a test: with labels that mean nothing, what fold f says of fold g and what g says of
f go up and down together, so that a sum over folds varies more than independent folds would (twice as much for a linear
score, where a test at 0.01 rejects at 0.05). `forward_p_value` therefore lets each fold be judged by a model of the
folds before it only. Given the past, the labels of a fold are then exchangeable under the null, and counts of the folds
add up like independent ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm, rankdata

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Scorer = Callable[[Matrix], Vector]  # (n, d) rows -> (n,) the larger, the more likely current
Fit = Callable[[Matrix, NDArray[np.bool_]], Scorer]

FOLDS = 5
TOP_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1)  # of the rows judged: a localised excess gathers at the top of the ranking


def assign_folds(is_current: NDArray[np.bool_], seed: int) -> NDArray[np.intp]:
    """(n,) fold of each row at random, both samples spread evenly."""
    rng = np.random.default_rng(seed)
    folds = np.empty(is_current.size, dtype=np.intp)
    for label in (False, True):
        rows = rng.permutation(np.flatnonzero(is_current == label))
        folds[rows] = np.arange(rows.size) % FOLDS
    return folds


def out_of_fold(fit: Fit, rows: Matrix, is_current: NDArray[np.bool_], folds: NDArray[np.intp]) -> Vector:
    """(n,) score of each row by the model of the other folds."""
    scores = np.empty(len(rows))
    for fold in range(FOLDS):
        held = folds == fold
        scores[held] = fit(rows[~held], is_current[~held])(rows[held])
    return scores


def forward_p_value(fit: Fit, rows: Matrix, is_current: NDArray[np.bool_], folds: NDArray[np.intp], seed: int) -> float:
    """Do models of the past folds tell the samples apart in the next one? All but the first fold are judged.

    Six one-sided tests: the area under the ROC curve (rank sums, normal approximation), and for each of `TOP_SHARES` a
    binomial test of the number of current rows among the highest scores. The smallest p-value times six is returned.
    """
    rng = np.random.default_rng(seed)
    tops = np.zeros((len(TOP_SHARES), 2), dtype=np.intp)  # current rows and all rows among the highest
    rank_sum = 0.0
    for fold in range(1, FOLDS):
        past, now = folds < fold, folds == fold
        scores, label = fit(rows[past], is_current[past])(rows[now]), is_current[now]
        rank_sum += rank_z(scores, label)
        ordered = label[strongest(scores, rng)]
        sizes = [max(1, round(share * label.size)) for share in TOP_SHARES]
        tops += [(ordered[:size].sum(), size) for size in sizes]
    p_area = norm.sf(rank_sum / np.sqrt(FOLDS - 1))
    p_tops = binom.sf(tops[:, 0] - 1, tops[:, 1], is_current.mean())
    return float(min(1.0, (1 + len(TOP_SHARES)) * min(p_area, p_tops.min())))


def rank_z(scores: Vector, label: NDArray[np.bool_]) -> float:
    """Standardised rank sum of the rows with the label, with the variance that ties leave."""
    ranks = rankdata(scores)
    m, n = int(label.sum()), label.size
    variance = m * (n - m) / n * ranks.var(ddof=1)
    return float((ranks[label].sum() - m * ranks.mean()) / np.sqrt(variance)) if variance > 0 else 0.0


def strongest(scores: Vector, rng: np.random.Generator) -> NDArray[np.intp]:
    """Positions by falling score; ties in random order, since the order of rows gives their label away."""
    return np.lexsort((rng.random(scores.size), -scores))
