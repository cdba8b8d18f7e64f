"""compare(): the whole protocol, stage after stage (paper 2; Supp. "Default hyperparameters")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shiftscope.encoding.encode import Columns
from shiftscope.engines.base import Engine
from shiftscope.errors import check_seed, given
from shiftscope.findings import ShiftResult
from shiftscope.full_space.equalise import Equalisation
from shiftscope.job import Clock, Job
from shiftscope.modes.describe import describe
from shiftscope.modes.from_full_space import calibrated, full_space_graph, full_space_modes, kept_rows
from shiftscope.modes.from_scan import discover
from shiftscope.modes.refine import Settled
from shiftscope.params import CompareParams
from shiftscope.progress import Progress, silent
from shiftscope.samples import opened, read_pool
from shiftscope.searched_rows import score_all
from shiftscope.subspaces.scan import ScanResult


def compare(
    reference: object,
    current: object,
    *,
    alpha: float | None = None,
    columns: Columns | Sequence[str] | None = None,
    random_state: int = 0,
    params: CompareParams | None = None,
    engine: Engine | str | None = None,
    progress: Progress = silent,
) -> ShiftResult:
    """Do two samples differ, in which rows, in which features, and which subsets agree?

    Parameters
    ----------
    reference, current : array, data frame or path
        The two samples; columns are matched by name.
    alpha : float
        Level of the verdict: the chance of a false alarm when both samples come from one distribution. Default:
        that of `params`, 0.01.
    columns : Columns or sequence of str, optional
        Which columns take part, and as what; a sequence names the only ones. Default: all that can.
    random_state : int
        Seed; the same seed gives the same result on any number of threads.
    params : CompareParams, optional
        All other settings; the defaults are the recommended ones.
    engine : Engine or str, optional
        Where to compute: "local" (the default), "dask" (a cluster on this machine, for the time of the call), the
        address of a Dask scheduler, or an engine such as `shiftscope.engines.dask.engine.DaskEngine`.
    progress : callable(stage, fraction), optional

    Returns
    -------
    ShiftResult
    """
    params = checked_settings(alpha, params, random_state)
    clock = Clock()
    with opened(engine) as where:
        pool = read_pool(where, reference, current, columns, random_state)
        clock.stop("encode")
        result = _protocol(Job(pool, params, random_state, where, progress), clock)
    return result.swapped() if pool.flipped else result


def checked_settings(alpha: float | None, params: CompareParams | None, random_state: int) -> CompareParams:
    """All settings, `alpha` taking precedence over that of `params`, after the check of the seed."""
    check_seed(random_state)
    params = given(params, CompareParams)
    return params if alpha is None else replace(params, alpha=alpha)


def _protocol(job: Job, clock: Clock) -> ShiftResult:
    """Scan and full space for the verdict; then modes, the scan's first; what is left over is kept."""
    params, encoded = job.params, job.encoded
    scan = scanned(job)
    clock.stop("scan")
    graph = full_space_graph(job)
    clock.stop("neighbours")
    scores = score_all(
        job.points, job.is_current, job.design, graph.full_scores(), engine=job.engine, progress=job.stage("score")
    )
    clock.stop("score")
    calibration = calibrated(job, graph, params.labellings, job.stage("calibrate"))
    clock.stop("calibrate")

    p_value = min(1.0, job.searches * min(calibration.p_value, 1.0 if scan is None else scan.p_value))
    equalisation: Equalisation | None = None
    modes: tuple[Settled, ...] = ()
    if p_value <= params.alpha:
        modes = () if scan is None else discover(job, scan)
        clock.stop("discover")
        equalisation, more = full_space_modes(job, graph, calibration, modes)
        modes += more
        clock.stop("full space")

    kept = kept_rows(job, graph)
    is_current = job.is_current[kept]
    searched = job.is_current[job.design.rows]
    return ShiftResult(
        detected=p_value <= params.alpha,
        p_value=p_value,
        alpha=params.alpha,
        modes=describe(job, modes),
        scores=scores,
        kept_reference=kept[~is_current],
        kept_current=kept[is_current] - encoded.n_reference,
        calibration=calibration,
        scan=scan,
        equalisation=equalisation,
        random_state=job.random_state,
        params=params,
        searched_reference=int(np.sum(~searched)),
        searched_current=int(np.sum(searched)),
        timings=clock.laps(),
        encoded=encoded,
        gathered=job.pool.gathered,
    )


def scanned(job: Job) -> ScanResult | None:
    """The subspace scan of all rows; None if it is switched off."""
    params = job.params.scan
    if params is None:
        return None
    return job.pool.scan(replace(params, level=job.level), job.random_state, job.progress)
