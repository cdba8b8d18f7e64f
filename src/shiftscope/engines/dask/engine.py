"""Comparison on a Dask cluster: rows are encoded, binned and counted where they are, the rest works on gathered rows.

Up to `gathered_rows` rows everything is as on one machine, to the last bit, for any number of partitions and workers.
Of larger pools that many rows, drawn at random, are gathered: the scan is of all rows, modes are sought in these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from dask import delayed
from distributed import Client, LocalCluster
from numpy.typing import NDArray

from shiftscope.encoding.bins import CodeTable, Limits, bin_tables, code_table
from shiftscope.encoding.encode import Encoded, encoded_rows
from shiftscope.encoding.features import Gaps, Levels
from shiftscope.encoding.plan import Recipe, make_recipe
from shiftscope.encoding.quantiles import Question, Tally, level_limits, number_limits
from shiftscope.encoding.sample_order import comes_first
from shiftscope.engines.base import Neighbours
from shiftscope.engines.dask.failures import guarded
from shiftscope.engines.dask.partitions import Partitions, partitioned, ranked_part, tree, whole
from shiftscope.engines.dask.shards import ShardedRows, cut_shards, shard_starts
from shiftscope.engines.local import LocalEngine, LocalIndex
from shiftscope.full_space.neighbours import pair_squares
from shiftscope.labellings.labellings import Labellings
from shiftscope.params import ScanParams
from shiftscope.progress import Progress
from shiftscope.samples import ChosenColumns, Gathered
from shiftscope.subspaces.scan import FeatureSet, ScanResult, scan_labellings, scan_rows
from shiftscope.tables.column_choice import as_columns

GATHERED_ROWS = 1 << 20
SHARD_ROWS = 1 << 19  # rows of one shard of the scan
LARGE_SEARCH = 10**9  # pairs of rows beyond which a search for neighbours is worth the way to the workers
QUERIES_PER_TASK = 4096

Report = Callable[[float], None]


@dataclass(frozen=True)
class DaskEngine:
    """Computes on the workers of a Dask cluster.

    Attributes
    ----------
    client : Client
        Connected to the cluster; use `DaskEngine.at` for the address of a scheduler.
    gathered_rows : int
        Most rows that are brought to this machine.
    """

    client: Client
    gathered_rows: int = GATHERED_ROWS
    shard_rows: int = SHARD_ROWS
    large_search: int = LARGE_SEARCH
    local: LocalEngine = field(default_factory=LocalEngine)

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
        with guarded("connect"):
            cluster = LocalCluster(threads_per_worker=1, dashboard_address=":0") if address is None else None
            client = Client(cluster or address, set_as_default=False)
        try:
            yield cls(client, **settings)
        finally:
            client.close()
            if cluster is not None:
                cluster.close()

    def read(self, reference: Any, current: Any, columns: ChosenColumns, random_state: int) -> DaskPool:
        """The two samples, of which no more than `gathered_rows` rows are brought here."""
        with guarded("read"):
            first, second = (partitioned(self.client, data, role) for data, role in _roles(reference, current))
            recipe = make_recipe((first, second), as_columns(columns))
            flipped = comes_first(second.n_rows, first.n_rows, lambda: (second.digest(recipe), first.digest(recipe)))
            samples = (second, first) if flipped else (first, second)
            rows = _gathered_rows(samples, self.gathered_rows, random_state)
            encoded = _gathered(samples, rows, recipe)
        return DaskPool(self, encoded, flipped, samples, rows, recipe)

    def knn(
        self,
        points: NDArray[np.float64],
        k: int,
        queries: NDArray[np.intp] | None = None,
        progress: Report | None = None,
    ) -> Neighbours:
        """Exact k nearest neighbours (see `Engine.knn`); small searches stay on this machine."""
        own = np.arange(len(points)) if queries is None else queries
        if len(points) * len(own) < self.large_search:
            return self.local.knn(points, k, queries, progress)
        return self._search(points, k, points[own], own.astype(np.int64), progress)

    def nearest(
        self, points: NDArray[np.float64], k: int, rows: NDArray[np.float64], progress: Report | None = None
    ) -> Neighbours:
        """Exact k nearest points of other rows (see `Engine.nearest`)."""
        if len(points) * len(rows) < self.large_search:
            return self.local.nearest(points, k, rows, progress)
        return self._search(points, k, rows, np.full(len(rows), -1), progress)

    def _search(
        self,
        points: NDArray[np.float64],
        k: int,
        rows: NDArray[np.float64],
        own: NDArray[np.int64],
        progress: Report | None,
    ) -> Neighbours:
        """Every worker searches its shard of the points; the lists are merged by distance and position."""
        with guarded("neighbours"):
            client, n_shards = self.client, max(1, len(self.client.nthreads()))
            edges = np.linspace(0, len(points), n_shards + 1).astype(int).tolist()
            shards = [delayed(_arranged)(points[low:high], k) for low, high in pairwise(edges)]
            lists = []
            for at in range(0, len(rows), QUERIES_PER_TASK):
                some = delayed(rows[at : at + QUERIES_PER_TASK])
                parts = [delayed(_nearest)(shard, low, some, k + 2) for shard, low in zip(shards, edges, strict=False)]
                lists.append(delayed(_merged)(parts, own[at : at + QUERIES_PER_TASK], k))
            found = []
            for number, future in enumerate(client.compute(lists)):
                found.append(future.result())
                if progress is not None:
                    progress((number + 1) / len(lists))
        return Neighbours(np.concatenate([one.index for one in found]), np.concatenate([one.tied for one in found]))


@dataclass(frozen=True)
class DaskPool:
    """Both samples, first the one that comes first in canonical order.

    Attributes
    ----------
    engine : DaskEngine
    encoded : Encoded
        The gathered rows.
    flipped : bool
        The samples are in the opposite order of the user's.
    samples : two Partitions
    rows : two intp arrays or None
        Positions of the gathered rows in either sample; None for all.
    recipe : Recipe
        How all rows are encoded.
    """

    engine: DaskEngine
    encoded: Encoded
    flipped: bool
    samples: tuple[Partitions, Partitions]
    rows: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]
    recipe: Recipe

    @property
    def gathered(self) -> Gathered | None:
        """Which rows are at hand; None if all are."""
        first, second = self.rows
        if first is None or second is None:
            return None
        return Gathered(first, second, self.samples[0].n_rows, self.samples[1].n_rows)

    def scan(self, params: ScanParams, random_state: int, progress: Progress) -> ScanResult:
        """The scan of all rows; the rows of its sets are positions among the gathered ones."""
        with guarded("scan"):
            client, limits = self.engine.client, self._limits()
            codes, tables = code_table(limits), bin_tables(limits, self.encoded.categories)
            parts, lengths = self._parts(_coded, codes), [n for sample in self.samples for n in sample.lengths]
            n, rng = sum(lengths), np.random.default_rng(random_state)
            starts = shard_starts(n, self.engine.shard_rows)
            shards = cut_shards(client, client.compute(parts), lengths, starts)
            blocks = scan_labellings(n, len(self.encoded.names), self.samples[0].n_rows, params, rng)

            def labelled(labellings: Labellings) -> ShardedRows:
                return ShardedRows.of(client, shards, starts, tables, labellings)

            found = scan_rows(labelled, blocks, self.encoded.names, params, rng=rng, progress=progress)
        return replace(found, sets=tuple(self._gathered(one) for one in found.sets))

    def _limits(self) -> list[Limits]:
        """Bins of all rows, to the last bit as `bin_features` would find them."""
        n_rows = sum(sample.n_rows for sample in self.samples)
        encodings = self.recipe.encodings
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
        answers: list[Tally] = self.engine.client.compute(root).result()
        return answers

    def _parts(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Something to be done with every part."""
        shared = [whole(argument) for argument in (self.recipe, *arguments)]
        return [delayed(work)(part, sample.role, *shared) for sample in self.samples for part in sample.parts]

    def _gathered(self, found: FeatureSet) -> FeatureSet:
        """The set with its rows as positions among the gathered ones, as far as they are."""
        sides = zip((found.rows_reference, found.rows_current), self.rows, strict=True)
        reference, current = (
            rows if some is None else np.flatnonzero(np.isin(some, rows, assume_unique=True)) for rows, some in sides
        )
        return replace(found, rows_reference=reference, rows_current=current)


def _roles(reference: Any, current: Any) -> list[tuple[Any, str]]:
    return [(reference, "reference"), (current, "current")]


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
    recipe: Recipe,
) -> Encoded:
    """Some rows of both samples, encoded."""
    reference, current = (sample.encoded(recipe, some) for sample, some in zip(samples, rows, strict=True))
    points = np.concatenate([part for part, _ in reference + current])
    ranked = [part for _, part in reference + current if part is not None]
    n_reference = sum(len(part) for part, _ in reference)
    return encoded_rows(recipe, points, np.concatenate(ranked) if ranked else None, n_reference)


def _coded(part: Any, role: str, recipe: Recipe, codes: CodeTable) -> NDArray[np.uint8]:
    """Codes (d, rows) of one part."""
    return codes.apply(ranked_part(part, role, recipe))


def _answers(part: Any, role: str, recipe: Recipe, questions: list[Question]) -> list[Tally]:
    ranked = ranked_part(part, role, recipe)
    return [question.answer(ranked) for question in questions]


def _added(*parts: list[Tally]) -> list[Tally]:
    return [reduce(add, tallies) for tallies in zip(*parts, strict=True)]


def _arranged(points: NDArray[np.float64], k: int) -> tuple[NDArray[np.float64], LocalIndex]:
    """A shard of the points, arranged once for all searches in it."""
    return points, LocalEngine(n_threads=1).index(points, k)


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
