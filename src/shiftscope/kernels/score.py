"""Kernels of the local evidence: walks along neighbour lists, and the null of their maximum."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray


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

    The list of row r, number lists[i], is walked neighbour by neighbour, dead ones skipped. At each distinct distance the evidence
    tables[label of r, K, number of the first K of the same label] is read; neighbours at equal distance count as one
    step, because their order carries no information. Writes `score` and `scale` (the K that attains it), and
    `complete` = False where the list ended before K_M living neighbours were seen.
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
    last: int,
    index: NDArray[np.int32],
    tied: NDArray[np.bool_],
    lanes: NDArray[np.uint8],
    bounds: NDArray[np.int16],
    tables: NDArray[np.float64],
    score: NDArray[np.float64],
) -> None:
    """Tail scores of rows first..last under many labellings at once (method: permutations on the fixed graph).

    lanes[r, l] is the label of row r in labelling l. All labellings of a row are walked together, only asking whether
    the count of neighbours of its own label ever reaches `bounds[label, K]`, the smallest count whose evidence lies in
    the tail. For the few that do, the exact score is found by a second walk; the others get 0.
    """
    k_max = index.shape[1]
    n_lanes = lanes.shape[1]
    for row in prange(first, last):
        count = np.zeros(n_lanes, np.int16)
        crossed = np.zeros(n_lanes, np.uint8)  # bit 0: as reference, bit 1: as current
        for k in range(k_max):
            neighbour = index[row, k]
            if tied[row, k]:
                for lane in range(n_lanes):
                    count[lane] += lanes[neighbour, lane]
            else:
                few = np.int16(k + 1 - bounds[0, k + 1])
                many = bounds[1, k + 1]
                for lane in range(n_lanes):
                    count[lane] += lanes[neighbour, lane]
                    crossed[lane] |= np.uint8(count[lane] <= few) | (np.uint8(count[lane] >= many) << 1)
        for lane in range(n_lanes):
            own = lanes[row, lane]
            score[row, lane] = 0.0
            if (crossed[lane] >> own) & 1:
                same = 0
                best = 0.0
                for k in range(k_max):
                    same += lanes[index[row, k], lane] == own
                    if not tied[row, k]:
                        best = max(best, tables[own, k + 1, same])
                score[row, lane] = best


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
