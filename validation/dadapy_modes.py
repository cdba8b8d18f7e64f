"""Frozen numbers of dadapy 0.3.4 for the density-peak partition: `dadapy_modes.npz`.

dadapy needs old packages (numpy < 2, jax), so it gets an environment of its own:

    python3.11 -m venv dadapy-env
    dadapy-env/bin/pip install "dadapy==0.3.4"
    dadapy-env/bin/python validation/dadapy_modes.py

The points come from `RandomState` seeds, whose streams NumPy has frozen; `digest` (their SHA-256 on a grid of
2^-20) is kept to prove it. tests/modes/test_density_peaks.py makes them again and compares k*, log-densities (1e-6),
dimension, peaks and partition.

What is run: 2-NN dimension (`compute_id_2NN`, its defaults: no decimation, least squares on the smaller 90 % of
the ratios; deterministic), k* and density (`compute_density_kstarNN`, alpha = 1e-6, maxk = 100), clusters
(`compute_clustering_ADP`, Z = 2.65, halo=False).

Where dadapy 0.3.4 is broken
----------------------------
1. Random labels (dadapy's issue 165). Its compiled clustering, v1 and v2 alike, writes the two halves of its
   table of demoted peaks ("this one is no peak, it follows that denser point") into different rows. A demoted
   peak that has nobody assigned in its whole list is then sent to a wrong point, an exception is raised, or it
   stays without a cluster and its label is whatever was in memory (`np.empty`). The pure Python twin,
   `compute_clustering_ADP_pure_python`, keeps the rows together and is right. k*-NN densities did not enter that
   branch in any data set tried, so here all four paths are run twice and must agree; PAk densities do enter it.
   The data set `demoted` (PAk, maxk = 10) is one: its labels are those of the pure Python path, and the points
   that the compiled path leaves without a cluster are counted in `demoted/random_labels`.
2. Ties. Two points that are each other's k*-th neighbour, for the same k*, have exactly the same density. When
   nobody around is denser, both become peaks; and as peaks are never border points, such a pair may have no
   saddle and is then never merged, whatever Z. shiftscope breaks the tie by position, so that one of them is the
   peak and the other may be a border point. The data set `heavy_tails` holds such a pair: there dadapy's
   partition is finer, in the one mode that holds the pair.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

FROZEN = Path(__file__).with_name("dadapy_modes.npz")
Z = 2.65
MAXK = 100
DEMOTED_MAXK = 10
DEMOTED_Z = 1.0


def separated() -> np.ndarray:
    """Four round clusters in the plane, far apart: 3,000 points."""
    random = np.random.RandomState(1)
    centres = np.array([[0.0, 0.0], [9.0, 1.0], [1.0, 9.0], [10.0, 10.0]])
    return centres[np.arange(3000) % 4] + random.standard_normal((3000, 2))


def touching() -> np.ndarray:
    """Three clusters in space, 3.6 standard deviations apart: 6,000 points."""
    random = np.random.RandomState(2)
    centres = 3.6 * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    return centres[np.arange(6000) % 3] + random.standard_normal((6000, 3))


def unequal() -> np.ndarray:
    """A broad cluster with a small dense one inside and a thin one outside: 4,000 points in the plane."""
    random = np.random.RandomState(3)
    points = random.standard_normal((4000, 2))
    points[:2400] *= 3.0
    points[2400:3600] = 0.15 * points[2400:3600] + np.array([7.0, 0.0])
    points[3600:] = 0.8 * points[3600:] + np.array([-12.0, 4.0])
    return points


def ten_dimensions() -> np.ndarray:
    """Five clusters of unequal size and width in ten dimensions, two of them touching: 10,000 points."""
    random = np.random.RandomState(4)
    centres = 2.5 * random.standard_normal((5, 10))
    centres[4] = centres[3] + 1.2
    widths = np.array([0.6, 1.0, 1.4, 0.8, 0.8])
    member = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 4])[np.arange(10_000) % 10]
    return centres[member] + widths[member, None] * random.standard_normal((10_000, 10))


def curved() -> np.ndarray:
    """Two interleaved half circles and a ring around both: 4,000 points in the plane."""
    random = np.random.RandomState(5)
    circle = random.standard_normal((4000, 2))
    circle /= np.sqrt(circle[:, :1] ** 2 + circle[:, 1:] ** 2)
    shape = np.arange(4000) % 4
    upper, lower, ring = shape == 0, shape == 1, shape >= 2
    circle[upper, 1] = np.abs(circle[upper, 1])
    circle[lower] = np.array([1.0, 0.5]) + circle[lower] * np.array([1.0, -1.0]) * np.sign(circle[lower, 1:])
    circle[ring] = np.array([0.5, 0.25]) + 4.0 * circle[ring]
    return circle + 0.08 * random.standard_normal((4000, 2))


def heavy_tails() -> np.ndarray:
    """Eight clusters with far outliers in 20 dimensions: 2,000 points; holds tied peaks."""
    random = np.random.RandomState(56)
    centres = 2.0 * random.uniform(-1.0, 1.0, (8, 20))
    widths = random.uniform(0.3, 1.2, 8)
    member = np.arange(2000) % 8
    points = centres[member] + widths[member, None] * random.standard_normal((2000, 20))
    points[:200] *= 1.5 * np.exp(random.standard_normal((200, 1)))
    return points


def demoted() -> np.ndarray:
    """Overlapping clusters in the plane: 2,000 points; short lists and PAk densities lead to demoted peaks."""
    random = np.random.RandomState(7)
    centres = 4.0 * random.uniform(-1.0, 1.0, (6, 2))
    return centres[np.arange(2000) % 6] + random.standard_normal((2000, 2))


KSTAR_SETS: tuple[Callable[[], np.ndarray], ...] = (
    separated,
    touching,
    unequal,
    ten_dimensions,
    curved,
    heavy_tails,
)


def digest(points: np.ndarray) -> str:
    """SHA-256 of the points on a grid of 2^-20, which forgives a last bit of the machine's logarithm."""
    return hashlib.sha256(np.rint(points * 2.0**20).astype("<i8").tobytes()).hexdigest()


def freeze_kstar(make: Callable[[], np.ndarray]) -> dict[str, object]:
    """k*-NN density and clusters; all of dadapy's paths, each run twice, must give the same labels."""
    data = measured(make(), MAXK)
    data.compute_density_kstarNN()
    runs = []
    for cluster in (data.compute_clustering_ADP, data.compute_clustering_ADP_pure_python) * 2:
        for v2 in (False, True):
            poison(data.N)
            runs.append(np.array(cluster(Z=Z, halo=False, v2=v2)))
    if not all(np.array_equal(run, runs[0]) for run in runs):
        raise RuntimeError(f"dadapy disagrees with itself on {make.__name__}")
    return results(data, runs[0])


def freeze_demoted() -> dict[str, object]:
    """PAk density; labels of the pure Python path, and how many points the compiled path leaves unassigned."""
    data = measured(demoted(), DEMOTED_MAXK)
    data.compute_density_PAk()
    data.compute_clustering_ADP(Z=DEMOTED_Z, halo=False)
    random_labels = data.N - sum(len(members) for members in data.cluster_indices)
    labels = np.array(data.compute_clustering_ADP_pure_python(Z=DEMOTED_Z, halo=False))
    return results(data, labels) | {"log_density_error": data.log_den_err, "random_labels": random_labels}


def measured(points: np.ndarray, maxk: int):
    """dadapy's data object with distances and dimension."""
    from dadapy import Data

    data = Data(points, n_jobs=1)
    data.compute_distances(maxk=maxk)
    data.compute_id_2NN()
    return data


def poison(n: int) -> None:
    """Leave freed memory full of -77, so that uninitialised labels cannot look like clusters."""
    for block in [np.full(n, -77, dtype=int) for _ in range(8)]:
        del block


def results(data, labels: np.ndarray) -> dict[str, object]:
    """What is compared, in the smallest types that hold it."""
    return {
        "digest": digest(data.X),
        "intrinsic_dimension": data.intrinsic_dim,
        "k_star": data.kstar.astype(np.uint8),
        "log_density": data.log_den,
        "labels": labels.astype(np.uint8),
        "peaks": np.array(data.cluster_centers, dtype=np.int32),
    }


def main() -> None:
    """Write the frozen file."""
    warnings.simplefilter("ignore")
    frozen = {make.__name__: freeze_kstar(make) for make in KSTAR_SETS} | {"demoted": freeze_demoted()}
    arrays = {f"{name}/{field}": value for name, fields in frozen.items() for field, value in fields.items()}
    np.savez_compressed(FROZEN, **arrays)
    for name, fields in frozen.items():
        print(name, "clusters of", np.bincount(fields["labels"]))
    print("random labels of the compiled path on demoted:", frozen["demoted"]["random_labels"])


if __name__ == "__main__":
    main()
