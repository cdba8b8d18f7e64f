"""compare(): the whole protocol, stage after stage (paper 2; Supp. "Default hyperparameters")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from shiftscope.calibrate import Calibration, calibrate
from shiftscope.describe import directions, excess_mass
from shiftscope.encode import Encoded, encode_pair
from shiftscope.engines.base import Engine
from shiftscope.equalise import MIN_SAMPLE, Equalisation, equalise_graph
from shiftscope.living import LivingGraph
from shiftscope.orient import canonical
from shiftscope.params import CompareParams
from shiftscope.progress import Progress, silent
from shiftscope.refine import Settled, pruned_positions, refine
from shiftscope.results import Mode, ShiftResult


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

    graph = LivingGraph(encoded.points, is_current, params.k_max, engine, progress=_stage(progress, "neighbours"))
    clock.stop("neighbours")
    scores = graph.full_scores()
    clock.stop("score")

    calibration = calibrate(
        graph.compact(),
        is_current,
        np.concatenate([scores.reference, scores.current]),
        q_tail=params.equalise.q_tail,
        n_permutations=params.n_permutations,
        random_state=random_state,
        progress=_stage(progress, "calibrate"),
    )
    clock.stop("calibrate")

    equalisation: Equalisation | None = None
    modes: tuple[Mode, ...] = ()
    removed = np.empty(0, dtype=np.intp)
    if calibration.p_value <= params.alpha:
        equalisation = equalise_graph(
            graph,
            params.equalise,
            random_state=random_state,
            calibration=calibration,
            progress=_stage(progress, "equalise"),
        )
        clock.stop("equalise")
        settled = refine(
            encoded.points,
            is_current,
            _evident(pruned_positions(equalisation, is_current), is_current, calibration, params.alpha),
            params.k_max,
            params.localise,
            max_iterations=params.max_iterations,
            max_modes=params.max_modes,
            random_state=random_state,
            engine=engine,
            progress=_stage(progress, "refine"),
        )
        modes = _described(encoded, settled, calibration, random_state)
        clock.stop("refine")
        removed = _removed(graph, settled, params, random_state)
        clock.stop("keep")

    kept = np.setdiff1d(np.arange(len(is_current)), removed)
    return ShiftResult(
        detected=calibration.p_value <= params.alpha,
        p_value=calibration.p_value,
        alpha=params.alpha,
        modes=modes,
        scores=scores,
        kept_reference=kept[~is_current[kept]],
        kept_current=kept[is_current[kept]] - encoded.n_reference,
        calibration=calibration,
        equalisation=equalisation,
        random_state=random_state,
        params=params,
        timings=clock.laps(),
        encoded=encoded,
    )


def _evident(
    pruned: NDArray[np.intp], is_current: NDArray[np.bool_], calibration: Calibration, alpha: float
) -> NDArray[np.intp]:
    """The pruned rows of the sides whose own calibrated test rejects: only these can found a mode."""
    p_values = np.where(is_current[pruned], calibration.p_current, calibration.p_reference)
    return pruned[p_values <= alpha]


def _removed(
    graph: LivingGraph, settled: tuple[Settled, ...], params: CompareParams, random_state: int
) -> NDArray[np.intp]:
    """Pool positions to leave out: the modes' rows first, then whatever excess the full space still shows."""
    graph.restore()
    for mode in settled:
        graph.remove(mode.rows)
    if not graph.exhausted(MIN_SAMPLE):  # separated samples have nothing in common to keep
        equalise_graph(graph, params.equalise, random_state=random_state)
    return np.flatnonzero(~graph.alive)


def _described(
    encoded: Encoded, settled: tuple[Settled, ...], calibration: Calibration, random_state: int
) -> tuple[Mode, ...]:
    """Modes in the user's terms, largest excess first."""
    modes = [_mode(encoded, mode, calibration, random_state) for mode in settled]
    return tuple(sorted(modes, key=lambda mode: (mode.p_value, -mode.excess)))


def _mode(encoded: Encoded, settled: Settled, calibration: Calibration, random_state: int) -> Mode:
    columns = np.ascontiguousarray(encoded.points[:, list(settled.features)])
    excess = excess_mass(columns, encoded.is_current, settled.rows, random_state=random_state)
    return Mode(
        side="current" if settled.is_current else "reference",
        features=tuple(encoded.names[feature] for feature in settled.features),
        rows=np.sort(settled.rows - (encoded.n_reference if settled.is_current else 0)),
        excess=excess.share,
        excess_interval=excess.interval,
        p_value=calibration.p_current if settled.is_current else calibration.p_reference,
        purity=excess.purity,
        directions=directions(encoded, settled.is_current, settled.rows, settled.features),
        settled=settled.settled,
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
