"""Other ways to compare two samples, on the units of the studies: what they detect, which rows and features they name.

Every function takes a pair with known truth and a seed. None is weakened: settings are the published ones, the
defaults, or better ones, as stated. All features are standardised by the pooled mean and deviation first. Detection
means a p-value of at most `ALPHA` by the method's own test; a method without a test whose level holds says nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from experiments.baselines.l1_logistic import fit_logistic
from experiments.baselines.mmd import mmd_p_value
from experiments.baselines.predictive_test import Matrix, Scorer, assign_folds, forward_p_value, out_of_fold, strongest
from experiments.baselines.ulsif import fit_ratio
from experiments.benchmark20d import BUDGET, Pair
from experiments.cost import Cost, spent
from experiments.runner import Unit

if TYPE_CHECKING:
    import lightgbm

ALPHA = 0.01

HIDDEN_LAYERS = (128, 64, 32)
TREES = 400
BOOSTING = {  # slower and more random than the defaults: recall@400 at 300 injected rows rises from 0.71 to 0.93
    "objective": "binary",
    "learning_rate": 0.02,
    "num_leaves": 63,
    "min_data_in_leaf": 50,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "feature_fraction": 0.7,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
NULL_FITS = 5  # models of permuted labels behind the gains that chance gives


@dataclass(frozen=True)
class Finding:
    """What a method says of a pair; None where it says nothing.

    Attributes
    ----------
    p_value : float or None
    ranking : (len(current),) array or None
        The larger, the more a row of the current sample is held to be in excess.
    selected : tuple of int or None
        Features by the method's own rule.
    strength : (d,) array or None
        The larger, the more a feature is held responsible.
    """

    p_value: float | None = None
    ranking: NDArray[np.float64] | None = None
    selected: tuple[int, ...] | None = None
    strength: NDArray[np.float64] | None = None


def mlp(pair: Pair, seed: int) -> Finding:
    """The paper's baseline: an MLP of 128, 64 and 32 ReLU units ranks the rows it was trained on by posterior odds.

    Adam with rate 1e-3, L2 penalty 1e-4, batches of 256, at most 300 iterations, as the supplement says. It is silent
    on early stopping and held-out rows, so there are none (scikit-learn's defaults), hence no test either.
    """
    rows, is_current = pooled(pair)
    return Finding(ranking=fit_mlp(rows, is_current, seed, early_stopping=False)(rows[is_current]))


def mlp_early(pair: Pair, seed: int) -> Finding:
    """The same network at its best: training ends when a tenth held out gains no more, rows are ranked out of fold."""
    return _classified(pair, seed, lambda rows, label: fit_mlp(rows, label, seed, early_stopping=True))


def boosting(pair: Pair, seed: int) -> Finding:
    """LightGBM: posterior odds out of fold, and gains beyond what permuted labels give.

    400 trees (`BOOSTING`). A feature's strength is its gain over its mean gain in five models of permuted labels; it is
    selected if the test rejects and its strength exceeds that of every feature in every one of those models.
    """
    rows, is_current = pooled(pair)
    found = _classified(pair, seed, lambda part, label: fit_boosting(part, label, seed).predict)
    rng = np.random.default_rng(seed)
    chance = np.array([gains(rows, rng.permutation(is_current), seed) for _ in range(NULL_FITS)])
    strength = gains(rows, is_current, seed) / chance.mean(axis=0)
    above = strength > (chance / chance.mean(axis=0)).max()
    selected = np.flatnonzero(above) if found.p_value is not None and found.p_value <= ALPHA else np.empty(0, int)
    return Finding(found.p_value, found.ranking, as_features(selected), strength)


def marginal_ks(pair: Pair, seed: int) -> Finding:
    """Two-sample Kolmogorov-Smirnov tests of single features, Holm's correction; it selects what is rejected."""
    tests = [ks_2samp(pair.reference[:, f], pair.current[:, f], method="asymp") for f in range(pair.reference.shape[1])]
    adjusted = holm(np.array([test.pvalue for test in tests]))
    strength = np.array([test.statistic for test in tests])
    return Finding(float(adjusted.min()), None, as_features(np.flatnonzero(adjusted <= ALPHA)), strength)


def kernel_test(pair: Pair, seed: int) -> Finding:
    """Maximum mean discrepancy, Gaussian kernel, median distance, permutations; on 4,000 rows of either sample."""
    rows, is_current = pooled(pair)
    return Finding(mmd_p_value(rows[~is_current], rows[is_current], seed))


def density_ratio(pair: Pair, seed: int) -> Finding:
    """uLSIF with 500 centres, width and ridge cross-validated in each fit; rows ranked by the ratio out of fold."""
    return _classified(pair, seed, lambda rows, label: fit_ratio(rows, label, seed))


def sparse_logistic(pair: Pair, seed: int) -> Finding:
    """L1 logistic regression, penalty by cross-validation and one standard error; selects non-zero coefficients."""
    rows, is_current = pooled(pair)
    strength = np.abs(fit_logistic(rows, is_current, seed).coefficients)
    found = _classified(pair, seed, lambda part, label: fit_logistic(part, label, seed))
    return Finding(found.p_value, found.ranking, as_features(np.flatnonzero(strength)), strength)


def pooled(pair: Pair) -> tuple[Matrix, NDArray[np.bool_]]:
    """(n, d) standardised rows of both samples, reference first, and which of them are current."""
    rows = np.vstack([pair.reference, pair.current])
    return (rows - rows.mean(axis=0)) / rows.std(axis=0), np.arange(len(rows)) >= len(pair.reference)


def _classified(pair: Pair, seed: int, fit: Callable[[Matrix, NDArray[np.bool_]], Scorer]) -> Finding:
    """Rows ranked out of fold, and the test that looks forward only."""
    rows, is_current = pooled(pair)
    folds = assign_folds(is_current, seed)
    p_value = forward_p_value(fit, rows, is_current, folds, seed)
    return Finding(p_value, out_of_fold(fit, rows, is_current, folds)[is_current])


def fit_mlp(rows: Matrix, is_current: NDArray[np.bool_], seed: int, *, early_stopping: bool) -> Scorer:
    """The supplement's network; the scorer gives posterior odds."""
    network = MLPClassifier(
        HIDDEN_LAYERS,
        activation="relu",
        solver="adam",
        learning_rate_init=1e-3,
        alpha=1e-4,
        batch_size=min(256, len(rows) * 9 // 10),  # a tenth may be held out
        max_iter=300,
        early_stopping=early_stopping,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the supplement's limit of iterations is meant
        network.fit(rows, is_current)
    return lambda part: odds(network.predict_proba(part)[:, 1])


def odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """p / (1 - p), finite."""
    return probability / np.maximum(1.0 - probability, np.finfo(float).tiny)


def fit_boosting(rows: Matrix, is_current: NDArray[np.bool_], seed: int) -> lightgbm.Booster:
    """Gradient-boosted trees with the settings of `BOOSTING`."""
    import lightgbm  # of the extra `experiments`: the other baselines do without

    data = lightgbm.Dataset(rows, is_current.astype(float), params={"verbose": -1})
    return lightgbm.train({**BOOSTING, "seed": seed}, data, num_boost_round=TREES)


def gains(rows: Matrix, is_current: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
    """(d,) total gain of the splits of each feature."""
    return fit_boosting(rows, is_current, seed).feature_importance("gain")


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """p-values adjusted by Holm's step-down rule, same order."""
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate(p_values[order] * np.arange(p_values.size, 0, -1))
    adjusted = np.empty(p_values.size)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def as_features(positions: NDArray[np.intp]) -> tuple[int, ...]:
    """Feature positions as plain numbers."""
    return tuple(int(position) for position in positions)


def judged(pair: Pair, found: Finding, cost: Cost, seed: int) -> Unit:
    """A finding held against the truth, in the fields of `experiments.paper.outcome` where they apply.

    `recall` and `purity` are those of as many top rows as are truly shifted, `recall_400` and `purity_400` those of the
    top 400; `support` is the method's own selection, `support_top` its strongest features, as many as truly matter.
    """
    truth = sorted(pair.support)
    total = int(pair.shifted.sum())
    hits = None if found.ranking is None else pair.shifted[strongest(found.ranking, np.random.default_rng(seed))]
    return {
        "p_value": found.p_value,
        "detected": None if found.p_value is None else found.p_value <= ALPHA,
        "support": None if found.selected is None else sorted(found.selected),
        "support_top": None if found.strength is None else sorted(top_features(found.strength, len(truth))),
        "truth": truth,
        "recall": None if hits is None or not total else float(hits[:total].sum() / total),
        "purity": None if hits is None or not total else float(hits[:total].mean()),
        "recall_400": None if hits is None or not total else float(hits[:BUDGET].sum() / total),
        "purity_400": None if hits is None or not total else float(hits[:BUDGET].mean()),
        "strength": None if found.strength is None else [float(f"{value:.6g}") for value in found.strength],
        "seconds": cost.seconds,
        "cpu_seconds": cost.cpu_seconds,
        "sizes": pair.sizes,
    }


def top_features(strength: NDArray[np.float64], count: int) -> tuple[int, ...]:
    """The `count` strongest features, strongest first; those of no strength at all are not among them."""
    order = np.argsort(-strength, kind="stable")[:count]
    return as_features(order[strength[order] > 0])


def _unit_of(method: Callable[[Pair, int], Finding]) -> Callable[[Pair, int], Unit]:
    def unit(pair: Pair, seed: int) -> Unit:
        start = spent()
        with threadpool_limits(1):  # the products are small: more threads wait for one another
            found = method(pair, seed)
        return judged(pair, found, spent() - start, seed)

    return unit


mlp_unit = _unit_of(mlp)
mlp_early_unit = _unit_of(mlp_early)
lightgbm_unit = _unit_of(boosting)
ks_unit = _unit_of(marginal_ks)
mmd_unit = _unit_of(kernel_test)
ulsif_unit = _unit_of(density_ratio)
l1_unit = _unit_of(sparse_logistic)
