"""The search of the full space: neighbours of the searched rows, and their tails against random labellings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shiftscope.full_space.calibrate import Calibration, calibrate
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.job import Job


def full_space_graph(job: Job) -> ShrinkingGraph:
    """Neighbours in the whole pool: of all rows, or of as many as the budget allows, which come first in the graph."""
    searched, n_reference = job.searched, job.encoded.n_reference
    order = searched.order
    return ShrinkingGraph(
        job.points if searched.whole else job.points[order],
        job.is_current[order],
        job.k_max,
        job.engine,
        rows=None if searched.whole else np.arange(searched.rows.size),
        own_position=np.where(order < n_reference, order, order - n_reference),
        progress=job.stage("neighbours"),
    )


def calibrated(
    job: Job, graph: ShrinkingGraph, n_labellings: int, progress: Callable[[float], None] | None = None
) -> Calibration:
    """Tail statistics of the living points against random labellings."""
    return calibrate(
        graph.compact(),
        graph.living_labels(),
        graph.all_scores()[graph.living()],
        q_tail=job.params.equalise.q_tail,
        n_permutations=n_labellings,
        random_state=job.random_state,
        progress=progress,
    )
