"""Kernels of the local evidence: walks along neighbour lists, and the null of their maximum."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.neighbour_counters import FEW, MOST, PLANES, WORDS, bound_masks, count_and_compare


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
def score_labellings(
    first: int,
    index: NDArray[np.int32],
    tied: NDArray[np.bool_],
    bits: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    masks: NDArray[np.uint64],
    tables: NDArray[np.float64],
    score: NDArray[np.float64],
) -> None:
    """Tail scores of rows first, first + 1, ... under many labellings at once (labellings on the fixed graph).

    Bit l of bits[r] is the label of row r in labelling l; score is (rows, labellings). `bounds[label, K]` is the
    smallest count of neighbours of the own label whose evidence lies in the tail; `masks` are made of the same bounds
    by `crossing_masks`. All labellings of a row are walked together, and the walk only asks whether the count ever
    reaches the bound. For the few labellings where it does, a second walk finds the exact score; the others get 0.
    """
    k_max = index.shape[1]
    for i in prange(score.shape[0]):
        row = first + i
        state = np.zeros((PLANES + 2, WORDS), np.uint64)
        for k in range(k_max):
            count_and_compare(bits, index[row, k], masks, 0 if tied[row, k] else k + 1, state)
        for labelling in range(score.shape[1]):
            word, bit = labelling >> 6, np.uint64(labelling & 63)
            own = np.int64((bits[row, word] >> bit) & np.uint64(1))
            best = 0.0
            if (state[FEW + own, word] >> bit) & np.uint64(1):
                same = 0
                for k in range(k_max):
                    same += np.int64((bits[index[row, k], word] >> bit) & np.uint64(1)) == own
                    if same >= bounds[own, k + 1] and not tied[row, k]:
                        best = max(best, tables[own, k + 1, same])
            score[i, labelling] = best


def crossing_masks(bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Masks of `count_and_compare` after K neighbours, none marked at K = 0; bounds is (2, k_max + 1).

    Enough reference neighbours for the tail are the same as few current ones: fewer than K + 1 - bound.
    """
    k = np.arange(bounds.shape[1])
    enough = np.where(bounds[1] <= k, bounds[1], MOST + 1)
    few = np.maximum(k + 1 - bounds[0], 0)
    enough[0], few[0] = MOST + 1, 0
    return bound_masks(few, enough)


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
