"""Permutation p-values: relabel the pool on its fixed neighbour graph and score again.

Neighbouring points share neighbours, so their scores are dependent and no closed formula gives the law of a tail
statistic. Under exchangeable samples every labelling with the same sizes is equally likely, whatever the graph, so
p = (1 + labellings at least as extreme) / (1 + labellings) is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Neighbours
from shiftscope.full_space.score import Nulls, nulls_for
from shiftscope.full_space.tail_test import SHAPE, Tail, TailTest, tail_test
from shiftscope.kernels.labels import PACK
from shiftscope.kernels.neighbour_counters import WORDS
from shiftscope.kernels.score_walk import crossing_masks, score_labellings
from shiftscope.labellings.labellings import random_labels
from shiftscope.labellings.p_values import critical_value, smallest_p_value

WALKED_TOGETHER = PACK * WORDS  # labellings walked together
LARGE_POOL = 1 << 21  # in larger pools fewer labellings are held at once
CHUNK_ROWS = 8192  # rows scored between two chances to interrupt


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
    step = WALKED_TOGETHER if is_current.size <= LARGE_POOL else PACK
    for start in range(0, n_permutations, step):
        some = range(start, min(start + step, n_permutations))
        labellings = random_labels(is_current, some, random_state, listed=scores.size)
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
