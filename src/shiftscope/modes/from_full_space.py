"""Modes of the full space: what equalisation prunes, cluster by cluster, followed into its subspaces (paper 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb, log

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.features import columns_of
from shiftscope.full_space.calibrate import Calibration
from shiftscope.full_space.equalise import MIN_SAMPLE, Equalisation, equalise_graph
from shiftscope.full_space.search import calibrated
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.job import Job
from shiftscope.modes.excess import excess_mass
from shiftscope.modes.from_scan import echoes
from shiftscope.modes.mode import Settled
from shiftscope.modes.refine import refine, same_mode


@dataclass(frozen=True)
class FullSpaceModes:
    """What the full space shows beyond the modes that are known already.

    Attributes
    ----------
    equalisation : Equalisation or None
        What was pruned; None if the known modes leave nothing of a sample.
    modes : tuple of Settled
    kept : intp array
        Pool positions, increasing, of the rows that are in no mode and that equalisation leaves.
    """

    equalisation: Equalisation | None
    modes: tuple[Settled, ...]
    kept: NDArray[np.intp]


def full_space_modes(
    job: Job, graph: ShrinkingGraph, calibration: Calibration, known: tuple[Settled, ...]
) -> FullSpaceModes:
    """Modes of the full space beyond those the scan has found.

    The rows of the known modes are taken away first. If the rest still rejects, what equalisation prunes is followed,
    cluster by cluster, into the subspaces it points to, until the modes found explain the rest. Where one part of the
    pool rejects, chance is pruned elsewhere too: beside another mode, a mode needs evidence of its own.

    Parameters
    ----------
    job : Job
    graph : ShrinkingGraph
        As `full_space_graph` makes it; it stays as it is.
    calibration : Calibration
        Of that graph.
    known : tuple of Settled
    """
    left = _without(job, graph, known)
    if left.exhausted(MIN_SAMPLE):  # separated samples have nothing in common to keep
        return FullSpaceModes(None, (), _living(job, left))
    rest = calibrated(job, left, _n_labellings(job)) if known else calibration
    done = _equalised(job, left, rest)
    if max(calibration.p_value, rest.p_value) > job.level:
        return FullSpaceModes(done, (), _living(job, left))
    pruned = np.setdiff1d(job.searched.order[~left.alive], _rows(known))
    found: tuple[Settled, ...] = ()
    for mode in _refined(job, pruned, rest):
        if echoes(mode.features, known) or any(same_mode(mode, k, job.params.modes.same_rows) for k in known):
            continue
        if (known or found) and not stands_alone(job, mode):
            continue
        found += (replace(mode, enough=rest.enough(job.level, current=mode.is_current)),)
        left = _without(job, graph, known + found)
        if left.exhausted(MIN_SAMPLE):  # a whole sample is in excess, and so may the other be
            continue
        rest = calibrated(job, left, _n_labellings(job))
        if rest.p_value > job.level:  # the modes so far explain it all
            break
    if found and not left.exhausted(MIN_SAMPLE):
        _equalised(job, left, rest)
    return FullSpaceModes(done, found, _living(job, left))


def stands_alone(job: Job, mode: Settled) -> bool:
    """Whether the rows in the core of a mode tell, by themselves, that its sample is in excess there.

    They are counted where they had no part in drawing the region (see `excess_mass`). The half deviance of a region
    exceeds t with a chance of about exp(-t), so it must exceed the log of the number of regions, one around each row in
    each choice of as many features, over the level.
    """
    params = job.params.modes
    columns = np.ascontiguousarray(job.points[:, columns_of(job.groups, mode.features)])
    excess = excess_mass(
        columns, job.is_current, mode.rows, params, reach=params.core_share, random_state=job.random_state
    )
    regions = len(job.points) * comb(len(job.groups), len(mode.features))
    return excess.evidence > log(regions / job.level)


def _n_labellings(job: Job) -> int:
    """Labellings that decide whether the rest still rejects: those of equalisation, if the level is within reach."""
    few = job.params.equalise.n_permutations
    return few if (few + 1) * job.level >= 1.0 else job.params.labellings


def _equalised(job: Job, graph: ShrinkingGraph, calibration: Calibration) -> Equalisation:
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
    return refine(job, evident, p_values)


def _without(job: Job, graph: ShrinkingGraph, modes: tuple[Settled, ...]) -> ShrinkingGraph:
    """A graph of its own in which all live but the rows of the modes."""
    left = graph.restored()
    left.remove(np.argsort(job.searched.order)[_rows(modes)])
    return left


def _living(job: Job, graph: ShrinkingGraph) -> NDArray[np.intp]:
    """Pool positions, increasing, of the rows that live in the graph."""
    return np.sort(job.searched.order[graph.alive])


def _rows(modes: tuple[Settled, ...]) -> NDArray[np.intp]:
    return np.concatenate([np.empty(0, dtype=np.intp), *(mode.all_rows for mode in modes)])
