"""compare(): the whole protocol, stage after stage (paper 2; Supp. "Default hyperparameters")."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.sample_order import canonical
from shiftscope.errors import check_seed, given
from shiftscope.full_space.equalise import MIN_SAMPLE, Equalisation
from shiftscope.full_space.score import score_others
from shiftscope.full_space.search import calibrated, full_space_graph
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.job import Clock, Job
from shiftscope.machine_memory import check_memory
from shiftscope.modes.describe import describe
from shiftscope.modes.from_full_space import full_space_modes
from shiftscope.modes.from_scan import scan_modes
from shiftscope.modes.mode import Settled
from shiftscope.overview.overview import overview
from shiftscope.params import CompareParams
from shiftscope.progress import Progress
from shiftscope.results import ShiftResult
from shiftscope.samples import ChosenColumns, ChosenEngine, open_samples
from shiftscope.subspaces.scan import scan_memory, scan_points, scan_pool
from shiftscope.subspaces.scan_result import ScanResult
from shiftscope.tables.options import TableKeywords, TableOptions

_CODE = 3 * 10**8  # bytes of compiled code and of packages that are loaded on the way


def compare(
    reference: object,
    current: object,
    *,
    alpha: float | None = None,
    columns: ChosenColumns = None,
    random_state: int = 0,
    params: CompareParams | None = None,
    engine: ChosenEngine = None,
    progress: Progress | None = None,
    **tables: Unpack[TableKeywords],
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
        address of a Dask scheduler, or an engine such as `shiftscope.DaskEngine`.
    progress : callable(stage, fraction), optional
    **tables
        How files are to be read where that is not to be found out: the fields of `TableOptions`, such as
        `delimiter=";"` or `missing=["-200"]`. `look` shows what would be understood.

    Returns
    -------
    ShiftResult
    """
    params = checked_settings(alpha, params, random_state)
    options = TableOptions.of(tables)
    clock = Clock()
    with open_samples(
        reference,
        current,
        columns=columns,
        engine=engine,
        random_state=random_state,
        progress=progress,
        tables=options,
    ) as samples:
        clock.stop("encode")
        return samples.turned(protocol(Job.of(samples, params), clock))


def checked_settings(alpha: float | None, params: CompareParams | None, random_state: int) -> CompareParams:
    """All settings, `alpha` taking precedence over that of `params`, after the check of the seed."""
    check_seed(random_state)
    params = given(params, CompareParams)
    return params if alpha is None else replace(params, alpha=alpha)


def protocol(job: Job, clock: Clock) -> ShiftResult:
    """Scan and full space for the verdict; then modes, the scan's first; what is left over is kept, and compared again.

    The result is about the samples in canonical order.
    """
    params, encoded = job.params, job.encoded
    check_memory(needed_memory(job), len(encoded.points), len(encoded.names))
    scan = scanned(job)
    clock.stop("scan")
    graph = full_space_graph(job)
    clock.stop("neighbours")
    scores = score_others(job, graph.full_scores())
    clock.stop("score")
    calibration = calibrated(job, graph, params.labellings, job.stage("calibrate"))
    clock.stop("calibrate")

    p_compared = min(1.0, job.searches * min(calibration.p_value, 1.0 if scan is None else scan.p_value))
    p_value = min([p_compared, *(left.chance for left in encoded.left_out)])
    modes: tuple[Settled, ...] = ()
    equalisation: Equalisation | None = None
    kept = np.arange(len(job.points))
    if p_compared <= params.alpha:
        modes = () if scan is None else scan_modes(job, scan)
        clock.stop("modes of the scan")
        more = full_space_modes(job, graph, calibration, modes)
        modes, equalisation, kept = modes + more.modes, more.equalisation, more.kept
        clock.stop("modes of the full space")
    kept_p_value = p_compared if kept.size == len(job.points) else _p_value_of(job, graph, kept)
    clock.stop("rows kept")

    kept_reference, kept_current = encoded.in_samples(kept)
    searched_reference, searched_current = encoded.in_samples(job.searched.rows)
    return ShiftResult(
        detected=p_value <= params.alpha,
        p_value=p_value,
        p_compared=p_compared,
        alpha=params.alpha,
        overview=overview(job, scan),
        modes=describe(job, modes),
        scores=scores,
        kept_reference=kept_reference,
        kept_current=kept_current,
        kept_p_value=kept_p_value,
        calibration=calibration,
        scan=None if scan is None else scan.in_units_of(encoded),
        equalisation=equalisation,
        random_state=job.random_state,
        params=params,
        searched_reference=searched_reference.size,
        searched_current=searched_current.size,
        timings=clock.laps(),
        encoded=encoded,
        gathered=job.pool.gathered,
        reading=job.reading,
    )


def _p_value_of(job: Job, graph: ShrinkingGraph, rows: NDArray[np.intp]) -> float | None:
    """p-value of both searches among some rows; None if that is switched off, or a sample has too few of them."""
    params, encoded = job.params, job.encoded
    left = graph.restored()
    left.remove(np.flatnonzero(~np.isin(job.searched.order, rows)))
    if not params.test_kept or left.exhausted(MIN_SAMPLE):
        return None
    smallest = calibrated(job, left, params.labellings, job.stage("rows kept")).p_value
    if params.scan is not None:
        n_reference = int(np.sum(~job.is_current[rows]))
        kept, _ = canonical(
            replace(encoded, points=encoded.points[rows], ranked=encoded.ranked[rows], n_reference=n_reference)
        )  # the labellings are those of a comparison of these rows
        scan = scan_points(
            kept.ranked,
            kept.n_reference,
            encoded.names,
            replace(params.scan, level=job.level),
            categories=encoded.categories,
            random_state=job.random_state,
            progress=job.progress,
        )
        smallest = min(smallest, scan.p_value)
    return min(1.0, job.searches * smallest)


def needed_memory(job: Job) -> int:
    """Bytes that a comparison takes at most beyond its samples, told before anything is computed."""
    (n, width), params = job.points.shape, job.params
    matrix, lists = 8 * int(n) * int(width), 15 * int(n) * min(int(n), job.k_max + job.k_max // 8 + 32)
    scan = 0 if params.scan is None else scan_memory(n, len(job.encoded.names), replace(params.scan, level=job.level))
    return _CODE + lists + 2 * matrix + max(scan + 3 * matrix, 4 * matrix)


def scanned(job: Job) -> ScanResult | None:
    """The subspace scan of all rows, its sets with those at hand; None if it is switched off."""
    params = job.params.scan
    return None if params is None else scan_pool(job, replace(params, level=job.level)).at_hand(job.pool.gathered)
