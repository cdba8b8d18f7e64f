"""compare(): the whole protocol, stage after stage (paper 2; Supp. "Default hyperparameters")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from shiftscope.calibrate import Calibration, calibrate
from shiftscope.describe import directions, excess_mass
from shiftscope.discover import discover, echoes
from shiftscope.encode import Encoded, encode_pair
from shiftscope.engines.base import Engine
from shiftscope.equalise import MIN_SAMPLE, Equalisation, equalise_graph
from shiftscope.living import LivingGraph
from shiftscope.orient import canonical
from shiftscope.params import CompareParams
from shiftscope.progress import Progress, silent
from shiftscope.refine import Settled, refine, same_mode
from shiftscope.results import Mode, ShiftResult
from shiftscope.scan import ScanResult, scan_points


def compare(
    reference: object,
    current: object,
    *,
    alpha: float = 0.01,
    random_state: int = 0,
    params: CompareParams | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> ShiftResult:
    """Do two samples differ, in which rows, in which features, and which subsets agree?

    Parameters
    ----------
    reference, current : array, data frame or path
        The two samples; columns are matched by name.
    alpha : float
        Level of the verdict: the chance of a false alarm when both samples come from one distribution.
    random_state : int
        Seed; the same seed gives the same result on any number of threads.
    params : CompareParams, optional
        All other settings; the defaults are the recommended ones.
    engine : Engine, optional
        Where neighbours are searched; this machine by default.
    progress : callable(stage, fraction), optional

    Returns
    -------
    ShiftResult
    """
    params = replace(params or CompareParams(), alpha=alpha)
    clock = _Clock()
    encoded, flipped = canonical(encode_pair(reference, current))
    clock.stop("encode")
    result = _protocol(encoded, params, random_state, engine, progress, clock)
    return result.swapped() if flipped else result


def _protocol(
    encoded: Encoded,
    params: CompareParams,
    random_state: int,
    engine: Engine | None,
    progress: Progress,
    clock: _Clock,
) -> ShiftResult:
    is_current = encoded.is_current
    searches = 1 if params.scan is None else 2  # each is held against its share of alpha (Bonferroni)
    level = params.alpha / searches

    scan: ScanResult | None = None
    if params.scan is not None:
        scan = scan_points(
            encoded.points,
            encoded.n_reference,
            encoded.names,
            params.scan,
            random_state=random_state,
            progress=progress,
        )
        clock.stop("scan")

    graph = LivingGraph(encoded.points, is_current, params.k_max, engine, progress=_stage(progress, "neighbours"))
    clock.stop("neighbours")
    scores = graph.full_scores()
    clock.stop("score")
    calibration = _calibrated(graph, params, params.n_permutations, random_state, _stage(progress, "calibrate"))
    clock.stop("calibrate")

    p_value = min(1.0, searches * min(calibration.p_value, 1.0 if scan is None else scan.p_value))
    equalisation: Equalisation | None = None
    settled: tuple[Settled, ...] = ()
    if p_value <= params.alpha:
        if scan is not None and params.scan is not None and scan.p_value <= level:
            settled = discover(
                encoded.points,
                is_current,
                scan,
                params.equalise,
                params.scan,
                level=level,
                max_modes=params.max_modes,
                random_state=random_state,
                engine=engine,
                progress=progress,
            )
            clock.stop("discover")
        equalisation, more = _full_space(
            encoded, graph, calibration, settled, level, params, random_state, engine, progress
        )
        settled += more
        clock.stop("full space")

    kept = np.flatnonzero(graph.alive)
    return ShiftResult(
        detected=p_value <= params.alpha,
        p_value=p_value,
        alpha=params.alpha,
        modes=_described(encoded, settled, searches, random_state),
        scores=scores,
        kept_reference=kept[~is_current[kept]],
        kept_current=kept[is_current[kept]] - encoded.n_reference,
        calibration=calibration,
        scan=scan,
        equalisation=equalisation,
        random_state=random_state,
        params=params,
        timings=clock.laps(),
        encoded=encoded,
    )


def _calibrated(
    graph: LivingGraph,
    params: CompareParams,
    n_permutations: int,
    random_state: int,
    progress: Callable[[float], None] | None = None,
) -> Calibration:
    """Tail statistics of the living points against label permutations."""
    living = graph.living()
    return calibrate(
        graph.compact(),
        graph.is_current[living],
        graph.all_scores()[living],
        q_tail=params.equalise.q_tail,
        n_permutations=n_permutations,
        random_state=random_state,
        progress=progress,
    )


def _full_space(
    encoded: Encoded,
    graph: LivingGraph,
    calibration: Calibration,
    known: tuple[Settled, ...],
    level: float,
    params: CompareParams,
    random_state: int,
    engine: Engine | None,
    progress: Progress,
) -> tuple[Equalisation | None, tuple[Settled, ...]]:
    """The paper's protocol on what the modes of the scan leave over; `graph` ends with the rows to keep alive."""
    is_current = encoded.is_current
    _remove(graph, known)
    if graph.exhausted(MIN_SAMPLE):  # separated samples have nothing in common to keep
        return None, ()
    rest = _calibrated(graph, params, params.equalise.n_permutations, random_state) if known else calibration
    done = equalise_graph(
        graph,
        params.equalise,
        random_state=random_state,
        calibration=rest,
        progress=_stage(progress, "equalise"),
    )
    if max(calibration.p_value, rest.p_value) > level:
        return done, ()
    pruned = np.setdiff1d(np.flatnonzero(~graph.alive), _rows(known))
    p_values = (rest.p_reference, rest.p_current)
    found: tuple[Settled, ...] = ()
    for mode in refine(
        encoded.points,
        is_current,
        pruned[np.where(is_current[pruned], *p_values[::-1]) <= level],  # only a side that rejects can found a mode
        p_values,
        params.k_max,
        params.localise,
        max_iterations=params.max_iterations,
        max_modes=params.max_modes,
        random_state=random_state,
        engine=engine,
        progress=_stage(progress, "refine"),
    ):
        if echoes(mode.features, list(known)) or any(same_mode(mode, other) for other in known):
            continue
        found += (mode,)
        graph.restore()
        _remove(graph, known + found)
        if graph.exhausted(MIN_SAMPLE):  # a whole sample is in excess, and so may the other be
            continue
        rest = _calibrated(graph, params, params.equalise.n_permutations, random_state)
        if rest.p_value > level:  # the modes so far explain it all
            break
    if found and not graph.exhausted(MIN_SAMPLE):
        equalise_graph(graph, params.equalise, random_state=random_state, calibration=rest)
    return done, found


def _remove(graph: LivingGraph, modes: tuple[Settled, ...]) -> None:
    graph.remove(_rows(modes))


def _rows(modes: tuple[Settled, ...]) -> NDArray[np.intp]:
    return np.concatenate([np.empty(0, dtype=np.intp), *(mode.rows for mode in modes)])


def _described(encoded: Encoded, settled: tuple[Settled, ...], searches: int, random_state: int) -> tuple[Mode, ...]:
    """Modes in the user's terms, strongest first."""
    modes = [_mode(encoded, mode, searches, random_state) for mode in settled]
    return tuple(sorted(modes, key=lambda mode: (mode.p_value, -mode.excess)))


def _mode(encoded: Encoded, settled: Settled, searches: int, random_state: int) -> Mode:
    columns = np.ascontiguousarray(encoded.points[:, list(settled.features)])
    excess = excess_mass(columns, encoded.is_current, settled.rows, random_state=random_state)
    return Mode(
        side="current" if settled.is_current else "reference",
        features=tuple(encoded.names[feature] for feature in settled.features),
        rows=np.sort(settled.rows - (encoded.n_reference if settled.is_current else 0)),
        excess=excess.share,
        excess_interval=excess.interval,
        p_value=min(1.0, searches * settled.p_value),
        purity=excess.purity,
        directions=directions(encoded, settled.is_current, settled.rows, settled.features),
        settled=settled.settled,
        origin=settled.origin,
        localisation=settled.localisation,
    )


def _stage(progress: Progress, stage: str) -> Callable[[float], None]:
    return lambda fraction: progress(stage, fraction)


@dataclass
class _Clock:
    """Seconds since the last stop, by stage."""

    def __post_init__(self) -> None:
        self._last = perf_counter()
        self._laps: list[tuple[str, float]] = []

    def stop(self, stage: str) -> None:
        now = perf_counter()
        self._laps.append((stage, now - self._last))
        self._last = now

    def laps(self) -> tuple[tuple[str, float], ...]:
        return tuple(self._laps)
