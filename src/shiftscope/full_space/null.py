"""The null distribution of the score: exact by dynamic programming, or simulated as in the paper (2.1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from shiftscope.errors import ParameterError, check_seed, is_share, is_whole
from shiftscope.kernels.score_walk import crossing_probability, score_sequences

SIMULATION_CHUNK = 20_000  # sequences drawn at a time; part of the seeded result, so not a parameter
DECIMALS = 10  # of a score: equal evidence at different K must be one value, not several that differ by rounding


class Null(Protocol):
    """What the tail test asks of a null distribution of the score S."""

    @property
    def size(self) -> float:
        """Number of null scores it rests on; infinite when exact."""

    def __hash__(self) -> int:
        """Nulls are told apart by identity, so that what is derived from one can be kept."""

    def sf(self, t: ArrayLike) -> NDArray[np.float64]:
        """P(S >= t)."""

    def quantile(self, q: float) -> float:
        """Smallest attainable t with P(S <= t) >= q."""


class ScoreNull:
    """Exact null of the maximum over K <= `k_max` of the evidence of a Bernoulli(`p`) membership sequence.

    S = max_K -log P[Binomial(K, p) >= B_K]. Reaching S >= t is a boundary crossing: for each K there is a smallest
    count whose evidence is at least t, and a dynamic programme over (K, count) gives the chance that the walk B_K ever
    reaches it. O(k_max^2) per threshold, no simulation.

    Parameters
    ----------
    k_max : int
        Largest neighbourhood, K_M in the paper.
    p : float
        Probability that a neighbour belongs to the point's own sample, strictly between 0 and 1.
    """

    def __init__(self, k_max: int, p: float) -> None:
        _check(k_max, p)
        self.k_max = int(k_max)
        self.p = float(p)

    def __repr__(self) -> str:
        return f"ScoreNull(k_max={self.k_max}, p={self.p:g})"

    @property
    def size(self) -> float:
        """The exact null rests on infinitely many draws."""
        return float("inf")

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """(k_max + 1, k_max + 1) evidence -log P[Binomial(K, p) >= b], row K, column b."""
        return evidence_table(self.k_max, self.p)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Sorted distinct scores that can occur."""
        k, b = np.tril_indices(self.k_max + 1)
        return np.unique(self.table[k, b])

    def bounds(self, t: ArrayLike) -> NDArray[np.int64]:
        """(len(t), k_max + 1) smallest count at each K whose evidence is at least t; K + 1 where there is none."""
        t = np.round(np.atleast_1d(_scores(t)), DECIMALS)
        if t.size == 1:  # rows rise with b, so counting finds the place; one pass instead of k_max searches
            below: NDArray[np.int64] = np.count_nonzero(self.table < t[0], axis=1).reshape(1, -1)
            return below
        bounds = np.empty((t.size, self.k_max + 1), dtype=np.int64)
        for k in range(self.k_max + 1):
            bounds[:, k] = np.searchsorted(self.table[k, : k + 1], t, side="left")
        return bounds

    def sf(self, t: ArrayLike) -> NDArray[np.float64]:
        """Survival function P(S >= t) under the null, same shape as `t`."""
        t = np.round(_scores(t), DECIMALS)
        levels, where = np.unique(t.ravel(), return_inverse=True)
        crossing = np.empty(levels.size)
        crossing_probability(self.bounds(levels), self.p, crossing)
        crossing[levels <= 0.0] = 1.0
        return crossing[where].reshape(t.shape)

    def cdf(self, t: ArrayLike) -> NDArray[np.float64]:
        """P(S <= t) under the null, same shape as `t`."""
        t = np.round(_scores(t), DECIMALS)
        return 1.0 - self.sf(t + 10.0**-DECIMALS)

    def quantile(self, q: float) -> float:
        """Smallest attainable t with P(S <= t) >= `q`, for 0 < q < 1."""
        _check_probability("q", q)
        return self._first(lambda t: float(self.cdf(t)) >= q)

    def threshold(self, p_ext: float) -> float:
        """Smallest attainable t with P(S >= t) <= `p_ext`; infinite if even the largest score is likelier."""
        _check_probability("p_ext", p_ext)
        return self._first(lambda t: float(self.sf(t)) <= p_ext)

    def _first(self, holds: Callable[[float], bool]) -> float:
        """First attainable value for which a monotone condition holds, by bisection."""
        low, high = 0, self.values.size
        while low < high:
            middle = (low + high) // 2
            if holds(float(self.values[middle])):
                high = middle
            else:
                low = middle + 1
        return float(self.values[low]) if low < self.values.size else float("inf")


class SimulatedNull:
    """The paper's Monte Carlo null: scores of `n` seeded Bernoulli(`p`) sequences of length `k_max`."""

    def __init__(self, k_max: int, p: float, n: int = 100_000, random_state: int = 0) -> None:
        _check(k_max, p)
        check_seed(random_state)
        if not is_whole(n, 1):
            raise ParameterError(f"n must be a whole number of at least 1, got {n!r}: the null needs sequences")
        self.k_max = int(k_max)
        self.p = float(p)
        rng = np.random.default_rng(random_state)
        table = evidence_table(k_max, p)
        scores = np.empty(n)
        for start in range(0, n, SIMULATION_CHUNK):
            part = scores[start : start + SIMULATION_CHUNK]
            score_sequences(rng.random((part.size, k_max)) < p, table, part)
        self.scores = np.sort(scores)

    @property
    def size(self) -> float:
        """Number of simulated scores."""
        return float(self.scores.size)

    def sf(self, t: ArrayLike) -> NDArray[np.float64]:
        """Share of simulated scores >= t, same shape as `t`."""
        return (self.scores.size - np.searchsorted(self.scores, _scores(t), side="left")) / self.scores.size

    def quantile(self, q: float) -> float:
        """Smallest simulated score t with at least a share `q` of the scores <= t."""
        _check_probability("q", q)
        shares = np.arange(1, self.scores.size + 1) / self.scores.size
        return float(self.scores[np.searchsorted(shares, q)])

    def threshold(self, p_ext: float) -> float:
        """Smallest simulated score t with P(S >= t) <= `p_ext`; infinite if the simulation is too small."""
        _check_probability("p_ext", p_ext)
        distinct = np.unique(self.scores)
        low_enough = distinct[self.sf(distinct) <= p_ext]
        return float(low_enough[0]) if low_enough.size else float("inf")


def evidence_table(k_max: int, p: float) -> NDArray[np.float64]:
    """-log P[Binomial(K, p) >= b] for K, b = 0..k_max (infinite for b > K) to DECIMALS, paper 2.1.

    Sums the tail in log space from its far end: a plain log of the survival function underflows beyond K of a few
    hundred, and cumulated probabilities lose the tail to rounding.
    """
    k = np.arange(k_max + 1, dtype=np.float64)[:, None]
    b = np.arange(k_max + 1, dtype=np.float64)[None, :]
    possible = b <= k
    log_choose = gammaln(k + 1) - gammaln(b + 1) - gammaln(np.where(possible, k - b, 0) + 1)
    log_pmf = np.where(possible, log_choose + b * np.log(p) + (k - b) * np.log1p(-p), -np.inf)
    with np.errstate(invalid="ignore"):
        log_tail = np.logaddexp.accumulate(log_pmf[:, ::-1], axis=1)[:, ::-1]
    table: NDArray[np.float64] = np.maximum(-log_tail, 0.0)
    np.round(table, DECIMALS, out=table)
    table[:, 0] = 0.0
    return table


def _check(k_max: int, p: float) -> None:
    if not is_whole(k_max, 1):
        raise ParameterError(f"k_max must be a whole number of at least 1, got {k_max!r}")
    _check_probability("p", p)


def _scores(t: ArrayLike) -> NDArray[np.float64]:
    """Scores as numbers; refuses what is none."""
    try:
        return np.asarray(t, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"t must be a score or an array of scores, got {t!r}") from error


def _check_probability(name: str, value: float) -> None:
    if not is_share(value):
        raise ParameterError(f"{name} must lie strictly between 0 and 1, got {value!r}")
