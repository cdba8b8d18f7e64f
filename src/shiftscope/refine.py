"""Mode by mode: localise, equalise in the subspace found, and again until the subspace settles (paper 2.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Engine
from shiftscope.equalise import Equalisation, EqualiseParams, equalise_graph
from shiftscope.living import LivingGraph
from shiftscope.localise import Localisation, LocaliseParams, localise
from shiftscope.modes import partition

MIN_ROWS = 10  # fewer rows than this carry no subspace: they are left to the full-space equalisation


@dataclass(frozen=True)
class Settled:
    """A mode at the end of its refinement.

    Attributes
    ----------
    is_current : bool
        The sample with the excess.
    features : tuple of int
        Positions of the supporting features, strongest first.
    rows : intp array
        Pool positions of the mode's rows.
    settled : bool
        The last localisation returned the features it was started from.
    localisation : Localisation
    removed : intp array
        Pool positions of everything the equalisation in the final subspace pruned, on either side.
    """

    is_current: bool
    features: tuple[int, ...]
    rows: NDArray[np.intp]
    settled: bool
    localisation: Localisation
    removed: NDArray[np.intp]


def refine(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    removed: NDArray[np.intp],
    equalise_params: EqualiseParams,
    localise_params: LocaliseParams,
    *,
    max_iterations: int,
    max_modes: int,
    random_state: int = 0,
    engine: Engine | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Settled, ...]:
    """Turn the pruned rows of the full space into settled modes.

    Parameters
    ----------
    points : (n, d) float64
        Pooled standardised matrix.
    is_current : (n,) bool
    removed : intp array
        Pool positions pruned in the full space, both sides.
    max_iterations : int
        Most localisations per mode.
    max_modes : int
        Most modes followed per side, largest first.
    """
    starts = _starts(points, is_current, removed, max_modes)
    found: list[Settled] = []
    for number, rows in enumerate(starts):
        mode = settle(
            points,
            is_current,
            rows,
            equalise_params,
            localise_params,
            max_iterations=max_iterations,
            random_state=random_state,
            engine=engine,
        )
        if mode is not None and not any(same_mode(mode, other) for other in found):
            found.append(mode)
        if progress is not None:
            progress((number + 1) / len(starts))
    return tuple(found)


def settle(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    rows: NDArray[np.intp],
    equalise_params: EqualiseParams,
    localise_params: LocaliseParams,
    *,
    max_iterations: int,
    random_state: int = 0,
    engine: Engine | None = None,
) -> Settled | None:
    """Follow one mode from its first rows to a subspace that reproduces itself; None if it dissolves.

    A mode dissolves when the subspace it points to shows no excess on its side.
    """
    side = bool(is_current[rows[0]])
    best: Settled | None = None
    seen: set[frozenset[int]] = set()
    for _ in range(max_iterations):
        found = localise(
            points, is_current == side, _mask(len(points), rows), localise_params, random_state=random_state
        )
        features = frozenset(found.features)
        if features in seen:
            return None if best is None else _reordered(best, found, settled=features == frozenset(best.features))
        seen.add(features)
        columns = np.sort(found.features)
        graph = LivingGraph(np.ascontiguousarray(points[:, columns]), is_current, equalise_params.k_max, engine)
        pruned = pruned_positions(equalise_graph(graph, equalise_params, random_state=random_state), is_current)
        own = pruned[is_current[pruned] == side]
        if own.size < MIN_ROWS:
            return best
        rows = _same_cluster(points[:, columns], own, rows)
        best = Settled(side, found.features, rows, False, found, pruned)
    return best


def pruned_positions(done: Equalisation, is_current: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pool positions of the rows an equalisation removed, in order of removal within each side."""
    reference, current = np.flatnonzero(~is_current), np.flatnonzero(is_current)
    return np.concatenate([reference[done.removed_reference], current[done.removed_current]])


def same_mode(one: Settled, other: Settled) -> bool:
    """Modes of one side that share their subspace and most rows of the smaller one are one mode."""
    if one.is_current != other.is_current or not set(one.features) & set(other.features):
        return False
    shared = np.intersect1d(one.rows, other.rows).size
    return shared >= 0.5 * min(one.rows.size, other.rows.size)


def _starts(
    points: NDArray[np.float64], is_current: NDArray[np.bool_], removed: NDArray[np.intp], max_modes: int
) -> list[NDArray[np.intp]]:
    """Density-peak clusters of either side's pruned rows, largest first."""
    starts: list[NDArray[np.intp]] = []
    for side in (False, True):
        own = removed[is_current[removed] == side]
        if own.size >= MIN_ROWS:
            clusters = _clusters(points, own)
            starts += [rows for rows in clusters if rows.size >= MIN_ROWS][:max_modes]
    return sorted(starts, key=len, reverse=True)


def _clusters(points: NDArray[np.float64], rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    labels = partition(points[rows]).labels
    return sorted((rows[labels == label] for label in np.unique(labels)), key=len, reverse=True)


def _same_cluster(points: NDArray[np.float64], pruned: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of the clusters pruned in the subspace, the one that holds most of the mode's former rows."""
    clusters = _clusters(points, pruned)
    return max(clusters, key=lambda cluster: (np.intersect1d(cluster, rows).size, cluster.size))


def _reordered(mode: Settled, found: Localisation, *, settled: bool) -> Settled:
    """The mode with the feature order of the localisation that confirmed it."""
    if not settled:
        return mode
    return Settled(mode.is_current, found.features, mode.rows, True, found, mode.removed)


def _mask(n: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=np.bool_)
    mask[rows] = True
    return mask
