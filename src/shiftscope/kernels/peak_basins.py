"""Kernels of the density-peak partition: adaptive neighbourhoods, peaks, basins and borders.

All of them walk once over the neighbour lists, O(n k). Lists hold the nearest point first and never the point
itself, so the k-th neighbour of point i is ``index[i, k - 1]``, at distance ``exp(log_radius[i, k - 1])``.
`rank` is the place of a point in the order of decreasing density: a smaller rank is a denser point, and no
two points share a rank.
"""

from __future__ import annotations

import numpy as np

from shiftscope.kernels.compiling import njit

SMALLEST_K = 3  # the test of equal densities starts here: fewer neighbours carry no evidence
NONE = -1


@njit(cache=True)
def adaptive_k(index, log_radius, dimension, threshold):  # type: ignore[no-untyped-def]
    """Smallest k at which the density around a point stops being that around its (k+1)-th neighbour.

    With V = omega r^d the volume that holds k neighbours, the log-likelihood ratio of "two densities" against
    "one density" is D_k = -2k [log V_i + log V_j - 2 log(V_i + V_j) + log 4]. In log radii this is
    D_k = 4k log cosh(d (log r_i - log r_j) / 2), which neither over- nor underflows.

    Parameters
    ----------
    index : (n, k_max) int32
        Neighbour lists.
    log_radius : (n, k_max) float64
        Logarithms of the distances to them.
    dimension, threshold : float
        Intrinsic dimension d, and the D_k above which the densities differ.

    Returns
    -------
    (n,) intp
        Between `SMALLEST_K` and k_max - 1, which stands for "never differed".
    """
    n, k_max = index.shape
    k_star = np.empty(n, dtype=np.intp)
    for i in range(n):
        k = SMALLEST_K
        while k < k_max - 1:
            gap = 0.5 * dimension * abs(log_radius[i, k - 1] - log_radius[index[i, k], k - 1])
            log_cosh = gap + np.log1p(np.exp(-2.0 * gap)) - np.log(2.0)
            if 4.0 * k * log_cosh > threshold:
                break
            k += 1
        k_star[i] = k
    return k_star


@njit(cache=True)
def find_peaks(index, k_star, rank):  # type: ignore[no-untyped-def]
    """Local maxima of the density: points that share a neighbourhood with no denser point.

    Two points share a neighbourhood when either counts the other among its k* neighbours.

    Returns
    -------
    peak : (n,) bool
        The local maxima.
    host : (n,) intp
        The densest point that counts the point among its neighbours and is denser than it; -1 without one.
    """
    n = rank.size
    peak = np.ones(n, dtype=np.bool_)
    host = np.full(n, NONE, dtype=np.intp)
    for i in range(n):
        for column in range(k_star[i]):
            j = index[i, column]
            if rank[j] < rank[i]:
                peak[i] = False
            else:
                peak[j] = False
                if host[j] == NONE or rank[i] < rank[host[j]]:
                    host[j] = i
    return peak, host


@njit(cache=True)
def fill_basins(index, order, peak, host):  # type: ignore[no-untyped-def]
    """Assign every point to a peak: in order of density, each follows its nearest assigned neighbour.

    Peaks are assigned to themselves beforehand, so a point may follow a peak less dense than itself when that
    peak is nearer than any denser point. A point whose list holds nobody assigned has no denser neighbour; as
    it is no peak, it has a host, which is denser and hence assigned.

    Parameters
    ----------
    index : (n, k_max) int32
    order : (n,) intp
        Positions from the densest point to the least dense.
    peak, host : (n,) bool, (n,) intp
        From `find_peaks`.

    Returns
    -------
    (n,) intp
        Number of the peak that each point belongs to; peaks are numbered from the densest, 0.
    """
    n, k_max = index.shape
    basin = np.full(n, NONE, dtype=np.intp)
    count = 0
    for i in order:
        if peak[i]:
            basin[i] = count
            count += 1
    for i in order:
        column = 0
        while basin[i] == NONE and column < k_max:
            basin[i] = basin[index[i, column]]
            column += 1
        if basin[i] == NONE:
            basin[i] = basin[host[i]]
    return basin


@njit(cache=True)
def find_borders(index, k_star, basin, peak):  # type: ignore[no-untyped-def]
    """Border points of the basins, and the basin that each of them faces.

    Point p is a border point when the nearest of its k* neighbours that lies in another basin, q, has no
    member of p's basin nearer to it than p (as far as the list of q reaches). Peaks are no border points.

    Returns
    -------
    (n,) intp
        Number of the basin that the border point faces; -1 for all other points.
    """
    n, k_max = index.shape
    facing = np.full(n, NONE, dtype=np.intp)
    for p in range(n):
        column = 0
        while column < k_star[p] and basin[index[p, column]] == basin[p]:
            column += 1
        if peak[p] or column == k_star[p]:
            continue
        q = index[p, column]
        column = 0
        while column < k_max and basin[index[q, column]] != basin[p]:
            column += 1
        if column == k_max or index[q, column] == p:
            facing[p] = basin[q]
    return facing
