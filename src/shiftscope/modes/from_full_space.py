"""The paper's protocol in the full space: calibrated verdict, equalisation, modes, localisation and refinement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import comb, log

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.features import columns_of
from shiftscope.full_space.calibrate import Calibration, calibrate
from shiftscope.full_space.equalise import MIN_SAMPLE, Equalisation, equalise_graph
from shiftscope.full_space.shrinking_graph import LivingGraph
from shiftscope.job import Job
from shiftscope.modes.describe import excess_mass
from shiftscope.modes.from_scan import echoes
from shiftscope.modes.refine import Settled, refine, same_mode

CORE = 0.5  # of a mode's rows: how many lie densely enough to be its core


def full_space_graph(job: Job) -> LivingGraph:
    """Neighbours in the whole pool: of all rows, or of as many as the budget allows, which come first in the graph."""
    design, n_reference = job.design, job.encoded.n_reference
    order = design.order
    return LivingGraph(
        job.points if design.whole else job.points[order],
        job.is_current[order],
        job.params.k_max,
        job.engine,
        rows=None if design.whole else np.arange(design.rows.size),
        own_position=np.where(order < n_reference, order, order - n_reference),
        progress=job.stage("neighbours"),
    )


def full_space_modes(
    job: Job, graph: LivingGraph, calibration: Calibration, known: tuple[Settled, ...]
) -> tuple[Equalisation | None, tuple[Settled, ...]]:
    """Modes of the full space beyond those the scan has found.

    The rows of the known modes are taken away first. If the rest still rejects, what equalisation prunes is followed,
    cluster by cluster, into the subspaces it points to, until the modes found explain the rest. Where one part of the
    pool rejects, chance is pruned elsewhere too: beside another mode, a mode needs evidence of its own.

    Parameters
    ----------
    job : Job
    graph : LivingGraph
        As `full_space_graph` makes it; ends with the rows to keep alive: no mode's rows, and no detectable excess left.
    calibration : Calibration
        Of the untouched graph.
    known : tuple of Settled

    Returns
    -------
    Equalisation or None
        What was pruned beyond the known modes; None if these leave nothing of a sample.
    tuple of Settled
    """
    _remove(job, graph, known)
    if graph.exhausted(MIN_SAMPLE):  # separated samples have nothing in common to keep
        return None, ()
    rest = calibrated(job, graph, _n_labellings(job)) if known else calibration
    done = _equalised(job, graph, rest)
    if max(calibration.p_value, rest.p_value) > job.level:
        return done, ()
    pruned = _pruned(job, graph, known)
    found: tuple[Settled, ...] = ()
    for mode in _refined(job, pruned, rest):
        if echoes(mode.features, known) or any(same_mode(mode, other) for other in known):
            continue
        if (known or found) and not stands_alone(job, mode):
            continue
        found += (replace(mode, enough=rest.enough(job.level, current=mode.is_current)),)
        graph.restore()
        _remove(job, graph, known + found)
        if graph.exhausted(MIN_SAMPLE):  # a whole sample is in excess, and so may the other be
            continue
        rest = calibrated(job, graph, _n_labellings(job))
        if rest.p_value > job.level:  # the modes so far explain it all
            break
    if found and not graph.exhausted(MIN_SAMPLE):
        _equalised(job, graph, rest)
    return done, found


def stands_alone(job: Job, mode: Settled) -> bool:
    """Whether the rows in the core of a mode tell, by themselves, that its sample is in excess there.

    They are counted where they had no part in drawing the region (see `excess_mass`). The half deviance of a region
    exceeds t with a chance of about exp(-t), so it must exceed the log of the number of regions, one around each row in
    each choice of as many features, over the level.
    """
    columns = np.ascontiguousarray(job.points[:, columns_of(job.groups, mode.features)])
    excess = excess_mass(columns, job.is_current, mode.rows, reach=CORE, random_state=job.random_state)
    regions = len(job.points) * comb(len(job.groups), len(mode.features))
    return excess.evidence > log(regions / job.level)


def calibrated(
    job: Job, graph: LivingGraph, n_permutations: int, progress: Callable[[float], None] | None = None
) -> Calibration:
    """Tail statistics of the living points against random labellings."""
    return calibrate(
        graph.compact(),
        graph.living_labels(),
        graph.all_scores()[graph.living()],
        q_tail=job.params.equalise.q_tail,
        n_permutations=n_permutations,
        random_state=job.random_state,
        progress=progress,
    )


def _n_labellings(job: Job) -> int:
    """Labellings that decide whether the rest still rejects: those of equalisation, if the level is within reach."""
    few = job.params.equalise.n_permutations
    return few if (few + 1) * job.level >= 1.0 else job.params.labellings


def _equalised(job: Job, graph: LivingGraph, calibration: Calibration) -> Equalisation:
    return equalise_graph(
        graph,
        job.params.equalise,
        random_state=job.random_state,
        calibration=calibration,
        progress=job.stage("equalise"),
    )


def _refined(job: Job, pruned: NDArray[np.intp], calibration: Calibration) -> Iterator[Settled]:
    """Settled modes of the pruned rows, of the sides whose own calibrated test rejects."""
    p_values = (calibration.p_reference, calibration.p_current)
    evident = pruned[np.where(job.is_current[pruned], p_values[1], p_values[0]) <= job.level]
    return refine(
        job.points,
        job.is_current,
        evident,
        p_values,
        job.params.k_max,
        job.params.localise,
        groups=job.groups,
        max_iterations=job.params.max_iterations,
        max_modes=job.params.max_modes,
        random_state=job.random_state,
        engine=job.engine,
        progress=job.stage("refine"),
    )


def kept_rows(job: Job, graph: LivingGraph) -> NDArray[np.intp]:
    """Pool positions, increasing, of the rows that live in the graph."""
    return np.sort(job.design.order[graph.alive])


def _pruned(job: Job, graph: LivingGraph, modes: tuple[Settled, ...]) -> NDArray[np.intp]:
    """Pool positions of the rows taken out of the graph that are in no mode."""
    return np.setdiff1d(job.design.order[~graph.alive], _rows(modes))


def _remove(job: Job, graph: LivingGraph, modes: tuple[Settled, ...]) -> None:
    graph.remove(np.argsort(job.design.order)[_rows(modes)])


def _rows(modes: tuple[Settled, ...]) -> NDArray[np.intp]:
    return np.concatenate([np.empty(0, dtype=np.intp), *(mode.all_rows for mode in modes)])
