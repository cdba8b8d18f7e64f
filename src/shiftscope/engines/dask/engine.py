"""Comparison on a Dask cluster: rows are encoded, binned and counted where they are, the rest works on gathered rows.

Up to `gathered_rows` rows everything is as on one machine, to the last bit, for any number of partitions and workers.
Of larger pools that many rows, drawn at random, are gathered: the scan is of all rows, modes are sought in these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from dask import delayed
from distributed import Client
from numpy.typing import NDArray

from shiftscope.encoding.bins import CodeTable, Limits, bin_tables, code_table
from shiftscope.encoding.encode import Encoded, encoded_rows
from shiftscope.encoding.features import Gaps, Levels
from shiftscope.encoding.plan import Plan, make_plan
from shiftscope.encoding.quantiles import Question, Tally, level_limits, number_limits
from shiftscope.encoding.sample_order import comes_first
from shiftscope.engines.base import Gathered, Index, Neighbours, Report
from shiftscope.engines.dask.cluster import Cluster
from shiftscope.engines.dask.connecting import connected
from shiftscope.engines.dask.failures import guarded
from shiftscope.engines.dask.partitions import Partitions, partitioned, ranked_part, read_here, tree, whole
from shiftscope.engines.dask.shards import ShardedRows, cut_shards, shard_starts
from shiftscope.engines.local import LocalEngine
from shiftscope.engines.local_neighbours import LocalIndex
from shiftscope.errors import ParameterError, is_positive, is_whole, kind_fault
from shiftscope.kernels.pair_squares import pair_squares
from shiftscope.labellings.labellings import Labellings
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.file_readings import Look
from shiftscope.tables.options import TableOptions
from shiftscope.tables.table import Table

GATHERED_ROWS = 1 << 20
SHARD_ROWS = 1 << 19  # rows of one shard of the scan
LARGE_SEARCH = 10**9  # pairs of rows beyond which a search for neighbours is worth the way to the workers
QUERIES_PER_TASK = 4096
WAIT_SECONDS = 300.0  # new machines of a cluster that grows on demand need minutes


@dataclass(frozen=True)
class DaskEngine:
    """Computes on the workers of a Dask cluster.

    Attributes
    ----------
    client : Client
        Connected to the cluster; use `DaskEngine.at` for the address of a scheduler.
    gathered_rows : int
        Most rows that are brought to this machine.
    wait_seconds : float
        How long to wait while nothing is done and no worker could do anything: there is none, all are paused at their
        memory limit, or the scheduler does not answer.
    """

    client: Client
    gathered_rows: int = GATHERED_ROWS
    wait_seconds: float = WAIT_SECONDS
    shard_rows: int = SHARD_ROWS
    large_search: int = LARGE_SEARCH
    local: LocalEngine = field(default_factory=LocalEngine)

    def __post_init__(self) -> None:
        faults = [fault for fault in (kind_fault("client", self.client, Client),) if fault is not None]
        for name, least in (("gathered_rows", 10), ("shard_rows", 1), ("large_search", 1)):
            if not is_whole(getattr(self, name), least):
                faults.append(f"{name} must be a whole number of at least {least}, got {getattr(self, name)!r}")
        if not is_positive(self.wait_seconds):
            faults.append(f"wait_seconds must be a finite number above 0, got {self.wait_seconds!r}")
        if faults:
            raise ParameterError("; ".join(faults))

    @classmethod
    @contextmanager
    def at(cls, address: str | None = None, **settings: Any) -> Iterator[DaskEngine]:
        """Connect to a scheduler, or to a cluster on this machine that ends with the block.

        Parameters
        ----------
        address : str, optional
            Such as "tcp://10.0.0.1:8786".
        settings
            Of the engine.
        """
        with connected(address) as client:
            yield cls(client, **settings)

    def open(self, reference: Any, current: Any, columns: Columns, random_state: int, tables: TableOptions) -> DaskPool:
        """The two samples, of which no more than `gathered_rows` rows are brought here."""
        cluster = self.cluster()
        try:
            return self._opened(cluster, (reference, current), columns, random_state, tables)
        except BaseException:
            cluster.close()
            raise

    def cluster(self) -> Cluster:
        """The cluster, for one piece of work."""
        return Cluster(self.client, self.wait_seconds)

    @guarded("read")
    def _opened(
        self, cluster: Cluster, given: tuple[Any, Any], columns: Columns, random_state: int, tables: TableOptions
    ) -> DaskPool:
        *here, reading = read_here(*given, columns, tables)
        first, second = (
            partitioned(cluster, data, role) for data, role in zip(here, ("reference", "current"), strict=True)
        )
        plan = make_plan((first, second), columns)
        flipped = comes_first(second.n_rows, first.n_rows, lambda: (second.digest(plan), first.digest(plan)))
        samples = (second, first) if flipped else (first, second)
        rows = _gathered_rows(samples, self.gathered_rows, random_state)
        encoded = _gathered(samples, rows, plan)
        reading = reading.swapped() if flipped and reading is not None else reading
        return DaskPool(self, cluster, encoded, flipped, samples, rows, plan, reading)

    def index(self, points: NDArray[np.float64], k: int) -> DaskIndex:
        """Points to be searched: where, is decided by how much there is to do."""
        return DaskIndex(self, points, k)


@dataclass(frozen=True)
class DaskIndex:
    """Points arranged for searching (see `engines.base.Index`): small searches stay on this machine.

    Attributes
    ----------
    engine : DaskEngine
    points : (n, d) float64
    k : int
        Neighbours, about, that searches will ask for.
    """

    engine: DaskEngine
    points: NDArray[np.float64]
    k: int

    @cached_property
    def _here(self) -> Index:
        return self.engine.local.index(self.points, self.k)

    def knn(self, k: int, queries: NDArray[np.intp] | None = None, progress: Report | None = None) -> Neighbours:
        """Exact k nearest neighbours (see `Index.knn`)."""
        own = np.arange(len(self.points)) if queries is None else queries
        if self._small(len(own)):
            return self._here.knn(k, queries, progress)
        return self._search(k, self.points[own], own.astype(np.int64), progress)

    def nearest(self, k: int, rows: NDArray[np.float64], progress: Report | None = None) -> Neighbours:
        """Exact k nearest points of other rows (see `Index.nearest`)."""
        if self._small(len(rows)):
            return self._here.nearest(k, rows, progress)
        return self._search(k, rows, np.full(len(rows), -1), progress)

    def _small(self, n_queries: int) -> bool:
        return len(self.points) * n_queries < self.engine.large_search

    @guarded("neighbours")
    def _search(self, k: int, rows: NDArray[np.float64], own: NDArray[np.int64], progress: Report | None) -> Neighbours:
        """Every worker searches its shard of the points; the lists are merged by distance and position."""
        n_shards = max(1, len(self.engine.client.nthreads()))
        edges = np.linspace(0, len(self.points), n_shards + 1).astype(int).tolist()
        shards = [delayed(_arranged)(self.points[low:high], k) for low, high in pairwise(edges)]
        lists = []
        for at in range(0, len(rows), QUERIES_PER_TASK):
            some = delayed(rows[at : at + QUERIES_PER_TASK])
            parts = [delayed(_nearest)(shard, low, some, k + 2) for shard, low in zip(shards, edges, strict=False)]
            lists.append(delayed(_merged)(parts, own[at : at + QUERIES_PER_TASK], k))
        found = []
        with closing(self.engine.cluster()) as cluster:
            for number, future in enumerate(cluster.compute(lists)):
                found.append(cluster.result(future))
                if progress is not None:
                    progress((number + 1) / len(lists))
        return Neighbours(np.concatenate([one.index for one in found]), np.concatenate([one.tied for one in found]))


@dataclass(frozen=True)
class DaskPool:
    """Both samples, first the one that comes first in canonical order.

    Attributes
    ----------
    engine : DaskEngine
    cluster : Cluster
    encoded : Encoded
        The gathered rows.
    flipped : bool
        The samples are in the opposite order of the user's.
    samples : two Partitions
    rows : two intp arrays or None
        Positions of the gathered rows in either sample; None for all.
    plan : Plan
        How all rows are encoded.
    reading : Look or None
        What was understood of samples that were read on this machine.
    """

    engine: DaskEngine
    cluster: Cluster
    encoded: Encoded
    flipped: bool
    samples: tuple[Partitions, Partitions]
    rows: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]
    plan: Plan
    reading: Look | None

    @property
    def gathered(self) -> Gathered | None:
        """Which rows are at hand; None if all are."""
        first, second = self.rows
        if first is None or second is None:
            return None
        missing = self.plan.missing[::-1] if self.flipped else self.plan.missing
        return Gathered(first, second, self.samples[0].n_rows, self.samples[1].n_rows, *missing)

    @guarded("scan")
    def binned(self) -> Callable[[Labellings], ShardedRows]:
        """All rows in bins, in shards on the workers."""
        cluster, limits = self.cluster, self._limits()
        codes, tables = code_table(limits), bin_tables(limits, self.encoded.categories)
        parts, lengths = self._parts(_coded, codes), [n for sample in self.samples for n in sample.lengths]
        starts = shard_starts(sum(lengths), self.engine.shard_rows)
        shards = cut_shards(cluster, cluster.compute(parts), lengths, starts)
        return lambda labellings: ShardedRows.of(cluster, shards, starts, tables, labellings)

    def tables(self) -> tuple[Table, Table]:
        """Both samples, gathered whole."""
        with guarded("read"):
            first, second = (sample.table() for sample in self.samples)
        return first, second

    def close(self) -> None:
        """Let go of everything on the workers."""
        self.cluster.close()

    def _limits(self) -> list[Limits]:
        """Bins of all rows, to the last bit as `bin_features` would find them."""
        n_rows = sum(sample.n_rows for sample in self.samples)
        encodings = self.plan.encodings
        numbers = [at for at, encoding in enumerate(encodings) if not isinstance(encoding, Levels)]
        missing = [one.missing if isinstance(one := encodings[at], Gaps) else 0 for at in numbers]
        found = dict(zip(numbers, number_limits(self._ask, numbers, n_rows, missing), strict=True))
        return [
            level_limits(encoding.counts, encoding.missing) if isinstance(encoding, Levels) else found[at]
            for at, encoding in enumerate(encodings)
        ]

    def _ask(self, questions: Sequence[Question]) -> list[Tally]:
        """Answers of all rows, added up."""
        root = tree(_added, self._parts(_answers, list(questions)))
        answers: list[Tally] = self.cluster.answer(root)
        return answers

    def _parts(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Something to be done with every part."""
        shared = [whole(argument) for argument in (self.plan, *arguments)]
        return [delayed(work)(part, sample.role, *shared) for sample in self.samples for part in sample.parts]


def _gathered_rows(
    samples: tuple[Partitions, Partitions], most: int, random_state: int
) -> tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """Positions in either sample of a random choice among all rows, blind to the samples; None if all fit."""
    n_first, n = samples[0].n_rows, sum(sample.n_rows for sample in samples)
    if n <= most:
        return None, None
    rows = np.sort(np.random.default_rng([random_state, most, n]).choice(n, most, replace=False))
    return rows[rows < n_first], rows[rows >= n_first] - n_first


def _gathered(
    samples: tuple[Partitions, Partitions],
    rows: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None],
    plan: Plan,
) -> Encoded:
    """Some rows of both samples, encoded."""
    reference, current = (sample.encoded(plan, some) for sample, some in zip(samples, rows, strict=True))
    points = np.concatenate([part for part, _ in reference + current])
    ranked = [part for _, part in reference + current if part is not None]
    n_reference = sum(len(part) for part, _ in reference)
    return encoded_rows(plan, points, np.concatenate(ranked) if ranked else None, n_reference)


def _coded(part: Any, role: str, plan: Plan, codes: CodeTable) -> NDArray[np.uint8]:
    """Codes (d, rows) of one part."""
    return codes.apply(ranked_part(part, role, plan))


def _answers(part: Any, role: str, plan: Plan, questions: list[Question]) -> list[Tally]:
    ranked = ranked_part(part, role, plan)
    return [question.answer(ranked) for question in questions]


def _added(*parts: list[Tally]) -> list[Tally]:
    return [reduce(add, tallies) for tallies in zip(*parts, strict=True)]


def _arranged(points: NDArray[np.float64], k: int) -> tuple[NDArray[np.float64], LocalIndex]:
    """A shard of the points, arranged once for all searches in it."""
    return points, LocalIndex.of(points, k, n_threads=1)


def _nearest(
    shard: tuple[NDArray[np.float64], LocalIndex], first: int, rows: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions and squared distances of the k nearest points of a shard that begins at position `first`."""
    points, index = shard
    found = index.nearest(min(k, len(points)), rows)
    return found.index.astype(np.int64) + first, pair_squares(rows, points, found.index)


def _merged(lists: list[tuple[NDArray[np.int64], NDArray[np.float64]]], own: NDArray[np.int64], k: int) -> Neighbours:
    """The k nearest of all shards, by distance and then by position, the query itself left out by its position."""
    index = np.concatenate([part[0] for part in lists], axis=1)
    squares = np.concatenate([part[1] for part in lists], axis=1)
    squares[index == own[:, None]] = np.inf  # the last of all, and one more than k + 1 are listed
    order = np.lexsort((index, squares), axis=1)[:, : k + 1]
    index, squares = (np.take_along_axis(part, order, axis=1) for part in (index, squares))
    tied = np.zeros((len(own), k), dtype=np.bool_)
    same = (squares[:, :-1] == squares[:, 1:]) & np.isfinite(squares[:, 1:])
    tied[:, : same.shape[1]] = same[:, :k]
    return Neighbours(index[:, :k].astype(np.int32), tied)
