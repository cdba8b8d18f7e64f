"""Permutation p-values: relabel the pool on its fixed neighbour graph and score again.

Neighbouring points share neighbours, so their scores are dependent and no closed formula gives the law of a tail
statistic. Under exchangeable samples every labelling with the same sizes is equally likely, whatever the graph, so
p = (1 + labellings at least as extreme) / (1 + labellings) is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Neighbours
from shiftscope.full_space.null import DECIMALS, Null, ScoreNull
from shiftscope.full_space.score import Nulls, nulls_for
from shiftscope.kernels.labels import PACK, draw_labels
from shiftscope.kernels.neighbour_counters import WORDS
from shiftscope.kernels.score import crossing_masks, score_labellings
from shiftscope.subspaces.families import critical_value

WALKED_TOGETHER = PACK * WORDS  # labellings walked together
MANY_ROWS = 1 << 21  # in larger pools fewer labellings are held at once
CHUNK_ROWS = 8192  # rows scored between two chances to interrupt
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


@dataclass(frozen=True)
class Calibration:
    """Tails of the data, and the statistics of random labellings on the same graph.

    Attributes
    ----------
    reference, current : Tail
    permuted_reference, permuted_current : (n_permutations, 4) float64
        `Tail.statistics` of each labelling.
    p_value : float
        Exact p-value of the smallest single p-value over both sides and all four statistics.
    p_reference, p_current : float
        The same for one side alone.
    """

    reference: Tail
    current: Tail
    permuted_reference: NDArray[np.float64]
    permuted_current: NDArray[np.float64]
    p_value: float
    p_reference: float
    p_current: float

    def swapped(self) -> Calibration:
        """The same with the two samples exchanged."""
        return replace(
            self,
            reference=self.current,
            current=self.reference,
            permuted_reference=self.permuted_current,
            permuted_current=self.permuted_reference,
            p_reference=self.p_current,
            p_current=self.p_reference,
        )

    def enough(self, level: float, *, current: bool) -> float:
        """Share of a side's tail statistics that would just have had a p-value of `level`, at most 1."""
        observed = np.array((self.current if current else self.reference).statistics()[SHAPE])
        permuted = (self.permuted_current if current else self.permuted_reference)[:, SHAPE]
        needed = np.array([critical_value(column, level) for column in permuted.T])
        return float(np.clip(np.min(needed / np.maximum(observed, np.finfo(float).tiny)), 0.0, 1.0))

    def shape_p_value(self, tail: Tail, *, current: bool) -> float:
        """Smaller of the permutation p-values of a tail's KS distance and of its weighted excess."""
        permuted = (self.permuted_current if current else self.permuted_reference)[:, SHAPE]
        at_least = np.sum(permuted >= np.array(tail.statistics()[SHAPE]), axis=0)
        return float(np.min(1 + at_least) / (1 + len(permuted)))


def calibrate(
    graph: Neighbours,
    is_current: NDArray[np.bool_],
    scores: NDArray[np.float64],
    *,
    q_tail: float,
    n_permutations: int,
    random_state: int,
    progress: Callable[[float], None] | None = None,
) -> Calibration:
    """Calibrate the tail statistics of both sides by random labellings on the fixed graph.

    Parameters
    ----------
    graph : Neighbours
        Lists of exactly K_M neighbours, one for each of the first m of the n pooled rows.
    is_current : (n,) bool
    scores : (m,) float64
        Observed score of each of these rows in its own direction.
    q_tail : float
        Null quantile where the tail begins (paper: 0.97).
    n_permutations, random_state : int
        Labelling b depends on (random_state, b) only, so results do not depend on threads or batches.
    """
    n_current = int(is_current.sum())
    nulls = nulls_for(is_current.size - n_current, n_current, graph.index.shape[1])
    tests = (tail_test(nulls.reference, q_tail), tail_test(nulls.current, q_tail))
    listed = is_current[: scores.size]
    reference, current = tests[0].compare(scores[~listed]), tests[1].compare(scores[listed])
    permuted = np.empty((2, n_permutations, len(reference.statistics())))
    step = WALKED_TOGETHER if is_current.size <= MANY_ROWS else PACK
    for start in range(0, n_permutations, step):
        some = range(start, min(start + step, n_permutations))
        labellings = permuted_labels(is_current, some, random_state, listed=scores.size)
        for labelling, tails in enumerate(_permuted_tails(graph, labellings, nulls, tests)):
            for side in (0, 1):
                permuted[side, start + labelling] = tests[side].compare(tails[side]).statistics()
        if progress is not None:
            progress((start + labellings.shape[1]) / n_permutations)
    both = np.hstack([permuted[0], permuted[1]])
    return Calibration(
        reference,
        current,
        permuted[0],
        permuted[1],
        smallest_p_value(np.array(reference.statistics() + current.statistics()), both),
        smallest_p_value(np.array(reference.statistics()), permuted[0]),
        smallest_p_value(np.array(current.statistics()), permuted[1]),
    )


def permuted_labels(
    is_current: NDArray[np.bool_], labellings: range, random_state: int, listed: int | None = None
) -> NDArray[np.uint8]:
    """(n, len(labellings)) labels; column b is a random choice of as many current rows, seeded by (seed, b).

    The first `listed` rows (default: all) and the others keep their numbers of current rows: the rows that are looked
    at may have been drawn sample by sample.
    """
    rng = np.random.default_rng(random_state)
    seeds = rng.integers(0, 2**64, size=labellings.stop, dtype=np.uint64)[labellings.start :]
    parts = np.split(is_current, [is_current.size if listed is None else listed])
    labels = [draw_labels(part.size, int(part.sum()), seeds + np.uint64(at)) for at, part in enumerate(parts)]
    return np.asarray(labels[0].T if parts[1].size == 0 else np.concatenate(labels, axis=1).T)


def _permuted_tails(
    graph: Neighbours, labellings: NDArray[np.uint8], nulls: Nulls, tests: tuple[TailTest, TailTest]
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Tail scores of the reference and of the current side in each labelling; interruptible between chunks."""
    n = len(graph.index)
    bounds = np.vstack([nulls.reference.bounds(tests[0].tau), nulls.current.bounds(tests[1].tau)])
    masks, bits = crossing_masks(bounds), _packed(labellings)
    groups, scores = [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for first in range(0, n, CHUNK_ROWS):
        out = np.empty((min(CHUNK_ROWS, n - first), labellings.shape[1]))
        score_labellings(first, graph.index, graph.tied, bits, bounds, masks, nulls.tables, out)
        row, labelling = np.nonzero(out)
        groups.append(2 * labelling + labellings[first + row, labelling])
        scores.append(out[row, labelling])
    group, score = np.concatenate(groups), np.concatenate(scores)
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(2 * labellings.shape[1] + 1))
    score = score[order]
    parts = [score[low:high] for low, high in pairwise(edges)]
    return list(zip(parts[::2], parts[1::2], strict=True))


def _packed(labellings: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """(n, WORDS) words, bit l of a row its label in labelling l."""
    n, n_labellings = labellings.shape
    packed = np.zeros((8 * WORDS, n), dtype=np.uint8)
    packed[: -(-n_labellings // 8)] = np.packbits(labellings.T, axis=0, bitorder="little")
    return np.ascontiguousarray(packed.T).view("<u8").astype(np.uint64)


def smallest_p_value(observed: NDArray[np.float64], permuted: NDArray[np.float64]) -> float:
    """Exact p-value of the smallest of several permutation p-values.

    The data are one of B + 1 equally likely labellings. Each labelling gets its upper rank in every statistic, then
    the smallest of these is ranked itself, so the price of looking at several statistics is paid exactly. Labellings
    that lead in one statistic or another share the smallest rank; among them the largest standardised statistic
    decides. All of this treats the B + 1 labellings alike, which is what makes the p-value exact.

    Parameters
    ----------
    observed : (s,) statistics of the data; larger means more extreme
    permuted : (B, s) the same of the random labellings
    """
    together = np.vstack([observed, permuted])
    smallest = np.min([upper_rank(column) for column in together.T], axis=0)
    spread = together.std(axis=0)
    standardised = (together - together.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    largest = standardised.max(axis=1)
    extreme = (smallest < smallest[0]) | ((smallest == smallest[0]) & (largest >= largest[0]))
    return float(np.mean(extreme))


def upper_rank(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of `values` at least as large as each of them."""
    ordered = np.sort(values)
    return 1.0 - np.searchsorted(ordered, values, side="left") / values.size
