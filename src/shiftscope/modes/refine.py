"""Mode by mode: localise, equalise in the subspace found, and again until the subspace settles (paper 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.features import columns_of
from shiftscope.full_space.equalise import Equalisation
from shiftscope.full_space.neighbours import neighbours
from shiftscope.full_space.score import usable_k_max
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.job import Job
from shiftscope.modes.density_peaks import partition
from shiftscope.modes.localise import localise
from shiftscope.modes.mode import Settled


def refine(job: Job, removed: NDArray[np.intp], p_values: tuple[float, float]) -> Iterator[Settled]:
    """Turn the pruned rows of the full space into settled modes, one at a time, largest start first.

    Parameters
    ----------
    job : Job
    removed : intp array
        Pool positions pruned in the full space, both sides.
    p_values : (float, float)
        Calibrated p-value of the reference and of the current side: what each mode is founded on.
    """
    starts, told = _starts(job, removed), job.stage("refine")
    found: list[Settled] = []
    for number, rows in enumerate(starts):
        mode = settle(job, rows, p_values[int(job.is_current[rows[0]])])
        told((number + 1) / len(starts))
        if mode is not None and not any(same_mode(mode, other, job.params.modes.same_rows) for other in found):
            found.append(mode)
            yield mode


def settle(job: Job, rows: NDArray[np.intp], p_value: float) -> Settled | None:
    """Follow one mode from its first rows to a subspace that reproduces itself; None if it dissolves.

    A mode dissolves when the subspace it points to shows no excess on its side.
    """
    points, is_current, groups = job.points, job.is_current, job.groups
    side = bool(is_current[rows[0]])
    target = is_current == side
    best: Settled | None = None
    seen: set[frozenset[int]] = set()
    for _ in range(job.params.max_iterations):
        query = np.zeros(len(points), dtype=np.bool_)
        query[rows] = True
        found = localise(points, target, query, job.params.localise, groups=groups, random_state=job.random_state)
        features = frozenset(found.features)
        if best is not None and features == frozenset(best.features):
            return replace(best, features=found.features, localisation=found, settled=True)
        if features in seen:
            break
        seen.add(features)
        subspace = np.ascontiguousarray(points[:, columns_of(groups, sorted(found.features))])
        pruned = prune_around(job, subspace, is_current, rows)
        if pruned.size < job.params.modes.least_rows:
            break
        rows = same_cluster(subspace, pruned, rows)
        best = Settled(side, found.features, rows, False, found, p_value, "full space")
    return best


def prune_around(
    job: Job, points: NDArray[np.float64], is_current: NDArray[np.bool_], rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Equalise the neighbourhood of a mode in its subspace, on the mode's side only (paper 2.2, restricted).

    Only points among the K_M neighbours of the mode's rows can owe their score to it, so only these are scored, with
    neighbours from the whole pool. The most extreme ones are pruned, each with its neighbours before the first of the
    other sample, until no score is larger than the exact null allows once among so many points.

    Parameters
    ----------
    job : Job
    points : (n, m) float64
        The pool, or what is left of it, in the subspace.
    is_current : (n,) bool
    rows : intp array
        Positions in `points` of the mode's rows.

    Returns
    -------
    intp array
        Positions in `points` of the pruned rows.
    """
    params, side = job.params.modes, is_current[rows[0]]
    anchors = rows[:: -(-rows.size // params.pruning_anchors)]
    k_max = usable_k_max(job.k_max, len(points))
    near = np.union1d(neighbours(points, k_max, queries=anchors, engine=job.engine).index, rows)
    graph = ShrinkingGraph(points, is_current, job.k_max, job.engine, rows=near[is_current[near] == side])
    nulls = graph.nulls()
    own = nulls.current if side else nulls.reference
    highest = own.threshold(1.0 / max(2, graph.rows.size))
    while graph.size(side) > params.least_rows:
        living = graph.living()
        scores = graph.scores(living, nulls)
        above = np.flatnonzero(scores >= highest)
        if above.size == 0:
            break
        order = above[np.argsort(-scores[above], kind="stable")]
        for point in living[order[: max(1, above.size // params.pruning_steps)]]:
            if graph.alive[point]:
                graph.remove(graph.excess_neighbourhood(int(point)))
    return np.flatnonzero(~graph.alive)


def pruned_positions(done: Equalisation, is_current: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pool positions of the rows an equalisation removed, in order of removal within each side."""
    reference, current = np.flatnonzero(~is_current), np.flatnonzero(is_current)
    return np.concatenate([reference[done.removed_reference], current[done.removed_current]])


def same_mode(one: Settled, other: Settled, share: float) -> bool:
    """Modes of one side that have a feature and this share of the smaller one's rows in common are one mode."""
    if one.is_current != other.is_current or not set(one.features) & set(other.features):
        return False
    shared = np.intersect1d(one.rows, other.rows).size
    return shared >= share * min(one.rows.size, other.rows.size)


def _starts(job: Job, removed: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Density-peak clusters of either side's pruned rows, largest first."""
    starts: list[NDArray[np.intp]] = []
    least = job.params.modes.least_rows
    for side in (False, True):
        own = removed[job.is_current[removed] == side]
        if own.size >= least:
            clusters = _clusters(job.points, own)
            starts += [rows for rows in clusters if rows.size >= least][: job.params.max_modes]
    return sorted(starts, key=len, reverse=True)


def _clusters(points: NDArray[np.float64], rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    labels = partition(points[rows]).labels
    return sorted((rows[labels == label] for label in np.unique(labels)), key=len, reverse=True)


def same_cluster(points: NDArray[np.float64], pruned: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of the clusters pruned in the subspace, the one that holds most of the mode's former rows."""
    clusters = _clusters(points, pruned)
    return max(clusters, key=lambda cluster: (np.intersect1d(cluster, rows).size, cluster.size))
