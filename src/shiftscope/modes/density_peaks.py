"""Density-peak partition: the modes of a set of points (paper, end of section 2 and Supp. "Clustering").

Three published steps, none of which needs a number of clusters or a bandwidth:

1. the intrinsic dimension from two nearest neighbours (Facco et al., Scientific Reports 7, 2017);
2. a density whose neighbourhood is as large as the density is constant (Rodriguez et al., JCTC 14, 2018);
3. peaks of that density, merged when the saddle between them is not significantly lower than both
   (d'Errico et al., Information Sciences 560, 2021).

Every point belongs to a mode: there is no halo.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from shiftscope.errors import InputError, ParameterError, is_number, is_whole
from shiftscope.full_space.neighbours import neighbours, pair_distances
from shiftscope.kernels.peak_basins import adaptive_k, fill_basins, find_borders, find_peaks

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

DEFAULT_Z = 2.65  # paper, Supp. "Clustering": two peaks differ at about 99 % confidence
PEAK_NEIGHBOURS = 100
SMALLEST_K_MAX = 4  # k* = 3 looks at the fourth neighbour
DENSITY_TEST = 23.92812698  # chi-square quantile, one degree of freedom, at 1 - 1e-6
RATIOS_FITTED = 0.9  # the largest ratios are noise (Facco et al.)
MIN_POINTS = 10  # below this no dimension can be fitted and no two peaks can be told apart
TIE = 1e-9  # distances closer than this, relatively, are one distance


@dataclass(frozen=True)
class Partition:
    """Modes of n points in d columns.

    Attributes
    ----------
    labels : (n,) intp
        Mode of each point, 0..m-1; the mode with the densest peak is 0 (equal densities: the first row).
    peaks : (m,) intp
        Position of the density peak of each mode.
    log_density : (n,) float64
        log k* - log n - log omega - D log r, where r is the distance to the k*-th neighbour, D the intrinsic
        dimension and omega the volume of the D-dimensional unit ball.
    log_density_error : (n,) float64
        Its standard error, 1 / sqrt(k*).
    k_star : (n,) intp
        Size of the neighbourhood in which the density is constant, not counting the point itself.
    intrinsic_dimension : float
        D.
    """

    labels: Ints
    peaks: Ints
    log_density: Floats
    log_density_error: Floats
    k_star: Ints
    intrinsic_dimension: float


def partition(points: ArrayLike, *, z: float = DEFAULT_Z, k_max: int = PEAK_NEIGHBOURS) -> Partition:
    """Split points into the modes of their density.

    Two neighbouring peaks a, b with the saddle s between them are one mode when the smaller of
    (log rho_a - log rho_s) / (err_a + err_s) and the same for b is below `z`; the highest saddles are
    judged first, and the peak with the larger of the two ratios stays.

    Parameters
    ----------
    points : (n, d) array
        Finite coordinates on comparable scales.
    z : float
        Peaks stand out of their saddle by at least this many standard errors. Larger values give fewer modes.
    k_max : int
        Length of the neighbour lists, at least 4; k* stays below it. At most n - 1 of them are used.

    Returns
    -------
    Partition

    Notes
    -----
    - Fewer than 10 points are one mode (none for no point), with k* = n - 1 and D = d.
    - Ratios for D are taken between the first two *different positive* distances of each list, so duplicated
      rows and lattices have a dimension too; with fewer than 10 such ratios D = d.
    - A distance of zero counts as the smallest positive distance in all lists, the resolution of the data
      (1 when all points are identical). So densities are finite, and an often repeated row is a sharp peak.
    - Points of equal density are ordered by position.
    """
    table = _checked(points, z, k_max)
    n, columns = table.shape
    if n < MIN_POINTS:
        return _one_mode(table)
    index = neighbours(table, min(int(k_max), n - 1)).index
    distance = pair_distances(table, index)
    dimension = _two_nn_dimension(distance, columns)
    log_radius = _log_radius(distance)
    k_star = adaptive_k(index, log_radius, dimension, DENSITY_TEST)
    log_density, error = _density(log_radius[np.arange(n), k_star - 1], k_star, dimension)
    labels, peaks = _density_peaks(index, k_star, log_density, error, float(z))
    return Partition(labels, peaks, log_density, error, k_star, dimension)


def _checked(points: ArrayLike, z: float, k_max: int) -> Floats:
    try:
        table = np.ascontiguousarray(points, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise InputError(f"points must be a table of numbers, found {fault}: encode it first") from fault
    if table.ndim != 2 or table.shape[1] < 1:
        raise InputError(f"points must be a table of at least one column, found shape {table.shape}: reshape it")
    if not np.isfinite(table).all():
        raise InputError("points must be finite, found NaN or infinity: encode missing values first")
    if not (is_number(z) and 0 <= z <= sys.float_info.max):
        raise ParameterError(f"z must be a finite number of at least 0, found {z!r}: the usual value is {DEFAULT_Z}")
    if not is_whole(k_max, SMALLEST_K_MAX):
        raise ParameterError(
            f"k_max must be a whole number of at least {SMALLEST_K_MAX}, found {k_max!r}: "
            f"the usual value is {PEAK_NEIGHBOURS}"
        )
    return table


def _one_mode(table: Floats) -> Partition:
    """All of a few points as one mode; the density around each is that of the ball that holds them all."""
    n, columns = table.shape
    farthest = np.linalg.norm(table[:, None] - table[None], axis=2).max(axis=1, initial=0.0)
    k_star = np.full(n, n - 1, dtype=np.intp)
    log_density, error = _density(_log_radius(farthest), k_star, float(columns))
    peaks = np.argsort(-log_density, kind="stable")[:1]
    return Partition(np.zeros(n, dtype=np.intp), peaks, log_density, error, k_star, float(columns))


def _two_nn_dimension(distance: Floats, columns: int) -> float:
    """Slope through the origin of -log(1 - F) on log mu, mu = r_2 / r_1, over the smaller 90 % of the ratios.

    On a D-dimensional manifold F(mu) = 1 - mu^-D whatever the density. `distance` (n, k) is ascending in each
    row; r_1 and r_2 are its first two different positive values.
    """
    first = np.where(distance > 0, distance, np.inf).min(axis=1)
    second = np.where(distance > first[:, None] * (1 + TIE), distance, np.inf).min(axis=1)
    usable = np.isfinite(second)
    n = int(usable.sum())
    if n < MIN_POINTS:
        return float(columns)
    fitted = int(n * RATIOS_FITTED)
    log_mu = np.sort(np.log(second[usable]) - np.log(first[usable]))[:fitted]
    log_survival = np.log1p(-np.arange(1, fitted + 1) / n)
    return float(-np.sum(log_mu * log_survival) / np.sum(log_mu * log_mu))


def _log_radius(distance: Floats) -> Floats:
    """Logarithms of distances; zero counts as the smallest positive distance (as 1 when there is none)."""
    positive = distance[distance > 0]
    resolution = positive.min() if positive.size else 1.0
    return np.log(np.maximum(distance, resolution))


def _density(log_radius: Floats, k_star: Ints, dimension: float) -> tuple[Floats, Floats]:
    """Log-density and its error from the log-distance (n,) to the k*-th neighbour; k* = 0 counts as 1."""
    k = np.maximum(k_star, 1)
    log_omega = 0.5 * dimension * np.log(np.pi) - gammaln(0.5 * dimension + 1)
    return np.log(k / k.size) - log_omega - dimension * log_radius, 1 / np.sqrt(k)


def _density_peaks(
    index: NDArray[np.int32], k_star: Ints, log_density: Floats, error: Floats, z: float
) -> tuple[Ints, Ints]:
    """Labels (n,) and peaks (m,): basins of all local maxima, then merged while a saddle is insignificant.

    Points are ordered by log-density minus its error, so that a peak is not made by a few neighbours only.
    """
    order = np.argsort(error - log_density, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    is_peak, host = find_peaks(index, k_star, rank)
    basin = fill_basins(index, order, is_peak, host)
    peaks = order[is_peak[order]]
    facing = find_borders(index, k_star, basin, is_peak)
    border = np.flatnonzero(facing >= 0)
    pairs = np.stack([basin[border], facing[border]], axis=1)
    highest = _first_of_pairs(pairs, rank[border])
    merged = _merge(peaks, pairs[highest], border[highest], log_density, error, z)
    return _numbered(merged[basin], peaks, log_density)


def _merge(peaks: Ints, pairs: Ints, saddle: Ints, log_density: Floats, error: Floats, z: float) -> Ints:
    """Merge basins over insignificant saddles, the highest first.

    Parameters
    ----------
    peaks : (b,) intp
        Peak of each basin.
    pairs : (s, 2) intp
        Basins on both sides of each saddle; each pair occurs once.
    saddle : (s,) intp
        Position of the saddle point.
    log_density, error : (n,) float64
    z : float

    Returns
    -------
    (b,) intp
        The basin that each basin is part of in the end.
    """
    merged = np.arange(peaks.size)
    while True:
        drop = log_density[peaks[pairs]] - log_density[saddle, None]
        margin = drop / (error[peaks[pairs]] + error[saddle, None])
        weak = np.flatnonzero(margin.min(axis=1) < z)
        if weak.size == 0:
            return merged
        worst = weak[np.argmax(log_density[saddle[weak]])]
        kept, lost = pairs[worst] if margin[worst, 0] >= margin[worst, 1] else pairs[worst, ::-1]
        merged[merged == lost] = kept
        pairs = np.where(pairs == lost, kept, pairs)
        touched = (pairs == kept).any(axis=1)
        again = np.flatnonzero(touched)[_first_of_pairs(pairs[touched], -log_density[saddle[touched]])]
        stay = np.sort(np.concatenate([np.flatnonzero(~touched), again]))
        pairs, saddle = pairs[stay], saddle[stay]


def _first_of_pairs(pairs: Ints, key: NDArray[np.generic]) -> Ints:
    """Positions of the smallest `key` of each unordered pair of two different basins."""
    low, high = np.sort(pairs, axis=1).T
    order: Ints = np.lexsort((key, high, low))
    low, high = low[order], high[order]
    new = np.ones(order.size, dtype=np.bool_)
    new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    new &= low != high
    return order[new]


def _numbered(basin: Ints, peaks: Ints, log_density: Floats) -> tuple[Ints, Ints]:
    """Number the remaining basins from the densest peak down: labels (n,) and their peaks (m,)."""
    remaining = np.unique(basin)
    by_density = remaining[np.lexsort((peaks[remaining], -log_density[peaks[remaining]]))]
    number = np.empty(peaks.size, dtype=np.intp)
    number[by_density] = np.arange(by_density.size)
    return number[basin], peaks[by_density]
