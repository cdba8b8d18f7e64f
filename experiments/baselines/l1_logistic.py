"""L1-penalised logistic regression: a path of solutions, and the penalty by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

STEPS = 25  # penalties, from the one that leaves no feature ...
SPAN = 1e-2  # ... to this share of it
FOLDS = 5
TOLERANCE = 1e-6  # largest change of a coefficient at which an iteration ends
MAX_ITERATIONS = 1000


@dataclass(frozen=True)
class Logistic:
    """Coefficients of standardised features.

    Attributes
    ----------
    coefficients : (d,) array
    intercept : float
    penalty : float
        Factor of the L1 norm beside the mean log loss.
    """

    coefficients: Vector
    intercept: float
    penalty: float

    def __call__(self, rows: Matrix) -> Vector:
        """(n,) log odds."""
        return rows @ self.coefficients + self.intercept


def fit_logistic(rows: Matrix, is_current: NDArray[np.bool_], seed: int) -> Logistic:
    """The sparsest model whose held-out log loss lies within one standard error of the best (5 folds).

    Parameters
    ----------
    rows : (n, d) array
        Standardised features.
    is_current : (n,) bool
    seed : int
        Of the folds.
    """
    penalties = largest_penalty(rows, is_current) * np.geomspace(1.0, SPAN, STEPS)
    folds = np.random.default_rng(seed).permutation(len(rows)) % FOLDS
    losses = np.array(
        [
            [log_loss(model(rows[folds == fold]), is_current[folds == fold]) for model in models]
            for fold in range(FOLDS)
            for models in [path(rows[folds != fold], is_current[folds != fold], penalties)]
        ]
    )
    mean, error = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(FOLDS)
    best = int(np.argmin(mean))
    choice = int(np.argmax(mean <= mean[best] + error[best]))  # the first one has the largest penalty
    return path(rows, is_current, penalties[: choice + 1])[-1]


def largest_penalty(rows: Matrix, is_current: NDArray[np.bool_]) -> float:
    """The smallest penalty at which all coefficients are zero."""
    return float(np.abs(rows.T @ (is_current - is_current.mean())).max() / len(rows))


def path(rows: Matrix, is_current: NDArray[np.bool_], penalties: Vector) -> list[Logistic]:
    """One model per penalty, each started from the one before.

    Minimises mean log loss + penalty * |w|_1 over w and an unpenalised intercept. The loss curves by at most a quarter
    in the log odds, so the quadratic with curvature Z^T Z / (4 n) lies above it (Boehning 1992); each step minimises
    that quadratic with the penalty. Near even odds, where samples differ little, it is Newton's step.
    """
    design = np.column_stack([rows, np.ones(len(rows))])
    curvature = design.T @ design / (4.0 * len(rows))
    at = np.zeros(design.shape[1])
    models = []
    for penalty in penalties:
        threshold = np.append(np.full(rows.shape[1], penalty), 0.0)
        for _ in range(MAX_ITERATIONS):
            gradient = design.T @ (expit(design @ at) - is_current) / len(design)
            new = penalised_minimum(curvature, curvature @ at - gradient, threshold, at)
            change = np.abs(new - at).max()
            at = new
            if change <= TOLERANCE:
                break
        models.append(Logistic(at[:-1], float(at[-1]), float(penalty)))
    return models


def penalised_minimum(curvature: Matrix, slope: Vector, threshold: Vector, start: Vector) -> Vector:
    """Minimum of w^T C w / 2 - slope^T w + sum threshold |w|, coordinate by coordinate.

    Parameters
    ----------
    curvature : (p, p) array C, positive definite
    slope, threshold, start : (p,) arrays
    """
    at = start.copy()
    for _ in range(MAX_ITERATIONS):
        before = at.copy()
        for j in range(at.size):
            free = slope[j] - curvature[j] @ at + curvature[j, j] * at[j]
            at[j] = np.sign(free) * max(abs(free) - threshold[j], 0.0) / curvature[j, j]
        if np.abs(at - before).max() <= TOLERANCE / 10:
            break
    return at


def log_loss(log_odds: Vector, is_current: NDArray[np.bool_]) -> float:
    """Mean of -log of the probability given to the true label."""
    return float(np.logaddexp(0.0, np.where(is_current, -log_odds, log_odds)).mean())
