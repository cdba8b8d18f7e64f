"""Local evidence that a point's own sample is over-represented around it, in both directions (paper 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Index, Neighbours
from shiftscope.errors import ParameterError, is_whole
from shiftscope.full_space.neighbours import neighbours
from shiftscope.full_space.null import ScoreNull
from shiftscope.job import Job
from shiftscope.kernels.score_walk import score_lists
from shiftscope.params import DEFAULT_K_MAX
from shiftscope.progress import Progress
from shiftscope.samples import ChosenColumns, ChosenEngine, open_samples

DEFAULT_P_EXT = 1e-5  # paper 2.1
OTHERS_AT_ONCE = 1 << 15  # rows outside of the search whose neighbour lists are held at once


@dataclass(frozen=True)
class Nulls:
    """Exact nulls of both directions: p is the share of the point's own sample in the pool."""

    reference: ScoreNull
    current: ScoreNull

    @cached_property
    def tables(self) -> NDArray[np.float64]:
        """(2, K_M + 1, K_M + 1) evidence tables, reference first: the label of a point selects its table."""
        return np.stack([self.reference.table, self.current.table])


@dataclass(frozen=True)
class Scores:
    """Scores of every row of both samples.

    Attributes
    ----------
    reference, current : (n_reference,), (n_current,) float64
        Upsilon_i = max_K -log P[Binomial(K, p) >= B(i, K)], B counting neighbours of the row's own sample.
    scale_reference, scale_current : int32
        The K that attains it (the smallest one); 0 where the score is 0.
    nulls : Nulls
        Exact null distribution of either side's scores.
    """

    reference: NDArray[np.float64]
    current: NDArray[np.float64]
    scale_reference: NDArray[np.int32]
    scale_current: NDArray[np.int32]
    nulls: Nulls

    def swapped(self) -> Scores:
        """The same with the two samples exchanged."""
        nulls = Nulls(self.nulls.current, self.nulls.reference)
        return Scores(self.current, self.reference, self.scale_current, self.scale_reference, nulls)

    def putative_current(self, p_ext: float = DEFAULT_P_EXT) -> NDArray[np.intp]:
        """Rows of `current` flagged at per-point null exceedance probability `p_ext` (the paper's Y+)."""
        return np.flatnonzero(self.current >= self.nulls.current.threshold(p_ext))

    def putative_reference(self, p_ext: float = DEFAULT_P_EXT) -> NDArray[np.intp]:
        """Rows of `reference` flagged at per-point null exceedance probability `p_ext`."""
        return np.flatnonzero(self.reference >= self.nulls.reference.threshold(p_ext))


def score(
    reference: object,
    current: object,
    k_max: int = DEFAULT_K_MAX,
    *,
    columns: ChosenColumns = None,
    engine: ChosenEngine = None,
    progress: Progress | None = None,
) -> Scores:
    """Score every row of two samples by the local excess of its own sample.

    Parameters
    ----------
    reference, current : array, data frame or path
        The two samples; columns are matched by name and standardised over the pool.
    k_max : int
        Largest neighbourhood K_M; at most the number of pooled rows minus one.
    columns : Columns or sequence of str, optional
        Which columns take part, and as what.
    engine : Engine or str, optional
        As for `compare`.
    progress : callable(stage, fraction), optional
    """
    check_k_max(k_max)
    with open_samples(reference, current, columns=columns, engine=engine, progress=progress) as samples:
        samples.need_all_rows("score")
        graph = neighbours(
            samples.points,
            usable_k_max(k_max, len(samples.points)),
            engine=samples.engine,
            progress=samples.stage("neighbours"),
        )
        return samples.turned(score_graph(graph, samples.is_current))


def score_graph(graph: Neighbours, is_current: NDArray[np.bool_]) -> Scores:
    """Scores on a neighbour graph of the pool, one list of exactly K_M neighbours per row."""
    n = is_current.size
    n_current = int(is_current.sum())
    nulls = nulls_for(n - n_current, n_current, graph.index.shape[1])
    rows = np.arange(n)
    values, scales, _ = walk(graph, rows, rows, np.ones(n, dtype=np.bool_), is_current, nulls)
    return Scores(values[~is_current], values[is_current], scales[~is_current], scales[is_current], nulls)


def nulls_for(n_reference: int, n_current: int, k_max: int) -> Nulls:
    """Exact nulls of both sides for samples of these sizes."""
    n = n_reference + n_current
    return Nulls(_null(k_max, n_reference / n), _null(k_max, n_current / n))


@lru_cache(maxsize=4)  # both sides, before and after a step; a table takes 8 K_M^2 bytes
def _null(k_max: int, p: float) -> ScoreNull:
    return ScoreNull(k_max, p)


def walk(
    graph: Neighbours,
    rows: NDArray[np.intp],
    lists: NDArray[np.intp],
    alive: NDArray[np.bool_],
    is_current: NDArray[np.bool_],
    nulls: Nulls,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_]]:
    """Score, scale and completeness of each of `rows` among the living points.

    The neighbours of rows[i] stand in list number lists[i] of the graph; lists may hold more than K_M.
    """
    values = np.empty(rows.size)
    scales = np.empty(rows.size, dtype=np.int32)
    complete = np.empty(rows.size, dtype=np.bool_)
    label = is_current.astype(np.uint8)
    score_lists(rows, lists, graph.index, graph.tied, alive, label, nulls.tables, values, scales, complete)
    return values, scales, complete


def score_others(job: Job, scores: Scores) -> Scores:
    """Scores of all rows of the pool, from those of the searched ones: the others see their neighbours among these.

    They see as many of either sample as the shares of the pool allow, so that one null holds for all rows. Neighbour
    lists are dropped as soon as their rows are scored.

    Parameters
    ----------
    job : Job
    scores : Scores
        Of the searched rows.
    """
    searched, points, is_current = job.searched, job.points, job.is_current
    if searched.whole:
        return scores
    values, scales = np.empty(len(points)), np.empty(len(points), dtype=np.int32)
    own = is_current[searched.rows]
    for sample, found, scale in (
        (own, scores.current, scores.scale_current),
        (~own, scores.reference, scores.scale_reference),
    ):
        values[searched.rows[sample]], scales[searched.rows[sample]] = found, scale
    seen = searched.mixed_like_the_pool(
        is_current, np.random.default_rng([job.random_state, searched.rows.size, len(points)])
    )
    others, told, k_max = searched.others, job.stage("score"), min(scores.nulls.current.k_max, seen.size)
    index = job.engine.index(np.ascontiguousarray(points[seen]), k_max)
    for start in range(0, others.size, OTHERS_AT_ONCE):
        rows = others[start : start + OTHERS_AT_ONCE]
        values[rows], scales[rows] = _scored(
            points[rows], is_current[rows], index, k_max, is_current[seen], scores.nulls
        )
        told((start + rows.size) / others.size)
    return Scores(values[~is_current], values[is_current], scales[~is_current], scales[is_current], scores.nulls)


def _scored(
    rows: NDArray[np.float64],
    is_current: NDArray[np.bool_],
    index: Index,
    k_max: int,
    label: NDArray[np.bool_],
    nulls: Nulls,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Scores and scales of rows with their neighbours among labelled points that are arranged for searching."""
    graph = index.nearest(k_max, np.ascontiguousarray(rows))
    labels = np.concatenate([label, is_current]).astype(np.uint8)  # the rows themselves stand behind the points
    places = label.size + np.arange(len(rows))
    values, scales = np.empty(len(rows)), np.empty(len(rows), dtype=np.int32)
    complete, alive = np.empty(len(rows), dtype=np.bool_), np.ones(labels.size, dtype=np.bool_)
    lists = np.arange(len(rows))
    score_lists(places, lists, graph.index, graph.tied, alive, labels, nulls.tables, values, scales, complete)
    return values, scales


def check_k_max(k_max: object) -> None:
    """Refuse what is no size of a neighbourhood."""
    if not is_whole(k_max, 1):
        raise ParameterError(f"k_max must be a whole number of at least 1, got {k_max!r}")


def usable_k_max(k_max: int, n: int) -> int:
    """`k_max`, or the largest neighbourhood that a pool of `n` rows allows."""
    check_k_max(k_max)
    return min(int(k_max), n - 1)
