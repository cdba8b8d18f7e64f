"""Mode by mode: localise, equalise in the subspace found, and again until the subspace settles (paper 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.features import Groups, columns_of
from shiftscope.engines.base import Engine
from shiftscope.full_space.equalise import Equalisation
from shiftscope.full_space.neighbours import neighbours
from shiftscope.full_space.score import usable_k_max
from shiftscope.full_space.shrinking_graph import LivingGraph
from shiftscope.modes.density_peaks import partition
from shiftscope.modes.localise import Localisation, localise
from shiftscope.params import LocaliseParams

MIN_ROWS = 10  # fewer rows than this carry no subspace: they are left to the full-space equalisation
MAX_ANCHORS = 100  # rows whose neighbourhoods delimit where a mode is looked for
POINTS_PER_STEP = 50  # a step prunes this fraction (1 / ...) of the points still too extreme, at least one


Origin = Literal["scan", "full space"]


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
        The features are confirmed: by a localisation that returned them, or by the scan's calibrated search.
    localisation : Localisation or None
        Weights and curves behind the features; None for a mode that the scan found.
    p_value : float
        Calibrated p-value of the evidence the mode was founded on.
    origin : {"scan", "full space"}
    enough : float
        Share of the effect that would just have been enough to be found; 0 if that is not known.
    broad : bool
        A difference of the features as a whole, not of a compact group of rows.
    counterpart : intp array
        Pool positions of rows that the other sample has instead, where the excess is one of levels; else empty.
    """

    is_current: bool
    features: tuple[int, ...]
    rows: NDArray[np.intp]
    settled: bool
    localisation: Localisation | None
    p_value: float
    origin: Origin
    enough: float = 0.0
    broad: bool = False
    counterpart: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def all_rows(self) -> NDArray[np.intp]:
        """Pool positions of all that is taken away with the mode."""
        return np.concatenate([self.rows, self.counterpart])


def refine(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    removed: NDArray[np.intp],
    p_values: tuple[float, float],
    k_max: int,
    localise_params: LocaliseParams,
    *,
    groups: Groups | None = None,
    max_iterations: int,
    max_modes: int,
    random_state: int = 0,
    engine: Engine | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Settled]:
    """Turn the pruned rows of the full space into settled modes, one at a time, largest start first.

    Parameters
    ----------
    points : (n, D) float64
        Pooled standardised matrix.
    is_current : (n,) bool
    removed : intp array
        Pool positions pruned in the full space, both sides.
    p_values : (float, float)
        Calibrated p-value of the reference and of the current side: what each mode is founded on.
    max_iterations : int
        Most localisations per mode.
    groups : d tuples of int, optional
        The matrix columns of each feature; by default every column is a feature.
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
            p_values[int(is_current[rows[0]])],
            k_max,
            localise_params,
            groups=groups,
            max_iterations=max_iterations,
            random_state=random_state,
            engine=engine,
        )
        if progress is not None:
            progress((number + 1) / len(starts))
        if mode is not None and not any(same_mode(mode, other) for other in found):
            found.append(mode)
            yield mode


def settle(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    rows: NDArray[np.intp],
    p_value: float,
    k_max: int,
    localise_params: LocaliseParams,
    *,
    groups: Groups | None = None,
    max_iterations: int,
    random_state: int = 0,
    engine: Engine | None = None,
) -> Settled | None:
    """Follow one mode from its first rows to a subspace that reproduces itself; None if it dissolves.

    A mode dissolves when the subspace it points to shows no excess on its side.
    """
    groups = groups or tuple((column,) for column in range(points.shape[1]))
    side = bool(is_current[rows[0]])
    target = is_current == side
    best: Settled | None = None
    seen: set[frozenset[int]] = set()
    for _ in range(max_iterations):
        found = localise(
            points, target, _mask(len(points), rows), localise_params, groups=groups, random_state=random_state
        )
        features = frozenset(found.features)
        if best is not None and features == frozenset(best.features):
            return replace(best, features=found.features, localisation=found, settled=True)
        if features in seen:
            break
        seen.add(features)
        subspace = np.ascontiguousarray(points[:, columns_of(groups, sorted(found.features))])
        pruned = prune_around(subspace, is_current, rows, k_max, engine=engine)
        if pruned.size < MIN_ROWS:
            break
        rows = same_cluster(subspace, pruned, rows)
        best = Settled(side, found.features, rows, False, found, p_value, "full space")
    return best


def prune_around(
    points: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    rows: NDArray[np.intp],
    k_max: int,
    *,
    engine: Engine | None = None,
) -> NDArray[np.intp]:
    """Equalise the neighbourhood of a mode in its subspace, on the mode's side only (paper 2.2, restricted).

    Only points among the K_M neighbours of the mode's rows can owe their score to it, so only these are scored, with
    neighbours from the whole pool. The most extreme ones are pruned, each with its neighbours before the first of the
    other sample, until no score is larger than the exact null allows once among so many points.

    Returns
    -------
    intp array
        Pool positions of the pruned rows.
    """
    side = is_current[rows[0]]
    anchors = rows[:: -(-rows.size // MAX_ANCHORS)]
    near = np.union1d(neighbours(points, usable_k_max(k_max, len(points)), queries=anchors, engine=engine).index, rows)
    graph = LivingGraph(points, is_current, k_max, engine, rows=near[is_current[near] == side])
    nulls = graph.nulls()
    own = nulls.current if side else nulls.reference
    highest = own.threshold(1.0 / max(2, graph.rows.size))
    while graph.size(side) > MIN_ROWS:
        living = graph.living()
        scores = graph.scores(living, nulls)
        above = np.flatnonzero(scores >= highest)
        if above.size == 0:
            break
        order = above[np.argsort(-scores[above], kind="stable")]
        for point in living[order[: max(1, above.size // POINTS_PER_STEP)]]:
            if graph.alive[point]:
                graph.remove(graph.excess_neighbourhood(int(point)))
    return np.flatnonzero(~graph.alive)


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


def same_cluster(points: NDArray[np.float64], pruned: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of the clusters pruned in the subspace, the one that holds most of the mode's former rows."""
    clusters = _clusters(points, pruned)
    return max(clusters, key=lambda cluster: (np.intersect1d(cluster, rows).size, cluster.size))


def _mask(n: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=np.bool_)
    mask[rows] = True
    return mask
