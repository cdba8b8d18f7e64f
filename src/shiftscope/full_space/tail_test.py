"""The one-sided Kolmogorov-Smirnov comparison of a score tail with its null (paper 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shiftscope.full_space.null import DECIMALS, Null, ScoreNull

KNOTS = 512  # points at which the exact null tail is tabulated
SMALLEST_SCORE = 10.0**-DECIMALS  # a score of 0 is no evidence: it never belongs to a tail
TAIL_FLOOR = 1e-15  # smallest tail probability tabulated


@dataclass(frozen=True)
class Tail:
    """One side's score tail against its null, both conditioned on S >= tau; larger means more excess.

    Attributes
    ----------
    distance : float
        One-sided KS distance D = max_t [SF_observed(t) - SF_null(t)].
    excess : float
        The same surplus weighted towards the far tail, Z = max_t (N(t) - E(t)) / sqrt(E(t) + 1), with N(t) of the m
        tail scores at or above t and E(t) = m SF_null(t) expected. A few dozen extreme rows that move D by less than
        its noise stand out in Z.
    count : int
        Number m of scores at or above tau.
    largest : float
        Largest score.
    """

    distance: float
    excess: float
    count: int
    largest: float

    def statistics(self) -> tuple[float, float, float, float]:
        """Scaled KS distance sqrt(m) D, weighted excess Z, count and largest score: what labellings calibrate."""
        return (np.sqrt(self.count) * self.distance, self.excess, float(self.count), self.largest)


SHAPE = slice(0, 2)  # of `Tail.statistics`: what equalisation acts on (count and largest serve the verdict only)


class TailTest:
    """One-sided tail comparison of observed scores with their null above tau (paper 2.2).

    With SF the survival function conditioned on S >= tau, the distance is D = max_t [SF_observed(t) - SF_null(t)]:
    large when extreme scores are more frequent than the null allows. The null tail of an exact null is tabulated at
    KNOTS scores and interpolated in log probability. It falls in steps, so the curve is within 0.06 of the
    exact one (0.02 at K_M = 400); data and permuted labellings are held against the same curve.
    """

    def __init__(self, null: Null, q_tail: float) -> None:
        self.tau = max(null.quantile(q_tail), SMALLEST_SCORE)
        self._tail = float(null.sf(self.tau))
        self.null_tail_size = null.size * self._tail
        self._null = null
        if isinstance(null, ScoreNull):
            top = min(null.threshold(TAIL_FLOOR), float(null.values[-1]))
            self._knots = np.linspace(self.tau, max(top, self.tau), KNOTS)
            self._log_sf = np.log(np.maximum(null.sf(self._knots), TAIL_FLOOR))

    def sf(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(S >= t | S >= tau) under the null."""
        if isinstance(self._null, ScoreNull):
            tail = np.exp(np.interp(t, self._knots, self._log_sf))
        else:
            tail = self._null.sf(t)
        return tail / self._tail

    def compare(self, scores: NDArray[np.float64]) -> Tail:
        """The tail of `scores` against the null tail."""
        tail = np.sort(scores[scores >= self.tau])[::-1]
        m = tail.size
        if m == 0:
            return Tail(0.0, 0.0, 0, 0.0)
        observed = np.searchsorted(-tail, -tail, side="right")
        expected = m * self.sf(tail)
        surplus = observed - expected
        distance = max(0.0, float(np.max(surplus)) / m)
        excess = max(0.0, float(np.max(surplus / np.sqrt(expected + 1.0))))
        return Tail(distance, excess, m, float(tail[0]))

    def formula_p_value(self, distance: float, m: int) -> float:
        """Asymptotic one-sided two-sample KS p-value exp(-2 m' D^2), m' = m M / (m + M) with M null tail scores."""
        if m == 0:
            return 1.0
        effective = m / (1.0 + m / self.null_tail_size) if np.isfinite(self.null_tail_size) else m
        return float(np.exp(-2.0 * effective * distance**2))


@lru_cache(maxsize=4)  # both sides, before and after a step
def tail_test(null: Null, q_tail: float) -> TailTest:
    """The tail test of a null, made once."""
    return TailTest(null, q_tail)
