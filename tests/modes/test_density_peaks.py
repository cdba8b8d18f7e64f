"""Density-peak partition: kernels against slow twins, known truth, invariants, edge cases, dadapy's numbers."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from shiftscope.errors import InputError, ParameterError
from shiftscope.full_space.neighbours import neighbours
from shiftscope.modes.density_peaks import DENSITY_TEST, MIN_POINTS, Partition, _density_peaks, _merge, partition

VALIDATION = Path(__file__).parents[2] / "validation" / "dadapy_modes.py"


def load_validation():
    spec = importlib.util.spec_from_file_location("dadapy_modes", VALIDATION)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


dadapy_modes = load_validation()


def same_partition(a, b):
    """The same groups under other names: a one-to-one map between the labels."""
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


def three_clusters(seed, n=900, d=3, gap=8.0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    points = rng.standard_normal((n, d))
    points[truth == 1, 0] += gap
    points[truth == 2, 1] += gap
    return points, truth


# --- merging against a slow twin ----------------------------------------------------------------------------


def merge_twin(peaks, pairs, saddle, log_density, error, z):
    saddles = {frozenset(pair): s for pair, s in zip(pairs.tolist(), saddle, strict=True)}
    merged = list(range(len(peaks)))

    def margin(c, s):
        return (log_density[peaks[c]] - log_density[s]) / (error[peaks[c]] + error[s])

    while True:
        weak = [(pair, s) for pair, s in saddles.items() if min(margin(c, s) for c in pair) < z]
        if not weak:
            return merged
        pair, s = max(weak, key=lambda item: log_density[item[1]])
        kept = max(pair, key=lambda c: margin(c, s))
        lost = next(c for c in pair if c != kept)
        merged = [kept if c == lost else c for c in merged]
        renamed: dict[frozenset[int], int] = {}
        for other, height in saddles.items():
            new = frozenset(kept if c == lost else c for c in other)
            if len(new) == 2 and (new not in renamed or log_density[height] > log_density[renamed[new]]):
                renamed[new] = height
        saddles = renamed


def test_threshold_is_the_one_in_a_million_quantile():
    assert chi2.isf(1e-6, 1) == pytest.approx(DENSITY_TEST, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_merging_is_its_twin(seed):
    rng = np.random.default_rng(seed)
    basins = 12
    pairs = np.array([(a, b) for a in range(basins) for b in range(a) if rng.random() < 0.4])
    log_density = np.concatenate([3 + rng.random(basins), 3 * rng.random(len(pairs))])
    error = rng.uniform(0.1, 0.5, log_density.size)
    peaks, saddle = np.arange(basins), basins + np.arange(len(pairs))
    groups = set()
    for z in (0.5, 1.5, 3.0, 20.0):
        found = _merge(peaks, pairs, saddle, log_density, error, z)
        assert found.tolist() == merge_twin(peaks, pairs, saddle, log_density, error, z)
        groups.add(len(set(found.tolist())))
    assert len(groups) > 1


# --- known truth -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 5, 10])
@pytest.mark.parametrize("seed", range(3))
def test_three_clusters_are_three_modes(seed, d):
    points, truth = three_clusters(seed, d=d)
    found = partition(points)
    assert len(found.peaks) == 3
    named = truth[found.peaks][found.labels]
    assert (named == truth).mean() > 0.99


@pytest.mark.parametrize(("n", "d"), [(400, 2), (600, 5), (300, 20)])
def test_one_gaussian_is_one_mode(n, d):
    """Negative control: a split of a single Gaussian is rarer than 5 %."""
    seeds = 15
    splits = sum(len(partition(np.random.default_rng(s).standard_normal((n, d))).peaks) > 1 for s in range(seeds))
    assert splits <= binom.isf(1e-3, seeds, 0.05)


def test_dimension_of_a_plane_in_space():
    flat = np.random.default_rng(0).uniform(size=(2000, 2))
    space = flat @ np.array([[1.0, 0.5, -1.0], [0.0, 1.0, 1.0]])
    # The 2-NN estimate has a relative standard error of about 1 / sqrt(n).
    assert partition(space).intrinsic_dimension == pytest.approx(2, abs=4 * 2 / math.sqrt(2000))


def test_log_density_is_its_definition():
    points, _ = three_clusters(1, n=300, d=2)
    found = partition(points)
    omega = math.pi ** (found.intrinsic_dimension / 2) / math.gamma(found.intrinsic_dimension / 2 + 1)
    for i, k in enumerate(found.k_star):
        radius = sorted(math.dist(points[i], other) for other in points)[k]  # the point itself comes first
        density = k / (300 * omega * radius**found.intrinsic_dimension)
        assert found.log_density[i] == pytest.approx(math.log(density), abs=1e-9)
    np.testing.assert_allclose(found.log_density_error, 1 / np.sqrt(found.k_star))


# --- invariants --------------------------------------------------------------------------------------------


def test_permuting_rows_permutes_the_partition():
    points, _ = three_clusters(5, gap=4.0)
    shuffle = np.random.default_rng(0).permutation(len(points))
    plain, shuffled = partition(points), partition(points[shuffle])
    np.testing.assert_array_equal(shuffled.labels, plain.labels[shuffle])
    np.testing.assert_array_equal(shuffle[shuffled.peaks], plain.peaks)
    np.testing.assert_array_equal(shuffled.k_star, plain.k_star[shuffle])
    np.testing.assert_allclose(shuffled.log_density, plain.log_density[shuffle], rtol=1e-9)


def test_rotation_shift_and_scale_leave_the_partition():
    points, _ = three_clusters(6, gap=4.0)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))
    plain, moved = partition(points), partition(7.3 * points @ rotation + 11.0)
    np.testing.assert_array_equal(moved.labels, plain.labels)
    np.testing.assert_array_equal(moved.k_star, plain.k_star)
    assert moved.intrinsic_dimension == pytest.approx(plain.intrinsic_dimension)
    shift = plain.intrinsic_dimension * math.log(7.3)
    np.testing.assert_allclose(moved.log_density, plain.log_density - shift, atol=1e-8)


def test_larger_z_gives_coarser_partitions():
    points, _ = three_clusters(7, d=6, gap=3.0)
    counts = [len(partition(points, z=z).peaks) for z in (0.0, 1.0, 2.65, 50.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[1] > counts[-1] == 1


def assert_sound(found: Partition, n: int) -> None:
    """What holds for any input whatever: finite densities, labels without gaps, own peaks, densest first."""
    assert found.labels.shape == found.log_density.shape == found.k_star.shape == (n,)
    assert np.isfinite(found.log_density).all()
    assert np.isfinite(found.log_density_error).all()
    assert math.isfinite(found.intrinsic_dimension)
    assert found.intrinsic_dimension > 0
    modes = np.arange(len(found.peaks))
    np.testing.assert_array_equal(np.unique(found.labels), modes)
    np.testing.assert_array_equal(found.labels[found.peaks], modes)
    assert (np.diff(found.log_density[found.peaks]) <= 0).all()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    n=st.integers(0, 60),
    d=st.integers(1, 4),
    levels=st.sampled_from([1, 2, 5, 1000]),
    scale=st.sampled_from([1e-150, 1.0, 1e150]),
    k_max=st.integers(4, 80),
    seed=st.integers(0, 2**31),
)
def test_any_table_has_a_sound_partition(n, d, levels, scale, k_max, seed):
    points = scale * np.random.default_rng(seed).integers(0, levels, (n, d))
    assert_sound(partition(points, k_max=k_max), n)


# --- edge cases --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(MIN_POINTS))
def test_few_points_are_one_mode(n):
    points = np.random.default_rng(n).standard_normal((n, 2))
    found = partition(points)
    assert_sound(found, n)
    assert len(found.peaks) == min(n, 1)
    assert found.intrinsic_dimension == 2.0
    np.testing.assert_array_equal(found.k_star, np.full(n, n - 1))


@pytest.mark.parametrize("n", [1, 2, 12, 300])
def test_identical_points_are_one_mode(n):
    found = partition(np.full((n, 3), 4.2))
    assert_sound(found, n)
    np.testing.assert_array_equal(found.peaks, [0])
    assert found.intrinsic_dimension == 3.0


def test_duplicated_rows_keep_the_dimension_and_stay_together():
    points, truth = three_clusters(8)
    truth = np.repeat(truth, 2)
    single, double = partition(points), partition(np.repeat(points, 2, axis=0))
    assert_sound(double, 2 * len(points))
    assert double.intrinsic_dimension == pytest.approx(single.intrinsic_dimension, rel=0.05)
    np.testing.assert_array_equal(double.labels[::2], double.labels[1::2])
    assert (truth[double.peaks][double.labels] == truth).mean() > 0.99


def test_often_repeated_row_is_a_peak():
    points, _ = three_clusters(9)
    found = partition(np.concatenate([points, np.repeat([[30.0, 30.0, 30.0]], 50, axis=0)]))
    assert_sound(found, 950)
    assert found.peaks[0] >= 900
    assert set(np.flatnonzero(found.labels == 0)) == set(range(900, 950))


def test_zero_distances_count_as_the_resolution_of_the_data():
    points = np.random.default_rng(3).integers(0, 4, (400, 2)) * 0.25
    found, larger = partition(points), partition(8 * points)
    log_omega = found.intrinsic_dimension / 2 * math.log(math.pi) - math.lgamma(found.intrinsic_dimension / 2 + 1)
    log_radius = (np.log(found.k_star / 400) - log_omega - found.log_density) / found.intrinsic_dimension
    assert log_radius.min() == pytest.approx(math.log(0.25))
    np.testing.assert_allclose(larger.log_density, found.log_density - found.intrinsic_dimension * math.log(8))


def test_lattice_has_the_dimension_of_its_space():
    axis = np.arange(20.0)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    found = partition(points)
    assert_sound(found, 400)
    assert found.intrinsic_dimension == pytest.approx(2, abs=0.5)


def test_k_max_beyond_the_points_is_all_other_points():
    points, _ = three_clusters(10, n=60)
    found, same = partition(points, k_max=59), partition(points, k_max=10_000)
    np.testing.assert_array_equal(found.labels, same.labels)
    np.testing.assert_array_equal(found.k_star, same.k_star)
    assert found.k_star.max() <= 58


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros(5), r"points must be a table of at least one column, found shape \(5,\)"),
        (np.zeros((5, 0)), r"points must be a table of at least one column, found shape \(5, 0\)"),
        ([["a"], ["b"]], "points must be a table of numbers, found could not convert string to float"),
        ([[0.0], [np.nan]], "points must be finite, found NaN or infinity"),
    ],
)
def test_bad_points(points, message):
    with pytest.raises(InputError, match=message):
        partition(points)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"z": -1.0}, "z must be a finite number of at least 0, found -1.0"),
        ({"z": math.nan}, "z must be a finite number of at least 0, found nan"),
        ({"k_max": 3}, "k_max must be a whole number of at least 4, found 3"),
        ({"k_max": 9.5}, "k_max must be a whole number of at least 4, found 9.5"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        partition(np.zeros((20, 2)), **parameters)


# --- agreement with dadapy 0.3.4: see validation/dadapy_modes.py ------------------------------------------


@pytest.fixture(scope="module")
def frozen():
    with np.load(dadapy_modes.FROZEN) as arrays:
        return dict(arrays)


def compare_densities(found, frozen, name):
    np.testing.assert_array_equal(found.k_star, frozen[f"{name}/k_star"])
    np.testing.assert_allclose(found.log_density, frozen[f"{name}/log_density"], rtol=0, atol=1e-6)
    assert found.intrinsic_dimension == pytest.approx(float(frozen[f"{name}/intrinsic_dimension"]), abs=1e-6)


@pytest.mark.parametrize("make", dadapy_modes.KSTAR_SETS[:-1], ids=lambda make: make.__name__)
def test_agrees_with_dadapy(make, frozen):
    name, points = make.__name__, make()
    assert dadapy_modes.digest(points) == frozen[f"{name}/digest"]
    found = partition(points, z=dadapy_modes.Z, k_max=dadapy_modes.MAXK)
    compare_densities(found, frozen, name)
    assert len(found.peaks) > 1
    assert same_partition(found.labels, frozen[f"{name}/labels"])
    assert set(found.peaks) == set(frozen[f"{name}/peaks"])


def test_differs_from_dadapy_only_around_tied_peaks(frozen):
    """dadapy keeps two peaks of equal density that are each other's k*-th neighbour; one of them is ours."""
    points = dadapy_modes.heavy_tails()
    assert dadapy_modes.digest(points) == frozen["heavy_tails/digest"]
    found = partition(points)
    compare_densities(found, frozen, "heavy_tails")
    theirs, peaks = frozen["heavy_tails/labels"], frozen["heavy_tails/peaks"]
    assert len(set(zip(found.labels, theirs, strict=True))) == len(peaks)  # theirs is finer
    index = neighbours(points, 99).index
    farthest = index[np.arange(2000), found.k_star - 1]
    tied = [p for p in peaks if farthest[p] in peaks and farthest[farthest[p]] == p]
    assert np.ptp(found.log_density[tied]) == 0
    split = np.flatnonzero(np.bincount(found.labels[peaks]) > 1)
    assert set(split) == set(found.labels[tied])


def test_demoted_peaks_follow_their_host_as_in_dadapys_python(frozen):
    """On dadapy's PAk densities its compiled path returns random labels; ours are those of its Python path."""
    points = dadapy_modes.demoted()
    assert dadapy_modes.digest(points) == frozen["demoted/digest"]
    assert frozen["demoted/random_labels"] > 0
    labels, peaks = _density_peaks(
        neighbours(points, dadapy_modes.DEMOTED_MAXK).index,
        frozen["demoted/k_star"].astype(np.intp),
        frozen["demoted/log_density"],
        frozen["demoted/log_density_error"],
        dadapy_modes.DEMOTED_Z,
    )
    assert same_partition(labels, frozen["demoted/labels"])
    assert set(peaks) == set(frozen["demoted/peaks"])
