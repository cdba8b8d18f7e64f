"""The controlled 20-D benchmark of the paper (Supp. "Controlled 20D benchmark construction").

A four-component Gaussian mixture with diagonal covariances. Two ways to make the second cohort differ:
`global_pair` displaces the component of weight 0.30, `local_pair` adds a compact minority next to the
component of weight 0.35.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

DIMENSION = 20
WEIGHTS = np.array([0.35, 0.30, 0.20, 0.15])
MEANS = np.zeros((4, DIMENSION))
MEANS[0, :9] = (0.0, 0.0, 0.5, -0.5, 0.0, 0.3, 0.0, 0.0, 0.2)
MEANS[1, :12] = (2.5, -1.0, -0.5, 1.0, 0.5, -0.3, 0.0, 0.2, -0.2, 0.0, 0.0, 0.1)
MEANS[2, :11] = (-2.0, 1.5, 0.0, 0.5, -1.0, 0.0, 0.3, -0.2, 0.0, 0.0, 0.2)
MEANS[3, :10] = (1.0, 2.0, -1.0, -1.0, 0.0, 0.5, -0.5, 0.0, 0.0, 0.3)
# fmt: off
VARIANCES = np.array([
    [1.2, 1.0, 0.8, 0.9, 0.7, 0.8, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.8, 0.8, 0.8, 0.9, 0.9, 0.9, 0.9],
    [0.9, 1.1, 0.7, 0.8, 0.8, 0.7, 1.0, 0.9, 1.0, 1.0, 1.0, 0.9, 1.0, 0.8, 0.8, 0.8, 1.0, 1.0, 0.9, 0.9],
    [1.0, 0.8, 1.0, 0.9, 0.7, 1.1, 0.8, 0.9, 1.0, 1.0, 0.9, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.9, 0.9, 1.0],
    [1.1, 0.9, 0.8, 1.0, 0.8, 0.8, 0.9, 1.0, 1.0, 0.9, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.9, 0.9, 1.0, 1.0],
])
# fmt: on

GLOBAL_COMPONENT = 1  # the paper's m = 2, weight 0.30
GLOBAL_SUPPORT = (0, 1, 3)
LOCAL_COMPONENT = 0  # the paper's m = 1, weight 0.35
LOCAL_SUPPORT = (2, 4, 6, 8, 9)
LOCAL_OFFSET = np.array([1.1, -0.4, 0.4, -0.2, 0.3])  # anchor, in component standard deviations
LOCAL_SCALES = np.array([0.11, 0.08, 0.04, 0.04, 0.03])  # cluster axes before rotation, same units
LOCAL_SHRINKAGE = 0.7  # spread of the injected rows along the inactive coordinates

ROWS = 50_000  # background rows of either sample, as in the paper
QUICK_ROWS = 4_000  # of the studies in small
BUDGET = 400  # rows a ranking may name: the paper's InjectedRecall@400


@dataclass(frozen=True)
class Pair:
    """Two cohorts with known truth.

    Attributes
    ----------
    reference, current : (n, 20) arrays
    shifted : (len(current),) bool
        The rows of `current` that were displaced or injected.
    support : tuple of int
        The coordinates that carry the shift (empty when nothing differs).
    """

    reference: Matrix
    current: Matrix
    shifted: NDArray[np.bool_]
    support: tuple[int, ...]

    @property
    def sizes(self) -> list[int]:
        """Rows of both samples."""
        return [len(self.reference), len(self.current)]


def background(n: int, rng: np.random.Generator, means: Matrix = MEANS) -> tuple[Matrix, NDArray[np.intp]]:
    """`n` rows of the mixture and the component of each."""
    component = rng.choice(len(WEIGHTS), size=n, p=WEIGHTS)
    rows = rng.standard_normal((n, DIMENSION))
    return means[component] + rows * np.sqrt(VARIANCES)[component], component


def global_pair(sigma: float, seed: int, n: int = ROWS) -> Pair:
    """Component m = 2 of the current cohort displaced by `sigma` along each of (0, 1, 3)."""
    rng = np.random.default_rng(seed)
    reference, _ = background(n, rng)
    means = MEANS.copy()
    means[GLOBAL_COMPONENT, list(GLOBAL_SUPPORT)] += sigma
    current, component = background(n, rng, means)
    shifted = (component == GLOBAL_COMPONENT) & (sigma != 0)
    return Pair(reference, current, shifted, GLOBAL_SUPPORT if sigma else ())


def local_pair(injected: int, seed: int, n: int = ROWS) -> Pair:
    """`injected` rows of a compact, rotated cluster added to the current cohort."""
    rng = np.random.default_rng(seed)
    reference, _ = background(n, rng)
    rows, _ = background(n, rng)
    current = np.vstack([rows, local_cluster(injected, rng)])
    shifted = np.arange(len(current)) >= n
    return Pair(reference, current, shifted, LOCAL_SUPPORT if injected else ())


def local_cluster(size: int, rng: np.random.Generator) -> Matrix:
    """The minority population around its anchor beside component m = 1."""
    deviation = np.sqrt(VARIANCES[LOCAL_COMPONENT])
    rows = MEANS[LOCAL_COMPONENT] + LOCAL_SHRINKAGE * deviation * rng.standard_normal((size, DIMENSION))
    active = list(LOCAL_SUPPORT)
    cluster = (rng.standard_normal((size, len(active))) * LOCAL_SCALES) @ random_rotation(len(active), rng).T
    rows[:, active] = MEANS[LOCAL_COMPONENT, active] + deviation[active] * (LOCAL_OFFSET + cluster)
    return rows


def random_rotation(dimension: int, rng: np.random.Generator) -> Matrix:
    """A uniformly distributed rotation (QR of a Gaussian matrix, signs fixed)."""
    q, r = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    q *= np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] *= -1
    return q
