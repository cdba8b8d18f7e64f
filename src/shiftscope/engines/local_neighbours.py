"""Neighbours on this machine: the points arranged in blocks, and threads that search them for groups of queries."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.base import Neighbours, Report
from shiftscope.kernels.knn_blocks import Blocks, build_blocks, order_nearby
from shiftscope.kernels.knn_estimates import STRIP, TILE
from shiftscope.kernels.knn_search import search_groups


@dataclass(frozen=True)
class Layout:
    """How points and queries are put together.

    Attributes
    ----------
    block_size : int
        Points per block: small ones can be skipped, large ones are scanned faster.
    group_size : int
        Queries searched together: they share the loads of each block.
    """

    block_size: int
    group_size: int


# From CPU times per query on one thread (Gaussian, mixture and clustered data of 2 to 565 features, 3,000 to 100,000
# points, k = 10 to 450, a busy machine). With two features and k = 30, blocks of 256 took a third of the time of 1024;
# from 16 features on, blocks of 1024 took 0.9 times the time of 512. Beyond, a block has to stay in the cache.
FEW_FEATURES = 8
SMALL_BLOCK = 256
LARGE_BLOCK = 1024
BLOCK_BYTES = 1 << 20
GROUP = 128

CHUNK_SECONDS = 0.25  # a search can be interrupted, and reports, about this often
GROUP_PRODUCTS = 10**10  # multiplications for one group, for the same reason
GROUP_BYTES = 1 << 26  # candidates of one group
CANDIDATE_BYTES = 12

SAMPLE_NEIGHBOURS = 15  # neighbours that a query expects in the sample, which guesses how far the others are
SAMPLE_DEVIATIONS = 3.0  # added to them, so that few queries are searched twice
SAMPLE_BLOCK = 128


def choose_layout(n: int, d: int, k: int) -> Layout:
    """The layout for `n` points of `d` features and `k` neighbours."""
    in_cache = max(1, BLOCK_BYTES // (4 * (d + 1) * STRIP)) * STRIP
    size = SMALL_BLOCK if d <= FEW_FEATURES else min(LARGE_BLOCK, in_cache)
    by_memory = GROUP_BYTES // ((2 * k + size) * CANDIDATE_BYTES)
    by_time = max(TILE, GROUP_PRODUCTS // (n * d))
    return Layout(size, max(1, min(GROUP, by_memory, by_time)))


@dataclass(frozen=True)
class LocalIndex:
    """Points arranged for searching (see `engines.base.Index`).

    Attributes
    ----------
    blocks : Blocks
    group_size : int
    n_threads : int
    """

    blocks: Blocks
    group_size: int
    n_threads: int

    @classmethod
    def of(
        cls, points: NDArray[np.float64], k: int, n_threads: int | None = None, layout: Layout | None = None
    ) -> LocalIndex:
        """Arrange (n, d) `points` for searches of about `k` neighbours; threads and layout change no result."""
        n, d = points.shape
        layout = layout or choose_layout(n, d, k)
        blocks = build_blocks(np.ascontiguousarray(points, dtype=np.float64), layout.block_size)
        return cls(blocks, layout.group_size, n_threads or cores())

    def knn(self, k: int, queries: NDArray[np.intp] | None = None, progress: Report | None = None) -> Neighbours:
        """Exact k nearest neighbours of the points at positions `queries` (see `Index.knn`)."""
        blocks = self.blocks
        places = np.asarray(blocks.place if queries is None else blocks.place[queries], dtype=np.int64)
        slots = np.argsort(places, kind="stable")
        places = places[slots]
        groups = _groups(places // blocks.size, self.group_size)
        rows = blocks.rows if queries is None else blocks.rows[places]
        return self._search(k, rows, blocks.ids[places], groups, slots, progress)

    def nearest(self, k: int, rows: NDArray[np.float64], progress: Report | None = None) -> Neighbours:
        """Exact k nearest points of (m, d) `rows`, which are not among them (see `Index.nearest`)."""
        slots = np.arange(len(rows), dtype=np.int32)
        order_nearby(rows, self.group_size, slots)
        groups = np.append(np.arange(0, len(rows), self.group_size), len(rows))
        strangers = np.full(len(rows), -1, dtype=np.int32)
        return self._search(k, rows[slots], strangers, groups, slots.astype(np.int64), progress)

    def _search(
        self,
        k: int,
        rows: NDArray[np.float64],
        own: NDArray[np.int32],
        groups: NDArray[np.int64],
        slots: NDArray[np.int64],
        progress: Report | None,
    ) -> Neighbours:
        index = np.empty((len(rows), k), dtype=np.int32)
        tied = np.empty((len(rows), k), dtype=np.bool_)
        sample, rank = _sample(self.blocks, k)

        def search(first: int, last: int) -> None:
            search_groups(self.blocks, sample, rank, rows, own, groups, first, last, slots, index, tied)

        _in_chunks(search, len(groups) - 1, self.n_threads, progress)
        return Neighbours(index, tied)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _groups(block: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Limits of groups of at most `size` queries of the same block (`block` ascends)."""
    order = np.arange(len(block))
    fresh = np.ones(len(block), dtype=np.bool_)
    fresh[1:] = block[1:] != block[:-1]
    start = np.maximum.accumulate(np.where(fresh, order, 0))
    return np.append(np.flatnonzero((order - start) % size == 0), len(block))


def _sample(blocks: Blocks, k: int) -> tuple[Blocks, int]:
    """Some of the points, from all blocks alike, and which of those nearest to a query is the first one too far.

    Its distance is a guess of the bound of the search (see `search_groups`). The rank is 0, and no guess is made, where
    so few neighbours are wanted that the sample would be most of the points.
    """
    step = (k + 1) // SAMPLE_NEIGHBOURS
    if step < 2:
        return blocks, 0
    rows = np.ascontiguousarray(blocks.rows[step // 2 :: step])
    expected = (k + 1) / step
    rank = math.ceil(expected + SAMPLE_DEVIATIONS * math.sqrt(expected)) + 1  # one more: the query itself may be there
    return (build_blocks(rows, SAMPLE_BLOCK), rank) if rank <= len(rows) else (blocks, 0)


def _in_chunks(work: Callable[[int, int], None], count: int, n_threads: int, progress: Report | None) -> None:
    """Call `work(first, last)` over 0..count in chunks of about `CHUNK_SECONDS`, on several threads.

    The calling thread takes part: an interrupt reaches it between two chunks, and so does its report.
    """
    ledger = _Ledger(count, n_threads)
    helpers = min(n_threads, count) - 1
    pool = ThreadPoolExecutor(helpers) if helpers > 0 else None
    try:
        futures = [pool.submit(ledger.run, work, None) for _ in range(helpers)] if pool else []
        ledger.run(work, progress)
        for future in futures:
            future.result()
    finally:
        ledger.close()
        if pool:
            pool.shutdown()
    if progress is not None:
        progress(1.0)


class _Ledger:
    """What remains to be done, handed out in chunks that take about the same time."""

    def __init__(self, count: int, n_threads: int) -> None:
        self._count = count
        self._n_threads = n_threads
        self._taken = 0
        self._lock = threading.Lock()

    def run(self, work: Callable[[int, int], None], progress: Report | None) -> None:
        """Take chunks until nothing remains."""
        size = 1
        while True:
            first, last = self._take(size)
            if first == last:
                return
            began = time.perf_counter()
            work(first, last)
            spent = time.perf_counter() - began
            size = max(1, min(4 * size, int((last - first) * CHUNK_SECONDS / max(spent, 1e-6))))
            if progress is not None:
                progress(first / self._count)

    def close(self) -> None:
        """Hand out nothing more."""
        with self._lock:
            self._taken = self._count

    def _take(self, size: int) -> tuple[int, int]:
        with self._lock:
            first = self._taken
            fair = -(-(self._count - first) // (2 * self._n_threads))  # towards the end, leave some for the others
            self._taken = first + min(size, fair)
            return first, self._taken
