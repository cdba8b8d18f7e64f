"""uLSIF, the density ratio as a ridge problem (Kanamori, Hido and Sugiyama 2009).

The ratio r(x) = p_current(x) / p_reference(x) is modelled as sum_l a_l exp(-|x - c_l|^2 / (2 s^2)) with centres c_l
among the current rows. Least squares under the reference gives a = (H + lambda I)^-1 h, H the mean of phi phi^T over
reference rows and h the mean of phi over current rows; negative coefficients are then set to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

CENTRES = 500  # the authors use 100
WIDTHS = (0.25, 0.4, 0.6, 1.0, 1.6)  # times the median distance between centres
RIDGES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
FOLDS = 5
CHUNK = 10_000  # rows whose kernel values are held at once


@dataclass(frozen=True)
class Ratio:
    """A fitted density ratio.

    Attributes
    ----------
    centres : (b, d) array
    coefficients : (b,) array, none negative
    width : float
        Standard deviation of the kernels.
    ridge : float
    """

    centres: Matrix
    coefficients: Vector
    width: float
    ridge: float

    def __call__(self, rows: Matrix) -> Vector:
        """(n,) ratio at each of the (n, d) rows."""
        parts = [kernel(part, self.centres, self.width) @ self.coefficients for part in _chunks(rows)]
        return np.concatenate(parts)


def fit_ratio(rows: Matrix, is_current: NDArray[np.bool_], seed: int, n_centres: int | None = None) -> Ratio:
    """Fit the ratio current / reference; width and ridge by 5-fold cross-validation of the squared error.

    Parameters
    ----------
    rows : (n, d) array
        Both samples, on comparable scales.
    is_current : (n,) bool
    seed : int
        Of centres and folds.
    n_centres : int, optional
        Default: `CENTRES`.
    """
    rng = np.random.default_rng(seed)
    current, reference = rng.permutation(rows[is_current]), rng.permutation(rows[~is_current])
    centres = current[: n_centres or CENTRES]
    unit = median_distance(centres)
    best = (np.inf, Ratio(centres, np.zeros(len(centres)), unit, RIDGES[0]))
    for width in (factor * unit for factor in WIDTHS):
        second = np.array([mean_product(part, centres, width) for part in np.array_split(reference, FOLDS)])
        first = np.array([mean_kernel(part, centres, width) for part in np.array_split(current, FOLDS)])
        errors = held_out_errors(second, first)
        choice = int(np.argmin(errors))
        if errors[choice] < best[0]:
            coefficients = solve(second.mean(axis=0), first.mean(axis=0), RIDGES[choice])
            best = (errors[choice], Ratio(centres, coefficients, width, RIDGES[choice]))
    return best[1]


def held_out_errors(second: Matrix, first: Matrix) -> Vector:
    """(ridges,) mean of J(a) = a^T H a / 2 - h^T a over folds, with a from the other folds and H, h from this one.

    Parameters
    ----------
    second : (folds, b, b) array
        H of each fold.
    first : (folds, b) array
        h of each fold.
    """
    errors = np.zeros(len(RIDGES))
    for (place, ridge), fold in product(enumerate(RIDGES), range(FOLDS)):
        others = np.arange(FOLDS) != fold
        a = solve(second[others].mean(axis=0), first[others].mean(axis=0), ridge)
        errors[place] += (a @ second[fold] @ a / 2 - first[fold] @ a) / FOLDS
    return errors


def solve(second: Matrix, first: Vector, ridge: float) -> Vector:
    """(H + ridge I)^-1 h without its negative entries."""
    factor = cho_factor(second + ridge * np.eye(len(second)))
    return np.maximum(cho_solve(factor, first), 0.0)


def mean_product(rows: Matrix, centres: Matrix, width: float) -> Matrix:
    """H: (b, b) mean of phi phi^T over the rows."""
    values = (kernel(part, centres, width) for part in _chunks(rows))
    return sum(phi.T @ phi for phi in values) / len(rows)


def mean_kernel(rows: Matrix, centres: Matrix, width: float) -> Vector:
    """h: (b,) mean of phi over the rows."""
    return sum(kernel(part, centres, width).sum(axis=0) for part in _chunks(rows)) / len(rows)


def kernel(rows: Matrix, centres: Matrix, width: float) -> Matrix:
    """(n, b) Gaussian kernel values."""
    return np.exp(squared_distances(rows, centres) / (-2.0 * width**2))


def squared_distances(rows: Matrix, others: Matrix) -> Matrix:
    """(n, m) squared Euclidean distances."""
    squares = (rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2.0 * rows @ others.T
    return np.maximum(squares, 0.0)


def median_distance(rows: Matrix) -> float:
    """Median distance between different rows."""
    return float(np.sqrt(np.median(squared_distances(rows, rows)[np.triu_indices(len(rows), 1)])))


def _chunks(rows: Matrix) -> list[Matrix]:
    return np.array_split(rows, max(1, -(-len(rows) // CHUNK)))
