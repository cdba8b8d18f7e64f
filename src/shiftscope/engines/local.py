"""Neighbours on this machine: one arrangement of the points, three regimes of searching it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from shiftscope.engines.base import Neighbours
from shiftscope.kernels.knn_blocks import Blocks, build_blocks
from shiftscope.kernels.knn_fused import search_groups
from shiftscope.kernels.knn_product import search_product

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Regime:
    """How to search.

    Attributes
    ----------
    name : "tree", "fused" or "product"
    block_size : int
        Points per block: small ones can be skipped, large ones are scanned faster.
    group_size : int
        Queries searched together: they share the loads of each block.
    """

    name: Literal["tree", "fused", "product"]
    block_size: int
    group_size: int


# The rule, from CPU times per query on one thread (Gaussian and mixture data, 20,000 to 100,000 points, k = 200 and
# 400, a busy machine). Blocks of 128 were the fastest at five features, and blocks of 256 by 10 to 17 % at eight to
# 16. Matrix products were 1.2 times as fast as the fused pass at 20 and 24 features, 1.5 times at 48, 2.3 times at
# 150 (level at 12); where 20 features have three latent dimensions and single queries skip most blocks, the fused pass
# was 1.4 times as fast. Hence products above 16.
TREE = Regime("tree", block_size=128, group_size=32)
FUSED = Regime("fused", block_size=256, group_size=64)
PRODUCT = Regime("product", block_size=2048, group_size=512)
TREE_FEATURES = 8
FUSED_FEATURES = 16

CHUNK_SECONDS = 0.25  # a search can be interrupted, and reports, about this often
MIN_PRODUCT_GROUP = 32
GROUP_PRODUCTS = 10**10  # multiplications in one group of a product search, for the same reason
GROUP_BYTES = 1 << 26  # candidates of one group
CANDIDATE_BYTES = 12

_BLAS_LOCK = threading.Lock()


def choose_regime(n: int, d: int, k: int) -> Regime:
    """The regime for `n` points of `d` features and `k` neighbours."""
    regime = TREE if d <= TREE_FEATURES else FUSED if d <= FUSED_FEATURES else PRODUCT
    room = 2 * k + regime.block_size
    limits = [regime.group_size, GROUP_BYTES // (room * CANDIDATE_BYTES)]
    if regime is PRODUCT:
        limits.append(max(MIN_PRODUCT_GROUP, GROUP_PRODUCTS // (n * d)))
    return replace(regime, group_size=max(1, min(limits)))


@dataclass(frozen=True)
class LocalEngine:
    """Exact neighbours with the threads of this machine.

    Attributes
    ----------
    n_threads : int, optional
        Threads to use; all available cores by default.
    regime : Regime, optional
        How to search; by default the fastest one for the size of the task. Results depend on neither.
    """

    n_threads: int | None = None
    regime: Regime | None = None

    def knn(
        self,
        points: NDArray[np.float64],
        k: int,
        queries: NDArray[np.intp] | None = None,
        progress: Progress | None = None,
    ) -> Neighbours:
        """Exact k nearest neighbours (see `Engine.knn`)."""
        return self.index(points, k).knn(k, queries, progress)

    def index(self, points: NDArray[np.float64], k: int) -> LocalIndex:
        """Arrange (n, d) `points` once for many searches of about `k` neighbours."""
        n, d = points.shape
        regime = self.regime or choose_regime(n, d, k)
        blocks = build_blocks(np.ascontiguousarray(points, dtype=np.float64), regime.block_size)
        return LocalIndex(blocks, regime, self.n_threads or _cores())


@dataclass(frozen=True)
class LocalIndex:
    """Points arranged for searching.

    Attributes
    ----------
    blocks : Blocks
    regime : Regime
    n_threads : int
    """

    blocks: Blocks
    regime: Regime
    n_threads: int

    def knn(self, k: int, queries: NDArray[np.intp] | None = None, progress: Progress | None = None) -> Neighbours:
        """Exact k nearest neighbours of the points at positions `queries` (see `Engine.knn`)."""
        blocks = self.blocks
        places = np.asarray(blocks.place if queries is None else blocks.place[queries], dtype=np.int64)
        slots = np.argsort(places, kind="stable")
        places = places[slots]
        groups = _groups(places // self.regime.block_size, self.regime.group_size)
        index = np.empty((len(places), k), dtype=np.int32)
        tied = np.empty((len(places), k), dtype=np.bool_)

        def search(first: int, last: int) -> None:
            search_groups(blocks, places, groups, first, last, slots, index, tied)

        def multiply(first: int, last: int) -> None:
            for start, stop in zip(groups[first:last], groups[first + 1 : last + 1], strict=True):
                search_product(blocks, places[start:stop], slots[start:stop], index, tied)

        product = self.regime.name == "product"
        with _one_blas_thread() if product else nullcontext():
            _in_chunks(multiply if product else search, len(groups) - 1, self.n_threads, progress)
        return Neighbours(index, tied)


def _cores() -> int:
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


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Keep NumPy's products to one thread each while our own threads run several of them.

    The setting is global, so concurrent searches take turns; it is restored afterwards.
    """
    with _BLAS_LOCK, threadpool_limits(1, user_api="blas"):
        yield


def _in_chunks(work: Callable[[int, int], None], count: int, n_threads: int, progress: Progress | None) -> None:
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

    def run(self, work: Callable[[int, int], None], progress: Progress | None) -> None:
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
