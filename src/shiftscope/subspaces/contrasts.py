"""Broad shifts: smooth contrasts with few degrees of freedom.

A displacement, a change of spread or a change of dependence moves the mean of low-order polynomials. With v the
normal score of each feature, the terms of a set {a, b, c} are v_a, v_a^2, ..., v_a v_b, ... and v_a v_b v_c: 2,
5 or 10 contrasts, against hundreds of cells in a pooled chi-square. Their label sums are linear, so that each term is
summed once for all sets that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln

from shiftscope.engines.base import Report
from shiftscope.engines.binned_rows import BinnedRows
from shiftscope.engines.term_sums import Terms
from shiftscope.kernels.contrast_sums import squared_lengths, term_moments
from shiftscope.subspaces.all_sets import blocks
from shiftscope.subspaces.families import Family, Lines

TERMS = {1: 2, 2: 5, 3: 10}  # per set of each size
SUMS_AT_ONCE = 1 << 24  # label sums in memory at one time, 12 bytes each
_SETS_A_CALL = 4096  # per call of a kernel: each wakes all threads
COVARIANCE_ROWS = (1024, 4096)  # least and most rows behind the covariance of the terms
_COVARIANCE_WORK = 1e9  # products spent on all covariances of one size
_RANK_TOLERANCE = 1e-6  # of the largest eigenvalue; smaller ones are terms that repeat each other (ties)


def contrast_families(
    rows: BinnedRows, sets: Sequence[Lines], rng: np.random.Generator, told: Report = lambda fraction: None
) -> list[Family]:
    """Evidence of the smooth contrasts of every feature set, under every labelling: one family per set size.

    T^2 = z' C^-1 z (n - 1) / (m (n - m)), z the centred sums of the terms over the m counted rows, C their
    pooled covariance; under random labellings it is close to chi-square with rank(C) degrees of freedom, and the
    evidence is minus the log of that tail. C ignores the labels, so the calibration does not depend on it.

    sets : (s, size) arrays, one per size
    """
    families = []
    total, done = sum(len(line) for line in sets), 0
    for line in sets:
        families.append(_family(rows, line, rng, partial(_told, told, done, len(line), total)))
        done += len(line)
    return families


def _told(told: Report, done: int, now: int, total: int, fraction: float) -> None:
    told((done + fraction * now) / total)


def _family(rows: BinnedRows, sets: Lines, rng: np.random.Generator, told: Report) -> Family:
    """Evidence of the sets of one size, of so many at a time that their sums fit into memory."""
    labellings = rows.labellings
    chosen = _covariance_rows(len(sets) * TERMS[sets.shape[1]], labellings.n_rows, rng)
    codes = np.ascontiguousarray(rows.take(chosen)[0])
    observed, maxima = [], []
    for places in blocks(len(sets), max(1, SUMS_AT_ONCE // labellings.n_labellings)):
        own, largest = _evidence(rows, codes, sets[places])
        observed.append(own)
        maxima.append(largest)
        told(places.stop / len(sets))
    return Family("broad", sets, np.concatenate(observed), np.max(maxima, axis=0), None)


def _evidence(
    rows: BinnedRows, codes: NDArray[np.uint8], sets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Observed evidence of every set, and the largest under every labelling; `codes` are behind the covariances."""
    labellings, tables = rows.labellings, rows.tables
    terms, columns = _terms(sets, tables.n_features)
    sums = rows.term_sums(terms).centred(labellings)
    scale = (labellings.n_rows - 1) / (labellings.counted * (labellings.n_rows - labellings.counted))
    observed, maxima = [], []
    for places in blocks(len(sets), _SETS_A_CALL):
        inside = columns[places]
        whitening, rank = _whitening(*term_moments(codes, tables.scores, terms[inside]))
        squared = scale * squared_lengths(whitening, inside, sums)
        maxima += [
            log_tail(squared[rank == degrees].max(axis=0), np.full(squared.shape[1], degrees))
            for degrees in np.unique(rank)
        ]
        observed.append(log_tail(squared[:, 0], rank))
    return np.concatenate(observed), np.max(maxima, axis=0)


def log_tail(x: NDArray[np.float64], degrees: NDArray[np.intp]) -> NDArray[np.float64]:
    """Minus the log of the chi-square tail beyond `x`, also where the tail itself underflows."""
    half, shape = np.maximum(x, 0.0) / 2, np.maximum(degrees, 1) / 2
    tail = gammaincc(shape, half)
    far = half - (shape - 1) * np.log(np.maximum(half, 1.0)) + gammaln(shape)  # leading term for large x
    far -= np.log1p((shape - 1) / np.maximum(half, 1.0))
    near = -np.log(np.maximum(tail, 1e-290))
    return np.where(degrees == 0, 0.0, np.where(tail > 1e-290, near, far))


def _terms(sets: NDArray[np.int64], d: int) -> tuple[Terms, NDArray[np.intp]]:
    """All different terms, and which of them belong to each set: (t, 3), (s, terms)."""
    wide = _terms_of(sets, d)
    keys = (wide * np.array([(d + 1) ** 2, d + 1, 1])).sum(axis=-1)
    known, index = np.unique(keys.ravel(), return_index=True)
    return wide.reshape(-1, 3)[index], np.searchsorted(known, keys)


def _terms_of(sets: NDArray[np.int64], d: int) -> Terms:
    """Terms of each set: (s, size) -> (s, 2, 5 or 10, 3)."""
    size = sets.shape[1]
    axes: list[tuple[int, ...]] = [(a,) for a in range(size)]
    axes += [(a, a) for a in range(size)]
    axes += combinations(range(size), 2)
    axes += combinations(range(size), 3)
    terms = np.full((len(sets), len(axes), 3), d, np.int64)
    for position, factors in enumerate(axes):
        terms[:, position, : len(factors)] = sets[:, list(factors)]
    return terms


def _covariance_rows(products: int, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A random choice of rows, blind to labels, large enough for the covariance of the terms."""
    least, most = COVARIANCE_ROWS
    size = min(n, int(np.clip(_COVARIANCE_WORK / products, least, most)))
    return np.sort(rng.choice(n, size=size, replace=False))


def _whitening(mean: NDArray[np.float64], squares: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Matrices that make the terms of each set uncorrelated with variance one, and their ranks.

    mean : (s, t) means of the terms, squares : (s, t, t) of their products -> (s, t, t) and (s,)

    The library behind `eigh` has threads, but none for matrices of ten rows.
    """
    eigenvalues, vectors = np.linalg.eigh(squares - mean[:, :, None] * mean[:, None, :])
    kept = eigenvalues > _RANK_TOLERANCE * eigenvalues[:, -1:]
    kept &= eigenvalues > 0
    inverse = np.where(kept, 1 / np.sqrt(np.where(kept, eigenvalues, 1.0)), 0.0)
    return np.ascontiguousarray(inverse[:, :, None] * vectors.transpose(0, 2, 1)), kept.sum(axis=1)
