"""Kernels of the local evidence: walks along neighbour lists, and the null of their maximum."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

WORDS = 8  # 64 labellings each, walked together: the labels of a row fill one cache line
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(parallel=True, cache=True, nogil=True)
def score_lists(
    rows: NDArray[np.intp],
    lists: NDArray[np.intp],
    index: NDArray[np.int32],
    tied: NDArray[np.bool_],
    alive: NDArray[np.bool_],
    label: NDArray[np.uint8],
    tables: NDArray[np.float64],
    score: NDArray[np.float64],
    scale: NDArray[np.int32],
    complete: NDArray[np.bool_],
) -> None:
    """Largest evidence along the living neighbours of each of `rows` (paper 2.1).

    The list of row r, number lists[i], is walked neighbour by neighbour, dead ones skipped. At each distinct distance
    the evidence tables[label of r, K, number of the first K of the same label] is read; neighbours at equal distance
    count as one step, because their order carries no information. Writes `score` and `scale` (the K that attains it),
    and `complete` = False where the list ended before K_M living neighbours were seen.
    """
    k_max = tables.shape[1] - 1
    length = index.shape[1]
    for i in prange(rows.size):
        own = label[rows[i]]
        row = lists[i]
        seen = 0
        same = 0
        pending = False
        best = 0.0
        best_k = 0
        done = False
        for j in range(length):
            neighbour = index[row, j]
            if alive[neighbour]:
                if seen == k_max:  # the group of ties reaches beyond K_M: no step ends here
                    done = True
                    pending = False
                    break
                seen += 1
                same += label[neighbour] == own
                pending = True
            if pending and not tied[row, j]:
                evidence = tables[own, seen, same]
                if evidence > best:
                    best = evidence
                    best_k = seen
                pending = False
                if seen == k_max:
                    done = True
                    break
        score[i] = best
        scale[i] = best_k
        complete[i] = done


@njit(parallel=True, cache=True, nogil=True)
def compact_lists(
    lists: NDArray[np.intp],
    index: NDArray[np.int32],
    tied: NDArray[np.bool_],
    alive: NDArray[np.bool_],
    position: NDArray[np.int32],
    living_index: NDArray[np.int32],
    living_tied: NDArray[np.bool_],
) -> None:
    """First K_M living neighbours of each of `lists`, renumbered by `position`; a tie across dead points is kept."""
    k_max = living_index.shape[1]
    length = index.shape[1]
    for i in prange(lists.size):
        row = lists[i]
        seen = 0
        for j in range(length):
            neighbour = index[row, j]
            if alive[neighbour]:
                if seen == k_max:
                    break
                living_index[i, seen] = position[neighbour]
                living_tied[i, seen] = False
                ahead = j
                while tied[row, ahead]:  # is the next living neighbour at the same distance?
                    ahead += 1
                    if ahead == length:
                        living_tied[i, seen] = True
                        break
                    if alive[index[row, ahead]]:
                        living_tied[i, seen] = True
                        break
                seen += 1


@njit(parallel=True, cache=True, nogil=True)
def score_permutations(
    first: int,
    index: NDArray[np.int32],
    tied: NDArray[np.bool_],
    bits: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    tables: NDArray[np.float64],
    score: NDArray[np.float64],
) -> None:
    """Tail scores of rows first, first + 1, ... under many labellings at once (permutations on the fixed graph).

    Bit l of bits[r] is the label of row r in labelling l; score is (rows, labellings). All labellings of a row are
    walked together, with counters whose bits are spread over words, one bit per labelling: the walk only asks whether
    the count of neighbours of the row's own label ever reaches `bounds[label, K]`, the smallest count whose evidence
    lies in the tail. For the few labellings where it does, a second walk finds the exact score; the others get 0.
    """
    k_max = index.shape[1]
    n_planes = 1
    while (1 << n_planes) <= k_max:
        n_planes += 1
    for i in prange(score.shape[0]):
        row = first + i
        planes = np.zeros((n_planes, WORDS), np.uint64)  # current neighbours so far, bit by bit
        carry = np.empty(WORDS, np.uint64)
        crossed = np.zeros((2, WORDS), np.uint64)  # tail reached as reference, as current
        for k in range(k_max):
            neighbour = index[row, k]
            for w in range(WORDS):
                carry[w] = bits[neighbour, w]
            for plane in range(n_planes):
                for w in range(WORDS):
                    before = planes[plane, w]
                    planes[plane, w] = before ^ carry[w]
                    carry[w] &= before
            if not tied[row, k]:
                if bounds[1, k + 1] <= k + 1:
                    _at_least(planes, bounds[1, k + 1], carry)
                    for w in range(WORDS):
                        crossed[1, w] |= carry[w]
                if bounds[0, k + 1] <= k + 1:  # enough reference neighbours: too few current ones for one more
                    _at_least(planes, k + 2 - bounds[0, k + 1], carry)
                    for w in range(WORDS):
                        crossed[0, w] |= ~carry[w]
        for lane in range(score.shape[1]):
            word, bit = lane >> 6, np.uint64(lane & 63)
            own = (bits[row, word] >> bit) & np.uint64(1)
            score[i, lane] = 0.0
            if (crossed[own, word] >> bit) & np.uint64(1):
                same = 0
                best = 0.0
                for k in range(k_max):
                    same += ((bits[index[row, k], word] >> bit) & np.uint64(1)) == own
                    if not tied[row, k]:
                        best = max(best, tables[own, k + 1, same])
                score[i, lane] = best


@njit(inline="always")
def _at_least(planes: NDArray[np.uint64], bound: int, out: NDArray[np.uint64]) -> None:
    """Bit mask of the counters that are at least `bound` >= 0, compared from the lowest bit up."""
    for w in range(WORDS):
        out[w] = ALL_BITS
    for plane in range(planes.shape[0]):
        if (bound >> plane) & 1:
            for w in range(WORDS):
                out[w] &= planes[plane, w]
        else:
            for w in range(WORDS):
                out[w] |= planes[plane, w]


@njit(parallel=True, cache=True, nogil=True)
def crossing_probability(bounds: NDArray[np.int64], p: float, crossing: NDArray[np.float64]) -> None:
    """Probability that a Bernoulli(p) walk ever reaches bounds[t, K] successes after K trials, for each t.

    Dynamic programme over (K, successes): mass that reaches the bound is absorbed and added up. O(K_M^2) per t.
    """
    k_max = bounds.shape[1] - 1
    for t in prange(bounds.shape[0]):
        mass = np.zeros(k_max + 2)
        mass[0] = 1.0
        absorbed = 0.0
        for k in range(1, k_max + 1):
            top = min(k, bounds[t, k - 1] if k > 1 else k)
            for b in range(top, 0, -1):
                mass[b] = mass[b] * (1.0 - p) + mass[b - 1] * p
            mass[0] *= 1.0 - p
            for b in range(bounds[t, k], top + 1):
                absorbed += mass[b]
                mass[b] = 0.0
        crossing[t] = absorbed


@njit(parallel=True, cache=True, nogil=True)
def score_sequences(memberships: NDArray[np.bool_], table: NDArray[np.float64], score: NDArray[np.float64]) -> None:
    """Largest evidence of each simulated membership sequence (the paper's Monte Carlo null)."""
    for i in prange(memberships.shape[0]):
        same = 0
        best = 0.0
        for k in range(memberships.shape[1]):
            same += memberships[i, k]
            best = max(best, table[k + 1, same])
        score[i] = best
