"""Does equalising the healthy cohorts change a classifier of disease more than removing as many rows at random?

Supp. "ECG dataset: classification": healthy X and the diseased recordings of X's devices are learned from, Y and
those of Y's devices are tested on. The control that the paper lacks removes random rows, as many on each side.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from experiments.cost import measured
from experiments.ecg.cohorts import (
    CASES,
    HEALTHY_LIKELIHOOD,
    Cohorts,
    Rows,
    draw_cohorts,
    known_adults,
    one_per_patient,
)
from experiments.ecg.elastic_net import ElasticNetLogistic
from experiments.ecg.encoding import quantile_bins, winsoriser
from experiments.ecg.recordings import Ecg, read
from experiments.runner import Unit

TASKS = ("1AVB", "NST_", "IVCD", "ISC_", "ISCAL")
CLASSIFIERS = ("LR-L2", "LR-EN", "HGBT")
RANDOM_REMOVALS = 2  # per draw
BOOTSTRAPS = 500
THRESHOLD = 0.5
CURVE = np.linspace(0, 1, 101)  # false-positive rates at which ROC curves are kept


@dataclass(frozen=True)
class Split:
    """Rows of `Ecg` of one task: healthy and diseased, to learn from and to test on."""

    train_healthy: Rows
    train_diseased: Rows
    test_healthy: Rows
    test_diseased: Rows


@measured
def downstream_unit(folder: Path, name: str, draw: int, task: str, removed: Sequence[Sequence[int]]) -> Unit:
    """One task of one draw: before, after equalisation, and after random removals of the same size."""
    ecg = read(folder)
    cohorts = draw_cohorts(ecg, CASES[name], draw)
    pool = ecg.features[np.concatenate([cohorts.x, cohorts.y])]
    rng = np.random.default_rng([draw, TASKS.index(task)])
    whole = task_split(ecg, cohorts, task, rng)
    standardised, binned = winsoriser(pool).apply(ecg.features), quantile_bins(pool, ecg.features)
    conditions = {"before": whole, "after": without(whole, cohorts.x[removed[0]], cohorts.y[removed[1]])}
    for repeat in range(RANDOM_REMOVALS):
        chosen = [
            rng.choice(rows, len(gone), replace=False)
            for rows, gone in zip((cohorts.x, cohorts.y), removed, strict=True)
        ]
        conditions[f"random {repeat}"] = without(whole, *chosen)
    done: Unit = {condition: {} for condition in conditions}
    with threadpool_limits(1):
        for which in CLASSIFIERS:
            model, points = classifier(which, draw), binned if which == "HGBT" else standardised
            for condition, split in conditions.items():
                done[condition][which] = _evaluated(model, points, split, draw)
                done[condition][which]["auc_all_tested"] = _auc_on(model, points, whole)
    sizes = [int(rows.size) for rows in vars(whole).values()]
    return {"task": task, "draw": draw, "sizes": sizes, "conditions": done}


def task_split(ecg: Ecg, cohorts: Cohorts, task: str, rng: np.random.Generator) -> Split:
    """Healthy cohorts and the diseased recordings of their devices, one per patient; no patient on both sides.

    Recordings that carry both labels are left out of the task. The shared device's patients are split at random.
    """
    labelled = np.array([task in codes for codes in ecg.statements])
    normal = np.array([codes.get("NORM", 0) >= HEALTHY_LIKELIHOOD for codes in ecg.statements])
    diseased = one_per_patient(ecg, np.flatnonzero(labelled & ~normal & known_adults(ecg)), rng)
    case, device = cohorts.case, ecg.device[diseased]
    learned = (device == case.x) | ((device == case.shared) & (rng.random(diseased.size) < 0.5))
    tested = ~learned & ((device == case.y) | (device == case.shared))
    patients_x, patients_y = ecg.patient[cohorts.x], ecg.patient[cohorts.y]
    learned &= ~np.isin(ecg.patient[diseased], patients_y)
    tested &= ~np.isin(ecg.patient[diseased], patients_x)
    return Split(
        train_healthy=cohorts.x[~labelled[cohorts.x]],
        train_diseased=diseased[learned],
        test_healthy=cohorts.y[~labelled[cohorts.y]],
        test_diseased=diseased[tested],
    )


def without(split: Split, gone_x: Rows, gone_y: Rows) -> Split:
    """The same task without some healthy rows."""
    return Split(
        np.setdiff1d(split.train_healthy, gone_x),
        split.train_diseased,
        np.setdiff1d(split.test_healthy, gone_y),
        split.test_diseased,
    )


def classifier(which: str, seed: int) -> Any:
    """One of the supplement's three classifiers, with its settings; LR-EN reaches saga's optimum by other steps."""
    if which == "LR-L2":
        return LogisticRegression(C=0.01, solver="lbfgs", max_iter=2000)
    if which == "LR-EN":
        return ElasticNetLogistic(C=0.01, l1_ratio=0.5)
    return HistGradientBoostingClassifier(
        max_depth=3,
        learning_rate=0.03,
        min_samples_leaf=30,
        max_iter=500,
        early_stopping=True,
        validation_fraction=0.15,
        n_iter_no_change=20,
        random_state=seed,
    )


def _evaluated(model: Any, points: NDArray[np.float64], split: Split, seed: int) -> Unit:
    """Fit `model`; its AUC with interval, confusion counts at 0.5 and ROC curve on the test side."""
    rows = np.concatenate([split.train_healthy, split.train_diseased])
    labels = np.arange(rows.size) >= split.train_healthy.size
    model.set_params(class_weight={0: 1.0, 1: split.train_healthy.size / split.train_diseased.size})
    with warnings.catch_warnings(record=True, action="always", category=ConvergenceWarning) as caught:
        model.fit(points[rows], labels.astype(int))
    healthy, diseased = _tested(model, points, split)
    return {
        "auc": auc(healthy, diseased),
        "interval": list(bootstrap_interval(healthy, diseased, seed)),
        "confusion": [
            [int(np.sum(healthy < THRESHOLD)), int(np.sum(healthy >= THRESHOLD))],
            [int(np.sum(diseased < THRESHOLD)), int(np.sum(diseased >= THRESHOLD))],
        ],
        "roc": np.round(roc(healthy, diseased), 4).tolist(),
        "converged": getattr(model, "converged_", True)
        and not any(issubclass(w.category, ConvergenceWarning) for w in caught),
    }


def _auc_on(model: Any, points: NDArray[np.float64], split: Split) -> float:
    """AUC of a fitted model on a split's test side."""
    return auc(*_tested(model, points, split))


def _tested(model: Any, points: NDArray[np.float64], split: Split) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of the healthy and of the diseased recordings of the test side."""
    healthy, diseased = (model.predict_proba(points[r])[:, 1] for r in (split.test_healthy, split.test_diseased))
    return healthy, diseased


def auc(healthy: NDArray[np.float64], diseased: NDArray[np.float64]) -> float:
    """Chance that a diseased recording scores higher than a healthy one, ties counting half."""
    ranks = rankdata(np.concatenate([healthy, diseased]))
    m = diseased.size
    return float((ranks[healthy.size :].sum() - m * (m + 1) / 2) / (m * healthy.size))


def bootstrap_interval(
    healthy: NDArray[np.float64], diseased: NDArray[np.float64], seed: int, level: float = 0.95
) -> tuple[float, float]:
    """Percentile interval of the AUC over resampled test recordings, healthy and diseased apart."""
    rng = np.random.default_rng(seed)
    n, m = healthy.size, diseased.size
    wins = (diseased[:, None] > healthy) + 0.5 * (diseased[:, None] == healthy)
    drawn_diseased = rng.multinomial(m, np.full(m, 1 / m), size=BOOTSTRAPS)
    drawn_healthy = rng.multinomial(n, np.full(n, 1 / n), size=BOOTSTRAPS)
    values = ((drawn_diseased @ wins) * drawn_healthy).sum(axis=1) / (n * m)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def roc(healthy: NDArray[np.float64], diseased: NDArray[np.float64]) -> NDArray[np.float64]:
    """True-positive rate at the false-positive rates of `CURVE`."""
    cuts = np.unique(np.concatenate([healthy, diseased]))[::-1]
    false = np.concatenate([[0.0], 1 - np.searchsorted(np.sort(healthy), cuts, side="left") / healthy.size])
    true = np.concatenate([[0.0], 1 - np.searchsorted(np.sort(diseased), cuts, side="left") / diseased.size])
    return np.interp(CURVE, false, true)


@dataclass(frozen=True)
class Change:
    """Change of one classifier's AUC in one task over the draws.

    Attributes
    ----------
    before : float
        Mean AUC.
    changes : (draws,) array
        AUC after equalisation minus before.
    random : (draws * RANDOM_REMOVALS,) array
        The same for random removals.
    """

    before: float
    changes: NDArray[np.float64]
    random: NDArray[np.float64]

    @property
    def outside(self) -> int:
        """Draws whose change lies outside the range of all random ones."""
        return int(np.sum((self.changes < self.random.min()) | (self.changes > self.random.max())))

    @property
    def exceeds(self) -> bool:
        """The median change lies outside the range of all random removals."""
        median = np.median(self.changes)
        return bool(median < self.random.min() or median > self.random.max())


def change(units: Sequence[Unit], task: str, which: str, key: str = "auc") -> Change:
    """The change of one classifier in one task, over all units of this task.

    `key` is "auc", tested on what is kept of Y, or "auc_all_tested", tested on all of Y: then only the rows that were
    learned from have changed.
    """
    rows = [unit["conditions"] for unit in units if unit["task"] == task]
    aucs = {condition: np.array([row[condition][which][key] for row in rows]) for condition in rows[0]}
    random = [aucs[name] - aucs["before"] for name in aucs if name.startswith("random")]
    return Change(float(aucs["before"].mean()), aucs["after"] - aucs["before"], np.concatenate(random))
