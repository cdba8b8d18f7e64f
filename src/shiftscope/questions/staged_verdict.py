"""The verdict of both searches at a small level, with as few labellings as the data allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shiftscope._compare import scanned
from shiftscope.full_space.search import calibrated, full_space_graph
from shiftscope.job import Job
from shiftscope.labellings.staged_p_value import StagedPValue, staged_p_value


def staged_verdict(job: Job, level: float) -> StagedPValue:
    """The p-value of both searches for a decision at `level`: twice the smaller of their staged p-values.

    If the scan alone decides, the full space is not looked at: twice the scan's p-value is then an upper bound of the
    p-value of both, and as valid.
    """
    share = level / job.searches
    searches = []
    if job.params.scan is not None:
        searches.append(staged_p_value(_scan(job), share))
    if not searches or searches[0].p_value > share:
        searches.append(staged_p_value(_full_space(job), share))
    smallest = min(search.p_value for search in searches)
    return StagedPValue(min(1.0, job.searches * smallest), max(search.n_permutations for search in searches))


def _scan(job: Job) -> Callable[[int], float]:
    def p_value(n_permutations: int) -> float:
        assert job.params.scan is not None
        params = replace(job.params, scan=replace(job.params.scan, n_permutations=n_permutations))
        found = scanned(replace(job, params=params))
        assert found is not None
        return found.p_value

    return p_value


def _full_space(job: Job) -> Callable[[int], float]:
    graph = full_space_graph(job)

    def p_value(n_permutations: int) -> float:
        return calibrated(job, graph, n_permutations, job.stage("calibrate")).p_value

    return p_value
