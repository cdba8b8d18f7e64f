"""The kernel two-sample test: maximum mean discrepancy with permuted labels (Gretton et al. 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.ulsif import median_distance, squared_distances

Matrix = NDArray[np.float64]

SAMPLE = 4_000  # rows of either sample; all pairs of them are held in memory
PERMUTATIONS = 499
MEDIAN_ROWS = 2_000  # rows behind the median distance


def mmd_p_value(reference: Matrix, current: Matrix, seed: int, sample: int = SAMPLE) -> float:
    """Permutation p-value of the unbiased MMD^2, Gaussian kernel as wide as the median distance.

    Parameters
    ----------
    reference, current : (n, d) arrays
        Standardised rows; at most `sample` of either are used, chosen at random.
    seed : int
        Of the choice and the permutations.
    """
    rng = np.random.default_rng(seed)
    parts = [rows[rng.permutation(len(rows))[:sample]] for rows in (reference, current)]
    labels = np.repeat([False, True], [len(part) for part in parts])
    gram = gaussian_gram(np.vstack(parts), rng)
    labellings = np.column_stack([labels, *(rng.permutation(labels) for _ in range(PERMUTATIONS))])
    observed, *permuted = mmd_squared(gram, labellings)
    return float((1 + np.sum(np.array(permuted) >= observed)) / (1 + PERMUTATIONS))


def gaussian_gram(rows: Matrix, rng: np.random.Generator) -> NDArray[np.float32]:
    """(n, n) kernel values with an empty diagonal, in single precision to hold more rows."""
    width = median_distance(rows[rng.permutation(len(rows))[:MEDIAN_ROWS]])
    gram = np.empty((len(rows), len(rows)), dtype=np.float32)
    for chunk in np.array_split(np.arange(len(rows)), max(1, len(rows) // 500)):
        gram[chunk] = np.exp(squared_distances(rows[chunk], rows) / (-2.0 * width**2))
    np.fill_diagonal(gram, 0.0)
    return gram


def mmd_squared(gram: NDArray[np.float32], labellings: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Unbiased MMD^2 of each labelling.

    With an empty diagonal and sizes n, m: sum k_cc / (n (n-1)) + sum k_rr / (m (m-1)) - 2 sum k_cr / (n m).

    Parameters
    ----------
    gram : (n, n) array
    labellings : (n, b) bool
        One labelling a column, all with the same number of current rows.
    """
    current = labellings.astype(np.float32)
    n, m = int(labellings[:, 0].sum()), int((~labellings[:, 0]).sum())
    to_current = (gram @ current).astype(np.float64)  # (n, b): each row's kernel sum over current rows
    to_all = gram.sum(axis=1, dtype=np.float64)[:, None]
    cc = (to_current * labellings).sum(axis=0)
    cr = (to_current * ~labellings).sum(axis=0)
    rr = ((to_all - to_current) * ~labellings).sum(axis=0)
    return cc / (n * (n - 1)) + rr / (m * (m - 1)) - 2.0 * cr / (n * m)
