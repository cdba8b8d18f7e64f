"""From scanned feature sets to modes: the same kind of object as those from the full space.

The strongest set of the scan founds a mode; its rows are taken away and the rest is scanned again, until no set is left
that the labellings of the first scan would not have reached. So several shifts come out as several modes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import compress, takewhile
from math import ceil

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import columns_of
from shiftscope.full_space.equalise import equalise_graph
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.job import Job
from shiftscope.labellings.p_values import critical_value, p_values
from shiftscope.modes.best_features import best_features
from shiftscope.modes.level_excess import by_level, combinations_of_levels, counterpart, evidence, sharpen
from shiftscope.modes.mode import Settled
from shiftscope.modes.refine import prune_around, pruned_positions, same_cluster
from shiftscope.params import ScanParams
from shiftscope.subspaces.scan import scan_points
from shiftscope.subspaces.scan_result import FeatureSet, ScanResult


@dataclass(frozen=True)
class _Look:
    """A scan of some rows of the pool.

    Attributes
    ----------
    pool : intp array
        The rows, increasing.
    scan : ScanResult
    closed : frozenset of int
        Features that were not looked at: their levels are strata.
    """

    pool: NDArray[np.intp]
    scan: ScanResult
    closed: frozenset[int] = frozenset()


def scan_modes(job: Job, scan: ScanResult) -> tuple[Settled, ...]:
    """Peel one mode after another off the pool, strongest first.

    Parameters
    ----------
    job : Job
        A set founds a mode if its family-wise p-value is at most `job.level`.
    scan : ScanResult
        Scan of the whole pool; its labellings are the null of every later scan too.
    """
    null = scan.null
    found: tuple[Settled, ...] = ()
    looks: Iterable[_Look] = [_Look(np.arange(len(job.points)), scan)]
    for _ in range(job.params.modes.scans_per_mode * job.params.max_modes):
        seen = ((look, founded) for look in looks if (founded := _found(job, look, null, found)))
        look, founded = next(seen, (None, ()))
        if look is None:
            break
        found = _joined(job.encoded.ranked, found, founded)
        if not _enough_rows(job, _outside(job, found)):  # a whole sample is in excess, and so may the other be
            sets = tuple(s for s in look.scan.sets if (s.side == "current") != found[-1].is_current)
            return found + _found(job, replace(look, scan=replace(look.scan, sets=sets)), null, found)
        if len(found) >= job.params.max_modes:
            break
        looks = _looks(job, found)
    return found


def _looks(job: Job, found: tuple[Settled, ...]) -> Iterator[_Look]:
    """Where to look for more: beside the levels whose shares have changed, then at what all modes leave.

    A change of shares concerns many rows. With them much of any other shift would be taken away, so it is first looked
    for among all of them, in the other features: there, labels move within levels.
    """
    n_labellings, nothing = job.params.modes.rescan_labellings, frozenset[int]()
    closed = frozenset(feature for mode in found if mode.of_levels for feature in mode.features)
    if 0 < len(closed) < len(job.groups):
        pool = _outside(job, tuple(mode for mode in found if not mode.of_levels))
        share = _current_share(job, pool, closed)
        pool = pool[(share > 0) & (share < 1)]  # elsewhere no label can move
        if _enough_rows(job, pool):
            yield _Look(pool, _scanned(job, pool, closed, nothing, n_labellings), closed)
    pool = _outside(job, found)
    yield _Look(pool, _scanned(job, pool, nothing, nothing, n_labellings))


def _current_share(job: Job, pool: NDArray[np.intp], strata: frozenset[int]) -> NDArray[np.float64]:
    """For each row the share of current rows among those with its combination of levels."""
    cell = combinations_of_levels(job.encoded.ranked[pool], job.encoded.categories, sorted(strata))
    return np.asarray((np.bincount(cell, job.is_current[pool]) / np.bincount(cell))[cell])


def _enough_rows(job: Job, pool: NDArray[np.intp]) -> bool:
    """Whether either sample has enough rows there for a mode."""
    current = int(job.is_current[pool].sum())
    return min(current, pool.size - current) >= job.params.modes.least_rows


def _outside(job: Job, modes: tuple[Settled, ...]) -> NDArray[np.intp]:
    """Pool positions of the rows that are in none of the modes."""
    alive = np.ones(len(job.points), dtype=np.bool_)
    for mode in modes:
        alive[mode.all_rows] = False
    return np.flatnonzero(alive)


def _scanned(
    job: Job, pool: NDArray[np.intp], strata: frozenset[int], left_out: frozenset[int], n_labellings: int
) -> ScanResult:
    """Scan of some rows and features; labels move within the levels of `strata`, which are left out as well."""
    encoded, params = job.encoded, replace(job.params.scan or ScanParams(), n_permutations=n_labellings)
    features = [feature for feature in range(len(job.groups)) if feature not in strata | left_out]
    ranked = encoded.ranked[pool]
    scan = scan_points(
        ranked[:, features],
        int(np.sum(~job.is_current[pool])),
        tuple(encoded.names[feature] for feature in features),
        params,
        categories=encoded.categories[features],
        strata=combinations_of_levels(ranked, encoded.categories, sorted(strata)) if strata else None,
        random_state=job.random_state,
        progress=job.progress,
    )
    sets = (replace(s, features=tuple(features[at] for at in s.features)) for s in scan.sets)
    return replace(scan, sets=tuple(sets))


def _found(job: Job, look: _Look, null: NDArray[np.float64], known: tuple[Settled, ...]) -> tuple[Settled, ...]:
    """Modes of the strongest set of a look that says something new: one if localised, up to two if broad."""
    scan, pool = look.scan, look.pool
    news = [s for s in scan.sets if not echoes(s.features, known) and not any(_left_by(m, job, s) for m in known)]
    sure = [_p_value(s, scan, null) <= job.level for s in news]
    parts = list(compress(news, sure))
    params = job.params.modes
    tried = [s for s, _ in zip(news[: params.sets_tried], takewhile(bool, sure), strict=False)]
    plain = [_without_chance_columns(s, parts, params.chance_column) for s in tried]
    for candidate in {s.features: s for s in plain}.values():
        p_value = float(p_values(np.array([candidate.value]), null)[0])
        enough = _enough(candidate, critical_value(null, job.level))
        plainer = _levels_alone(job, pool, _own_levels(job, pool, candidate, parts), scan)
        modes = _maker(job.encoded, plainer)(job, look, plainer, p_value)
        if modes:
            return tuple(
                replace(mode, rows=pool[mode.rows], counterpart=pool[mode.counterpart], enough=enough) for mode in modes
            )
    return ()


def _p_value(found: FeatureSet, scan: ScanResult, null: NDArray[np.float64]) -> float:
    """Of a set among the labellings of the first scan; of a rescan, no labelling of its own may come so far."""
    least = 1.0 / (scan.n_permutations + 1)
    return max(float(p_values(np.array([found.value]), null)[0]), found.p_value - least)


def _without_chance_columns(found: FeatureSet, sets: list[FeatureSet], spare: float) -> FeatureSet:
    """The smallest part of a broad set that tells as much: the best of many features adds a little by chance alone.

    Evidence is minus a log p-value, about half the square of a normal deviate; that of the part, which has the same
    noise, may be smaller by `spare`. Parts are sought among `sets`, which are sure by themselves.
    """
    least = np.sqrt(2.0 * max(found.evidence, 0.0)) - spare
    parts = (
        s
        for s in sets
        if found.statistic == s.statistic == "broad"
        and set(s.features) < set(found.features)
        and np.sqrt(2.0 * max(s.evidence, 0.0)) >= least
    )
    return min(parts, key=lambda part: (len(part.features), -part.evidence), default=found)


def _own_levels(job: Job, pool: NDArray[np.intp], found: FeatureSet, sets: list[FeatureSet]) -> FeatureSet:
    """The levels of a set, if its other features have changed among the rows without these levels too.

    Then there are two changes, and the set is only the sum of them; the others are found beside the levels. Levels are
    sought among `sets`, which are sure by themselves: the fewest features, then the strongest.
    """
    parts = [s for s in sets if set(s.features) < set(found.features) and all(holds_levels(job.encoded, s))]
    if not parts:
        return found
    alone = min(parts, key=lambda part: (len(part.features), -part.evidence))
    is_current = job.is_current[pool]
    outside = np.delete(pool, alone.in_pool(int(np.sum(~is_current))))
    if not _enough_rows(job, outside):
        return found
    others = frozenset(range(len(job.groups))).difference(found.features)
    rest = _scanned(job, outside, frozenset(alone.features), others, ceil(1.0 / job.level))
    return alone if rest.p_value <= job.level else found


def _levels_alone(job: Job, pool: NDArray[np.intp], found: FeatureSet, scan: ScanResult) -> FeatureSet:
    """A set without its numbers, if its levels and missing values alone tell more, or broadly almost as much."""
    levels = holds_levels(job.encoded, found)
    if not any(levels) or all(levels):
        return found
    if found.statistic == "broad":
        alone = tuple(feature for feature, level in zip(found.features, levels, strict=True) if level)
        twins = (
            s for s in scan.sets if s.features == alone and s.evidence >= job.params.modes.levels_alone * found.evidence
        )
        return next(twins, found)
    kept = [(f, box) for f, box, level in zip(found.features, found.box, levels, strict=True) if level]
    ranked, is_current = job.encoded.ranked[pool], job.is_current[pool]
    inside = np.all([(low <= ranked[:, f]) & (ranked[:, f] <= high) for f, (low, high) in kept], axis=0)
    n_reference = int(np.sum(~is_current))
    boxed, rows = found.in_pool(n_reference), np.flatnonzero(inside)
    if evidence(is_current, rows, found.side == "current") <= evidence(is_current, boxed, found.side == "current"):
        return found
    plainer = replace(found, features=tuple(feature for feature, _ in kept), box=tuple(box for _, box in kept))
    return plainer.with_rows(rows, n_reference)


def holds_levels(encoded: Encoded, found: FeatureSet) -> list[bool]:
    """For each feature of a set whether its box holds levels, or missing values."""
    return [
        encoded.features[feature].kind == "category" or bool(np.isneginf(high))
        for feature, (_, high) in zip(found.features, found.box, strict=True)
    ]


def _maker(encoded: Encoded, found: FeatureSet) -> Callable[[Job, _Look, FeatureSet, float], list[Settled]]:
    """What turns a set into modes."""
    if all(holds_levels(encoded, found)):
        return _level_mode
    return _localised_mode if found.statistic == "localised" else _broad_modes


def _enough(found: FeatureSet, critical: float) -> float:
    """Share of the effect that would just have founded a mode: evidence grows like its square."""
    spare = found.unit * (found.value - critical)
    return float(np.sqrt(np.clip(1.0 - spare / found.evidence, 0.0, 1.0)))


def echoes(features: tuple[int, ...], known: tuple[Settled, ...]) -> bool:
    """Whether a set shares a feature with a broad mode: broad shifts cannot be peeled off, only recognised."""
    return any(mode.broad and set(features) & set(mode.features) for mode in known)


def _left_by(mode: Settled, job: Job, found: FeatureSet) -> bool:
    """Whether a set only shows what the pruning of a mode left: a hollow core, or a change of the set as a whole.

    Pruning starts where a mode is densest. What remains of it lies around a core without any row of its side, so the
    other side is in excess there.
    """
    if not _nested(mode.features, found.features):
        return False
    if found.statistic == "broad":
        return True
    inside = dict(zip(found.features, found.box, strict=True))
    centre = np.median(job.encoded.ranked[mode.rows], axis=0)
    opposite = mode.is_current != (found.side == "current")
    return opposite and all(low <= centre[f] <= high for f, (low, high) in inside.items() if f in mode.features)


def _joined(ranked: NDArray[np.float64], known: tuple[Settled, ...], more: tuple[Settled, ...]) -> tuple[Settled, ...]:
    """All modes; one that lies around another of its side, in the same features, is a further part of it."""
    modes = list(known)
    for new in more:
        for at, mode in enumerate(modes):
            if mode.is_current == new.is_current and _nested(mode.features, new.features):
                shared = [f for f in mode.features if f in new.features]
                centre, around = np.median(ranked[mode.rows][:, shared], axis=0), ranked[new.rows][:, shared]
                if np.all((around.min(axis=0) <= centre) & (centre <= around.max(axis=0))):
                    modes[at] = replace(
                        mode,
                        rows=np.union1d(mode.rows, new.rows),
                        counterpart=np.union1d(mode.counterpart, new.counterpart),
                    )
                    break
        else:
            modes.append(new)
    return tuple(modes)


def _nested(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return set(one) <= set(other) or set(other) <= set(one)


def _level_mode(job: Job, look: _Look, found: FeatureSet, p_value: float) -> list[Settled]:
    """The surplus of a level, of missing values or of a combination of such.

    All rows there are alike in the set's features, so there is nothing to climb or to prune around: of the rows, those
    with the strongest evidence in the full space stand for the surplus. What the other sample has instead is taken
    away with it: it is the same change, seen from the other side.
    """
    points, is_current, ranked = job.points[look.pool], job.is_current[look.pool], job.encoded.ranked[look.pool]
    n_reference, categories = int(np.sum(~is_current)), job.encoded.categories
    start = found.features, found.in_pool(n_reference)
    features, held = sharpen(ranked, is_current, categories, *start, look.closed)
    held = np.sort(held)
    rows, surplus = _surplus(is_current, found.with_rows(held, n_reference))
    if rows.size < job.params.modes.least_rows or surplus < 1:
        return []
    if look.closed and abs(np.sum(is_current[held] - _current_share(job, look.pool, look.closed)[held])) < 1:
        return []  # these levels only go with those that are told already
    instead = [
        _strongest(job, points, is_current, others, count)
        for others, count in counterpart(ranked, is_current, categories, features, held)
    ]
    return [
        Settled(
            found.side == "current",
            features,
            _strongest(job, points, is_current, rows, surplus),
            settled=True,
            localisation=None,
            p_value=p_value,
            origin="scan",
            of_levels=True,
            counterpart=np.concatenate([np.empty(0, np.intp), *instead]),
        )
    ]


def _localised_mode(job: Job, look: _Look, found: FeatureSet, p_value: float) -> list[Settled]:
    """The rows in excess around the best box, in the features in which its rows stand out most."""
    points, is_current = job.points[look.pool], job.is_current[look.pool]
    rows, surplus = _surplus(is_current, found)
    params = job.params.modes
    if rows.size < params.least_rows or surplus < 1:
        return []
    features, anchors = best_features(
        points, is_current, found.features, rows, surplus, job.k_max, job.groups, params, look.closed
    )
    subspace = np.ascontiguousarray(points[:, columns_of(job.groups, features)])
    pruned = prune_around(job, subspace, is_current, anchors)
    if pruned.size >= max(params.least_rows, int(params.compact_share * surplus)):
        rows = same_cluster(subspace, pruned, anchors)
    else:  # no compact excess: the rows of the box with the strongest local evidence stand for it
        rows = _strongest(job, subspace, is_current, rows, surplus)
    side = found.side == "current"
    return [Settled(side, features, rows, settled=True, localisation=None, p_value=p_value, origin="scan")]


def _broad_modes(job: Job, look: _Look, found: FeatureSet, p_value: float) -> list[Settled]:
    """What equalisation in the set's features prunes on either side; else the surplus of its strongest cell.

    Rows of different levels are different modes: a number may be higher in one level and lower in another.
    """
    pool, params = look.pool, job.params.modes
    points, is_current = job.points[pool], job.is_current[pool]
    subspace = np.ascontiguousarray(points[:, columns_of(job.groups, found.features)])
    pruned = _equalised(job, pool, subspace)
    groups = [pruned[is_current[pruned] == side] for side in (True, False)]
    categories = [feature for feature in found.features if job.encoded.categories[feature]]
    levels = job.encoded.ranked[pool][:, categories]
    parts = (part for rows in groups for part in by_level(levels, rows, params.level_share))
    groups = [part for part in parts if part.size >= params.least_rows]
    if not groups:
        rows, surplus = _surplus(is_current, found)
        groups = [_strongest(job, subspace, is_current, rows, surplus)] if surplus >= 1 else []
    return [
        Settled(
            bool(is_current[rows[0]]),
            found.features,
            np.sort(rows),
            settled=True,
            localisation=None,
            p_value=p_value,
            origin="scan",
            broad=True,
        )
        for rows in groups
    ]


def _equalised(job: Job, pool: NDArray[np.intp], subspace: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions in `pool` of the rows that equalisation prunes, looking at the searched rows."""
    searched, params = job.searched.within(pool), job.params.equalise
    order = searched.order
    is_current = job.is_current[pool][order]
    rows = None if searched.whole else np.arange(searched.rows.size)
    graph = ShrinkingGraph(subspace[order], is_current, params.k_max, job.engine, rows=rows)
    done = equalise_graph(graph, params, random_state=job.random_state, progress=job.stage("equalise"))
    return order[pruned_positions(done, is_current)]


def _surplus(is_current: NDArray[np.bool_], found: FeatureSet) -> tuple[NDArray[np.intp], int]:
    """Pool positions of the box's rows on the side in excess, and how many of them the other does not explain."""
    n_reference = int(np.sum(~is_current))
    current, reference = found.rows_current + n_reference, found.rows_reference
    own, other = (current, reference) if found.side == "current" else (reference, current)
    n_own, n_other = (
        (is_current.size - n_reference, n_reference)
        if found.side == "current"
        else (n_reference, is_current.size - n_reference)
    )
    return own, round(own.size - other.size * n_own / n_other)


def _strongest(
    job: Job, points: NDArray[np.float64], is_current: NDArray[np.bool_], rows: NDArray[np.intp], count: int
) -> NDArray[np.intp]:
    """The `count` of `rows` with the largest score in the subspace."""
    graph = ShrinkingGraph(points, is_current, job.k_max, job.engine, rows=rows)
    scores = graph.scores(graph.rows, graph.nulls())
    return np.sort(graph.rows[np.argsort(-scores, kind="stable")[:count]])
