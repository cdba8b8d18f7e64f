"""Largest errors of score, null and symmetry against brute force.

    python -m validation.exactness

Score: every row of both samples against sorted distances and scipy's binomial tail. Null: survival function against the
enumeration of all 2^K membership sequences. Symmetry: scores after swapping the samples.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import binom

import shiftscope as ss


def main() -> None:
    """Print the three errors."""
    print(f"score against brute force  {score_error():.1e}")
    print(f"null against enumeration   {null_error():.1e}")
    print(f"symmetry under swapping    {symmetry_error():.1e}")


def score_error(seed: int = 0) -> float:
    """Largest score error over samples of several sizes and dimensions."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for n_reference, n_current, d, k_max in ((60, 60, 2, 30), (150, 40, 5, 60), (40, 200, 20, 100), (80, 80, 50, 159)):
        reference, current = rng.standard_normal((n_reference, d)), rng.standard_normal((n_current, d)) * 1.2
        scores = ss.score(reference, current, k_max)
        truth = brute_force(reference, current, k_max)
        worst = max(worst, float(np.abs(np.concatenate([scores.reference, scores.current]) - truth).max()))
    return worst


def brute_force(reference: np.ndarray, current: np.ndarray, k_max: int) -> np.ndarray:
    """Scores of all pooled rows from the definition in the paper, section 2.1."""
    pool = np.vstack([reference, current])
    pool = (pool - pool.mean(axis=0)) / pool.std(axis=0)
    label = np.arange(len(pool)) >= len(reference)
    k = np.arange(1, k_max + 1)
    scores = np.empty(len(pool))
    for i, point in enumerate(pool):
        distance = np.sum((pool - point) ** 2, axis=1)
        distance[i] = np.inf
        same = np.cumsum(label[np.argsort(distance, kind="stable")[:k_max]] == label[i])
        scores[i] = np.max(-binom.logsf(same - 1, k, np.mean(label == label[i])))
    return scores


def null_error() -> float:
    """Largest error of P(S >= t) over all attainable t, K <= 14 and several p."""
    worst = 0.0
    for k_max in (1, 2, 5, 10, 14):
        for p in (0.05, 0.3, 0.5, 0.9):
            null = ss.ScoreNull(k_max, p)
            scores, probability = enumerate_null(k_max, p)
            levels = np.unique(scores)
            truth = np.array([probability[scores >= level].sum() for level in levels])
            worst = max(worst, float(np.abs(null.sf(levels) - truth).max()))
    return worst


def enumerate_null(k_max: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Score and probability of each of the 2^k_max membership sequences."""
    sequences = np.array(list(product((0, 1), repeat=k_max)))
    counts = np.cumsum(sequences, axis=1)
    evidence = ss.ScoreNull(k_max, p).table
    scores = evidence[np.arange(1, k_max + 1), counts].max(axis=1)
    successes = counts[:, -1]
    return scores, p**successes * (1 - p) ** (k_max - successes)


def symmetry_error(seed: int = 1) -> float:
    """Largest difference between the scores of a pair and of the swapped pair."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for d in (1, 4, 30):
        reference, current = rng.standard_normal((300, d)), rng.standard_normal((170, d))
        one, other = ss.score(reference, current, 100), ss.score(current, reference, 100)
        worst = max(worst, float(np.abs(one.current - other.reference).max()))
        worst = max(worst, float(np.abs(one.reference - other.current).max()))
    return worst


if __name__ == "__main__":
    main()
