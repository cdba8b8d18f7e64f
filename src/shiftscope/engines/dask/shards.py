"""Binned rows cut into shards on the workers of a Dask cluster: counts add up, and only sums travel.

Every shard begins at a fixed position of the pool and draws the labels of its own rows (see `labellings`), so that the
counts, and with them the whole scan, are the same for any number of partitions and workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray

from shiftscope.encoding.bins import BinTables
from shiftscope.engines.binned_rows import WindowEvidence, WindowTask, cell_counts, rows_inside
from shiftscope.engines.dask.cluster import Cluster
from shiftscope.engines.dask.failures import guarded
from shiftscope.engines.dask.partitions import FAN_IN
from shiftscope.engines.term_sums import Terms, TermSums, term_sums
from shiftscope.kernels.deviance import xlogx
from shiftscope.kernels.labels import PACK
from shiftscope.kernels.shard_counts import count_sets, evaluate_sets
from shiftscope.kernels.window_counts import MAX_BINS
from shiftscope.labellings.labellings import Labellings

SHARD_STEP = 1024  # rows of the smallest shard
TABLE_BYTES = 1 << 25  # of one task's counters
TASKS_AHEAD = 4  # tables under way per thread of the cluster: more would only fill its memory

Counts = tuple[NDArray[Any], NDArray[np.int64]]


@dataclass(frozen=True)
class ShardedRows:
    """All rows, on the workers.

    Attributes
    ----------
    cluster : Cluster
    shards : list of Future
        (d, m) uint8 codes of consecutive rows each.
    starts : (shards + 1,) int
        Pool position of the first row of each shard, multiples of `SHARD_STEP`; the number of rows at the end.
    tables : BinTables
    labellings : Labellings
    packed : list of Future
        (packs, m) uint64 labels of each shard's rows.
    groups : list of lists of int
        Shards that one task counts: they lie on one worker, so that only sums travel.
    logs : Future
        ``i log i`` up to the number of rows.
    """

    cluster: Cluster
    shards: list[Future]
    starts: list[int]
    tables: BinTables
    labellings: Labellings
    packed: list[Future]
    groups: list[list[int]]
    logs: Future

    @classmethod
    @guarded("scan")
    def of(
        cls, cluster: Cluster, shards: list[Future], starts: list[int], tables: BinTables, labellings: Labellings
    ) -> ShardedRows:
        """Draw the labels where the rows are."""
        packed = [
            cluster.submit(_packed, shard, labellings, start, stop)
            for shard, (start, stop) in zip(shards, pairwise(starts), strict=True)
        ]
        groups, logs = _neighbouring(cluster, shards), cluster.submit(xlogx, labellings.n_rows)
        return cls(cluster, shards, starts, tables, labellings, packed, groups, logs)

    @guarded("scan")
    def scan_windows(self, task: WindowTask, pack: int) -> WindowEvidence:
        """Count some sets at a time on all shards, add the tables up, look at the sums."""
        ahead = TASKS_AHEAD * max(1, sum(self.cluster.client.nthreads().values()))
        parts: list[WindowEvidence] = []
        waiting: list[Future] = []
        for tile in _tiles(task):
            waiting.append(self._evidence(tile, pack))
            if len(waiting) > ahead:
                parts.append(self.cluster.result(waiting.pop(0)))
        parts += self.cluster.results(waiting)
        return (
            np.concatenate([part[0] for part in parts], axis=1),
            np.concatenate([part[1] for part in parts], axis=1),
            np.concatenate([part[2] for part in parts]),
        )

    def _evidence(self, tile: WindowTask, pack: int) -> Future:
        work = (tile.sets, tile.shift, tile.counter, pack)
        counts = []
        for group in self.groups:
            shards, packed = ([futures[at] for at in group] for futures in (self.shards, self.packed))
            counts.append(self.cluster.submit(_counted, shards, packed, *work))
        table = self._tree(_added, counts)
        return self.cluster.submit(_evaluated, table, tile, self.logs, self.labellings.counted, pack == 0)

    @guarded("scan")
    def term_sums(self, terms: Terms) -> TermSums:
        """Sums of terms over all shards."""
        parts = self._map(_terms, self.packed, self.tables, self.labellings.n_labellings, terms)
        sums: TermSums = self.cluster.result(self._tree(_summed, parts))
        return sums

    @guarded("scan")
    def take(self, rows: NDArray[np.intp] | None) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
        """Codes and labels of some rows, brought here."""
        cuts = [None] * len(self.shards) if rows is None else _cut(rows, self.starts)
        parts = self.cluster.results(
            [
                self.cluster.submit(_taken, shard, packed, cut)
                for shard, packed, cut in zip(self.shards, self.packed, cuts, strict=True)
            ]
        )
        return np.concatenate([part[0] for part in parts], axis=1), np.concatenate([part[1] for part in parts], axis=1)

    @guarded("scan")
    def inside(self, features: tuple[int, ...], box: NDArray[np.int64]) -> NDArray[np.intp]:
        """Pool positions of the rows in a box."""
        parts = self.cluster.results([self.cluster.submit(rows_inside, shard, features, box) for shard in self.shards])
        return np.concatenate([part + start for part, start in zip(parts, self.starts[:-1], strict=True)])

    @guarded("scan")
    def cells(
        self, features: tuple[int, ...], limits: list[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Cells that hold rows, their rows and their counted rows."""
        parts = self.cluster.results(self._map(cell_counts, self.packed, features, limits))
        cells = np.unique(np.concatenate([part[0] for part in parts]))
        held, counted = (np.zeros(len(cells), np.int64) for _ in range(2))
        for some, rows, hits in parts:
            at = np.searchsorted(cells, some)
            held[at] += rows
            counted[at] += hits
        return cells, held, counted

    def _map(self, work: Callable[..., Any], packed: list[Future], *arguments: Any) -> list[Future]:
        return [
            self.cluster.submit(work, shard, labels, *arguments)
            for shard, labels in zip(self.shards, packed, strict=True)
        ]

    def _tree(self, add: Callable[..., Any], futures: list[Future]) -> Future:
        """Add results up, a few at a time, where they are."""
        while len(futures) > 1:
            groups = [futures[at : at + FAN_IN] for at in range(0, len(futures), FAN_IN)]
            futures = [self.cluster.submit(add, *group) for group in groups]
        return futures[0]


def shard_starts(n: int, rows: int) -> list[int]:
    """Pool positions where shards of about so many rows begin, and the end."""
    size = max(1, round(rows / SHARD_STEP)) * SHARD_STEP
    return [*range(0, n, size), n]


def cut_shards(
    cluster: Cluster, parts: Sequence[Future], lengths: Sequence[int], starts: Sequence[int]
) -> list[Future]:
    """Codes of partitions (d, length), in the order of the pool, cut anew at `starts`."""
    edges = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    shards = []
    for low, high in pairwise(starts):
        pieces = [
            (part, max(low, begin) - begin, min(high, end) - begin)
            for part, (begin, end) in zip(parts, pairwise(edges), strict=True)
            if begin < high and end > low
        ]
        cuts = [(begin, end) for _, begin, end in pieces]
        shards.append(cluster.submit(_joined, cuts, *(part for part, _, _ in pieces)))
    return shards


def _neighbouring(cluster: Cluster, shards: list[Future]) -> list[list[int]]:
    """Positions of the shards that lie on one worker, in as many groups as it has threads."""
    cluster.wait(shards)
    threads, held = cluster.client.nthreads(), cluster.client.who_has(shards)
    places: dict[str, list[int]] = {}
    for position, shard in enumerate(shards):
        places.setdefault(min(held.get(shard.key) or [""]), []).append(position)
    return [part for place, some in places.items() for part in _dealt(some, threads.get(place, 1))]


def _dealt(positions: list[int], hands: int) -> list[list[int]]:
    return [positions[first::hands] for first in range(min(hands, len(positions)))]


def _joined(cuts: list[tuple[int, int]], *parts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.concatenate([part[:, low:high] for part, (low, high) in zip(parts, cuts, strict=True)], axis=1)


def _cut(rows: NDArray[np.intp], starts: list[int]) -> list[NDArray[np.intp]]:
    """Increasing pool positions as positions within each shard."""
    edges = np.searchsorted(rows, starts)
    return [rows[low:high] - start for (low, high), start in zip(pairwise(edges), starts[:-1], strict=True)]


def _tiles(task: WindowTask) -> Iterator[WindowTask]:
    """The task in parts whose tables are small."""
    one = task.finest ** task.sets.shape[1] * PACK * task.counter.itemsize
    count = max(1, TABLE_BYTES // one)
    for at in range(0, len(task.sets), count):
        yield replace(task, sets=task.sets[at : at + count])


def _packed(codes: NDArray[np.uint8], labellings: Labellings, start: int, stop: int) -> NDArray[np.uint64]:
    return labellings.packed(start, stop)


def _counted(
    shards: list[NDArray[np.uint8]],
    labels: list[NDArray[np.uint64]],
    sets: NDArray[np.int64],
    shift: int,
    counter: np.dtype[Any],
    pack: int,
) -> Counts:
    cells = (MAX_BINS >> shift) ** sets.shape[1]
    tables, totals = np.zeros((len(sets), cells, PACK), counter), np.zeros((len(sets), cells), np.int64)
    for codes, packed in zip(shards, labels, strict=True):
        count_sets(codes, packed[pack], sets, shift, tables, totals)
    return tables, totals


def _added(*parts: Counts) -> Counts:
    tables, totals = parts[0][0].copy(), parts[0][1].copy()
    for more, rows in parts[1:]:
        tables += more
        totals += rows
    return tables, totals


def _evaluated(
    counts: Counts, task: WindowTask, logs: NDArray[np.float64], counted: int, observed: bool
) -> WindowEvidence:
    tables, totals = counts[0].copy(), counts[1].copy()
    count, size = task.sets.shape
    evidence = np.full((2, count, PACK), task.floor, np.float32)
    if observed:
        evidence[:, :, 0] = -np.inf
    window = np.full((2, count, PACK), -1, np.int32)
    pooled = np.full((count, PACK), -np.inf, np.float32)
    evaluate_sets(
        tables, totals, MAX_BINS >> task.shift, size, counted, observed, task.price,
        task.bounds(counted, logs), logs, evidence, window, pooled,
    )  # fmt: skip
    return evidence, window, pooled


def _terms(
    codes: NDArray[np.uint8], packed: NDArray[np.uint64], tables: BinTables, n_labellings: int, terms: Terms
) -> TermSums:
    return term_sums(codes, tables, packed, n_labellings, terms)


def _summed(*parts: TermSums) -> TermSums:
    return sum(parts[1:], start=parts[0])


def _taken(
    codes: NDArray[np.uint8], packed: NDArray[np.uint64], rows: NDArray[np.intp] | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    return (codes, packed) if rows is None else (codes[:, rows], packed[:, rows])
