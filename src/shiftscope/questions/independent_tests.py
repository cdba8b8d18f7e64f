"""Two-sample tests that have no part in equalisation: boosting, energy distance, marginal Kolmogorov-Smirnov.

All p-values come from random labellings. Boosting needs care: scores of models that were trained on each other's rows
go up and down together, and permuting labels under fixed scores would reject too often. Here each fold is judged by a
model of the folds before it. Given the past, the labels of a fold are exchangeable, and with ties broken at random
their order by score is a random arrangement whatever the scores are: permuting labels within folds is exact, and no
model is fitted again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import binom
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from shiftscope.labellings.p_values import ROUNDING

FOLDS = 5
TREES = 60
TOP_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1)  # of the rows of a fold: localised excess gathers at either end
ENERGY_ROWS = 1500  # of either sample: all pairs of them are held in memory

Labels = NDArray[np.bool_]
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True)
class Check:
    """One test: what was measured, and how often permuted labels give as much."""

    name: str
    statistic: float
    p_value: float


def independent_checks(
    points: NDArray[np.float64], ranked: NDArray[np.float64], is_current: Labels, n_permutations: int, seed: int
) -> tuple[Check, ...]:
    """All four checks of two samples.

    Parameters
    ----------
    points : (n, D) float64
        Standardised matrix, both samples.
    ranked : (n, d) float64
        One column per feature, for the marginal tests.
    is_current : (n,) bool
    n_permutations, seed : int
    """
    return (
        *boosting_checks(points, is_current, n_permutations, seed),
        energy_check(points, is_current, n_permutations, seed),
        marginal_check(ranked, is_current, n_permutations, seed),
    )


def boosting_checks(points: NDArray[np.float64], is_current: Labels, n_permutations: int, seed: int) -> list[Check]:
    """Area under the ROC curve of models of the past, and the smallest binomial p-value of either end of their ranking.

    At each of `TOP_SHARES` the current rows among the highest scores, and the reference rows among the lowest, are held
    against a binomial count.
    """
    rng = np.random.default_rng(seed)
    area = np.zeros(n_permutations + 1)
    ends = np.zeros((n_permutations + 1, 2, len(TOP_SHARES)), dtype=np.int64)
    sizes = np.zeros(len(TOP_SHARES), dtype=np.int64)
    total = 0
    for ordered in _ranked_folds(points, is_current, seed, rng):
        labellings = np.stack([ordered, *(rng.permutation(ordered) for _ in range(n_permutations))])
        n, m = ordered.size, int(ordered.sum())
        rank_sum = np.sum(labellings * np.arange(n), axis=1)
        area += n * (rank_sum - m * (m - 1) / 2.0) / (m * (n - m))
        total += n
        for at, share in enumerate(TOP_SHARES):
            top = max(1, round(share * n))
            sizes[at] += top
            ends[:, 0, at] += labellings[:, n - top :].sum(axis=1)
            ends[:, 1, at] += top - labellings[:, :top].sum(axis=1)
    share = float(is_current.mean())
    tails = binom.sf(ends - 1, sizes, np.array([share, 1.0 - share])[:, None]).min(axis=(1, 2))
    area /= total
    return [
        Check("boosting AUC", float(area[0]), _p_value(area)),
        Check("boosting, ends of the ranking", float(tails[0]), _p_value(-tails)),
    ]


def _ranked_folds(
    points: NDArray[np.float64], is_current: Labels, seed: int, rng: np.random.Generator
) -> Iterator[Labels]:
    """Labels of each fold but the first, by rising score of a model of the folds before it; ties in random order."""
    folds = [test for _, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(points, is_current)]
    for at in range(1, FOLDS):
        past, now = np.concatenate(folds[:at]), folds[at]
        scores = boosted_scores(points[past], is_current[past], points[now], seed)
        yield is_current[now][np.lexsort((rng.random(now.size), scores))]


def boosted_scores(
    points: NDArray[np.float64], is_current: Labels, queries: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """(m,) log odds that the rows `queries` (m, D) are current, by gradient-boosted trees fitted to `points` (n, D).

    On one thread: sums are then the same everywhere, and threads that wait for each other's small pieces of work on a
    busy machine have cost a hundred times the fit itself. The limit is that of the calling thread alone. One model at a
    time: scikit-learn exchanges the warning filters of the whole process while it fits.
    """
    model = HistGradientBoostingClassifier(max_iter=TREES, early_stopping=False, random_state=seed)
    with _ONE_AT_A_TIME, threadpool_limits(1, "openmp"):
        return np.asarray(model.fit(points, is_current).decision_function(queries))


def energy_check(points: NDArray[np.float64], is_current: Labels, n_permutations: int, seed: int) -> Check:
    """Energy distance 2 E|X - Y| - E|X - X'| - E|Y - Y'| of at most `ENERGY_ROWS` rows of either sample."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(is_current == label))[:ENERGY_ROWS] for label in (False, True)]
    )
    label = is_current[rows]
    labellings = np.stack([label, *(rng.permutation(label) for _ in range(n_permutations))]).T
    distances = cdist(points[rows], points[rows])
    energy = energy_distances(distances, labellings)
    return Check("energy distance", float(energy[0]), _p_value(energy))


def energy_distances(distances: NDArray[np.float64], labellings: Labels) -> NDArray[np.float64]:
    """Energy distance of each labelling: (n, n) distances and (n, b) labels -> (b,).

    Distances are rounded to about twelve digits, so that their sums are exact: the product of matrices is then the same
    on any number of threads.
    """
    distances = _exactly_summable(distances)
    n_current = int(labellings[:, 0].sum())
    n_reference = len(labellings) - n_current
    to_current = distances @ labellings.astype(np.float64)
    to_reference = distances.sum(axis=1)[:, None] - to_current
    within_current = (to_current * labellings).sum(axis=0)
    between = (to_reference * labellings).sum(axis=0)
    within_reference = (to_reference * ~labellings).sum(axis=0)
    return np.asarray(
        2.0 * between / (n_current * n_reference) - within_current / n_current**2 - within_reference / n_reference**2
    )


def _exactly_summable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Whole multiples of a power of two, so small in number that each row's sum is one as well."""
    largest = float(values.max(initial=0.0)) * values.shape[1]
    unit = 2.0 ** (math.frexp(largest)[1] - np.finfo(np.float64).nmant)
    return np.asarray(np.rint(values / unit) * unit)


def marginal_check(ranked: NDArray[np.float64], is_current: Labels, n_permutations: int, seed: int) -> Check:
    """Largest Kolmogorov-Smirnov distance of any single feature."""
    rng = np.random.default_rng(seed)
    order = np.argsort(ranked, axis=0, kind="stable").T
    values = np.take_along_axis(ranked.T, order, axis=1)
    last = np.hstack([values[:, 1:] != values[:, :-1], np.ones((len(values), 1), dtype=np.bool_)])  # of equal values
    distances = [largest_gap(order, last, is_current)]
    distances += [largest_gap(order, last, rng.permutation(is_current)) for _ in range(n_permutations)]
    return Check("marginal KS, largest", distances[0], _p_value(np.array(distances)))


def largest_gap(order: NDArray[np.intp], last: Labels, is_current: Labels) -> float:
    """Largest difference of the two distribution functions, over all features; order and last : (d, n)."""
    n = is_current.size
    m = int(is_current.sum())
    held = np.cumsum(is_current[order], axis=1)
    gaps = np.abs(held / m - (np.arange(1, n + 1) - held) / (n - m))
    return float(gaps[last].max())


def _p_value(values: NDArray[np.float64]) -> float:
    """Share of labellings, the observed one first and included, that reach the observed value.

    Few different rows give many equal values, whose sums differ in the last digits: they count as reached.
    """
    return float(np.mean(values >= values[0] - ROUNDING * np.abs(values).max()))
