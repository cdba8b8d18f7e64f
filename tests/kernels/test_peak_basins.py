from __future__ import annotations

import math

import numpy as np
import pytest

from shiftscope.full_space.neighbours import neighbours, pair_distances
from shiftscope.kernels.peak_basins import adaptive_k, fill_basins, find_borders, find_peaks
from shiftscope.modes.density_peaks import DENSITY_TEST


def adaptive_k_twin(index, distance, dimension, threshold):
    k_star = []
    for i in range(len(index)):
        k = 3
        while k < len(index[i]) - 1:
            volume_i = distance[i][k - 1] ** dimension
            volume_j = distance[index[i][k]][k - 1] ** dimension
            one = 2 * k * math.log(2 * k / (volume_i + volume_j))
            two = k * math.log(k / volume_i) + k * math.log(k / volume_j)
            if 2 * (two - one) > threshold:
                break
            k += 1
        k_star.append(k)
    return k_star


def find_peaks_twin(index, k_star, rank):
    near = [set(row[:k].tolist()) for row, k in zip(index, k_star, strict=True)]
    points = range(len(rank))
    denser = [[j for j in points if rank[j] < rank[i]] for i in points]
    peak = [not any(j in near[i] or i in near[j] for j in denser[i]) for i in points]
    host = [min((j for j in denser[i] if i in near[j]), key=lambda j: rank[j], default=-1) for i in points]
    return peak, host


def fill_basins_twin(index, rank, peak, host):
    peaks = sorted(np.flatnonzero(peak), key=lambda i: rank[i])

    def basin(i):
        if peak[i]:
            return peaks.index(i)
        leaders = [j for j in index[i] if peak[j] or rank[j] < rank[i]]
        return basin(leaders[0] if leaders else host[i])

    return [basin(i) for i in range(len(rank))]


def find_borders_twin(index, k_star, basin, peak):
    facing = []
    for p in range(len(basin)):
        outside = [q for q in index[p][: k_star[p]] if basin[q] != basin[p]]
        is_border = False
        if outside and not peak[p]:
            inside = [r for r in index[outside[0]] if basin[r] == basin[p]]
            is_border = not inside or inside[0] == p
        facing.append(basin[outside[0]] if is_border else -1)
    return facing


@pytest.fixture(scope="module", params=range(4))
def graph(request):
    """Lists of 150 points with an arbitrary density order and arbitrary k*, which reach every branch."""
    rng = np.random.default_rng(request.param)
    points = rng.standard_normal((150, 2)) * np.exp(rng.standard_normal((150, 1)))
    index = neighbours(points, 9).index
    order = rng.permutation(150)
    rank = np.argsort(order)
    return points, index, rng.integers(3, 9, 150), order, rank


def test_adaptive_k_is_its_twin(graph):
    points, index, *_ = graph
    distance = pair_distances(points, index)
    for threshold in (1.0, 5.0, DENSITY_TEST):
        found = adaptive_k(index, np.log(distance), 2.3, threshold)
        np.testing.assert_array_equal(found, adaptive_k_twin(index, distance, 2.3, threshold))


def test_peaks_basins_and_borders_are_their_twins(graph):
    _, index, k_star, order, rank = graph
    peak, host = find_peaks(index, k_star, rank)
    twin_peak, twin_host = find_peaks_twin(index, k_star, rank)
    np.testing.assert_array_equal(peak, twin_peak)
    np.testing.assert_array_equal(host, twin_host)
    basin = fill_basins(index, order, peak, host)
    np.testing.assert_array_equal(basin, fill_basins_twin(index, rank, peak, host))
    facing = find_borders(index, k_star, basin, peak)
    np.testing.assert_array_equal(facing, find_borders_twin(index, k_star, basin, peak))
    assert (facing >= 0).any()


def test_point_without_assigned_neighbours_follows_its_host():
    index = np.array([[1, 2], [0, 2], [3, 4], [2, 4], [3, 2]], dtype=np.int32)
    peak = np.array([True, False, False, False, False])
    host = np.array([-1, -1, 0, -1, -1])
    basin = fill_basins(index, np.array([0, 2, 1, 3, 4]), peak, host)
    np.testing.assert_array_equal(basin, [0, 0, 0, 0, 0])
