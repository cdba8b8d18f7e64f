"""An independent check: can boosted trees, blind to devices, tell X from Y before and after equalisation?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from experiments.cost import measured
from experiments.ecg.cohorts import CASES, draw_cohorts
from experiments.ecg.comparison import encoded
from experiments.ecg.downstream import auc
from experiments.ecg.recordings import read
from experiments.runner import Unit

FOLDS = 5
TREES = {"max_depth": 3, "learning_rate": 0.1, "max_iter": 100, "early_stopping": False}


@measured
def check_unit(folder: Path, name: str, draw: int, removed: Sequence[Sequence[int]]) -> Unit:
    """Out-of-fold AUC, from the features as they are, of all rows, of those kept, and without as many random rows."""
    ecg = read(folder)
    points, n = encoded(ecg, draw_cohorts(ecg, CASES[name], draw), "as is")
    is_y = np.arange(len(points)) >= n
    rng = np.random.default_rng([draw, 1])
    random = [rng.choice(n, len(gone), replace=False) for gone in removed]
    return {
        "case": name,
        "before": out_of_fold_auc(points, is_y, draw),
        "after": out_of_fold_auc(*_kept(points, is_y, n, removed), draw),
        "random": out_of_fold_auc(*_kept(points, is_y, n, random), draw),
    }


def out_of_fold_auc(points: NDArray[np.float64], is_y: NDArray[np.bool_], seed: int) -> float:
    """AUC of scores that each row gets from trees that have not seen it."""
    scores = np.empty(len(points))
    for learned, tested in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(points, is_y):
        model = HistGradientBoostingClassifier(random_state=seed, **TREES)
        with threadpool_limits(1):  # the units already use all cores
            scores[tested] = model.fit(points[learned], is_y[learned]).predict_proba(points[tested])[:, 1]
    return auc(scores[~is_y], scores[is_y])


def _kept(
    points: NDArray[np.float64], is_y: NDArray[np.bool_], n: int, removed: Sequence[Sequence[int]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    gone = np.concatenate([np.asarray(removed[0], dtype=int), np.asarray(removed[1], dtype=int) + n])
    return np.delete(points, gone, axis=0), np.delete(is_y, gone)
