"""Samples in partitions: Dask data frames and arrays, Parquet files, and data in memory cut into parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from dask import delayed
from numpy.typing import NDArray

from shiftscope.encoding.agreed_columns import Kinds, Reading
from shiftscope.encoding.column_facts import Facts, merged
from shiftscope.encoding.features import Centre, Feature
from shiftscope.encoding.plan import Plan
from shiftscope.encoding.sample_order import row_digest
from shiftscope.engines.dask.cluster import Cluster
from shiftscope.errors import InputError
from shiftscope.messages import shown
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.column_kinds import Kind, Unusable
from shiftscope.tables.file_formats import file_suffix, source_paths
from shiftscope.tables.file_kind import PARQUET_SUFFIXES
from shiftscope.tables.file_readings import Look
from shiftscope.tables.options import TableOptions
from shiftscope.tables.table import MIN_ROWS, Table, joined, read_pair, read_part, read_table

ROWS_TOGETHER = 1 << 22  # numbers that one task checks for repetitions
FAN_IN = 8  # answers added up by one task
PARTS_IN_MEMORY = 8  # of data that is not partitioned yet


@dataclass(frozen=True)
class Partitions:
    """One sample in parts: whatever is asked of it is answered part by part, and the answers are added up in a tree.

    Attributes
    ----------
    cluster : Cluster
    role : "reference" or "current"
    parts : list of Delayed
        Each a NumPy array, a pandas or a polars frame, a `Table` or a `ParquetFile`: consecutive rows.
    lengths : list of int
        Rows of each.
    names : tuple of str
        All columns.
    positional : bool
        The columns had no names of their own.
    """

    cluster: Cluster
    role: str
    parts: list[Any]
    lengths: list[int]
    names: tuple[str, ...]
    positional: bool

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return sum(self.lengths)

    @property
    def starts(self) -> list[int]:
        """Position of the first row of each part, and the number of rows."""
        return [0, *np.cumsum(self.lengths).tolist()]

    def facts(self, kinds: Kinds) -> dict[str, Facts | Unusable]:
        """See `Reading.facts`."""
        found: dict[str, Facts | Unusable] = self._added(_facts, _merged_facts, kinds)
        return found

    def squares(self, centres: Mapping[str, tuple[Kind, Centre]]) -> dict[str, int]:
        """See `Reading.squares`."""
        sums: dict[str, int] = self._added(_squares, _merged_sums, centres)
        return sums

    def equal(self, one: Feature, other: Feature) -> bool:
        """See `Reading.equal`."""
        return bool(self._added(_equal, _all, one, other))

    def distinct(self, name: str) -> bool:
        """Whether no number occurs twice: numbers with the same remainder are brought together."""
        groups = -(-self.n_rows // ROWS_TOGETHER)
        split = [delayed(_by_remainder, nout=groups)(part, self.role, name, groups) for part in self.parts]
        tasks = [delayed(_no_repeats)([parts[at] for parts in split]) for at in range(groups)]
        return all(self.cluster.answers(tasks))

    def digest(self, plan: Plan) -> int:
        """See `row_digest`."""
        shared = whole(plan)
        tasks = [
            delayed(_digest)(part, self.role, shared, start)
            for part, start in zip(self.parts, self.starts, strict=False)
        ]
        return int(sum(self.cluster.answers(tasks)) % 2**64)

    def encoded(self, plan: Plan, rows: NDArray[np.intp] | None) -> Rows:
        """Matrix and ranks of the given rows (increasing positions; all if None), encoded where they are."""
        tasks, shared = [], whole(plan)
        for part, (low, high) in zip(self.parts, pairwise(self.starts), strict=True):
            some = None if rows is None else rows[np.searchsorted(rows, low) : np.searchsorted(rows, high)] - low
            tasks.append(delayed(_encoded)(part, self.role, shared, some))
        return self.cluster.answers(tasks)

    def table(self) -> Table:
        """The whole sample, brought here."""
        return joined(self.cluster.answers([delayed(_table)(part, self.role) for part in self.parts]))

    def _added(self, work: Callable[..., Any], add: Callable[..., Any], *arguments: Any) -> Any:
        arguments = tuple(whole(argument) for argument in arguments)
        answers = [delayed(work)(part, self.role, *arguments) for part in self.parts]
        return self.cluster.answer(tree(add, answers))


Rows = list[tuple[NDArray[np.float64], NDArray[np.float64] | None]]


def partitioned(cluster: Cluster, data: Any, role: str) -> Partitions:
    """Find the parts of a sample, count their rows and look at their columns."""
    parts = _parts(data, role)
    heads = cluster.answers([delayed(_head)(part, role) for part in parts])
    kept = [(part, head) for part, head in zip(parts, heads, strict=True) if head[0]]
    rows = sum(length for length, _, _ in heads)
    if rows < MIN_ROWS:
        found = f"{rows} row{'s' * (rows != 1)}"
        raise InputError(f"{role}: has {found}; each sample needs at least {MIN_ROWS} rows, so give more data")
    _, names, positional = kept[0][1]
    odd = sorted({name for _, head in kept for name in {*head[1]} ^ {*names}})
    if odd:
        raise InputError(f"{role}: the partitions differ in column {shown(odd[0])}; make them alike")
    return Partitions(cluster, role, [part for part, _ in kept], [head[0] for _, head in kept], names, positional)


def whole(argument: Any) -> Any:
    """An argument that many tasks share: sent once, and not searched for parts to compute."""
    return delayed(argument, traverse=False)


def tree(add: Callable[..., Any], answers: list[Any]) -> Any:
    """Delayed answers added up, a few at a time."""
    while len(answers) > 1:
        answers = [delayed(add)(*answers[at : at + FAN_IN]) for at in range(0, len(answers), FAN_IN)]
    return answers[0]


def ranked_part(part: Any, role: str, plan: Plan) -> NDArray[np.float64]:
    """What the scan bins of one part: (rows, d), see `Plan.ranked`."""
    reading = _reading(part, role)
    ranked = np.empty((reading.table.n_rows, len(plan.features)))
    plan.ranked(reading, ranked)
    return ranked


def read_here(reference: Any, current: Any, columns: Columns, options: TableOptions) -> tuple[Any, Any, Look | None]:
    """Samples that are not in partitions yet, read on this machine: together if both are such."""
    apart = _in_partitions(reference, "reference"), _in_partitions(current, "current")
    if not any(apart):
        pair = read_pair(reference, current, columns, options)
        return *pair.tables, pair.reading
    first = reference if apart[0] else read_table(reference, "reference", options=options)
    second = current if apart[1] else read_table(current, "current", options=options)
    return first, second, None


def _in_partitions(data: Any, role: str) -> bool:
    """Whether a sample is a collection of Dask or Parquet files, which workers read by themselves."""
    if isinstance(data, str | os.PathLike):
        return file_suffix(source_paths(data, role)[0].name).lower() in PARQUET_SUFFIXES
    return type(data).__module__.split(".")[0] == "dask"


def _parts(data: Any, role: str) -> list[Any]:
    """What is partitioned already stays so; a table is cut into parts."""
    if isinstance(data, Table):
        return [whole(data.rows(np.arange(part.start, part.stop))) for part in _cuts(data.n_rows)]
    if isinstance(data, str | os.PathLike):
        return [whole(ParquetFile(str(path.resolve()))) for path in source_paths(data, role)]
    if hasattr(data, "chunks"):
        return [part for line in data.rechunk({1: -1}).to_delayed() for part in line] if data.ndim == 2 else []
    return list(data.to_delayed())


def _cuts(n_rows: int) -> list[slice]:
    """Consecutive rows of about the same number."""
    step = -(-n_rows // PARTS_IN_MEMORY) or 1
    return [slice(at, min(at + step, n_rows)) for at in range(0, n_rows, step)]


_ONE_FILE: dict[str, Any] = {"glob": False, "hive_partitioning": False}


@dataclass(frozen=True)
class ParquetFile:
    """Rows in a file, read by whoever works on them and only while they do: frames never wait in a worker's memory."""

    path: str

    def n_rows(self) -> int:
        """How many there are; no column is read."""
        rows: int = pl.scan_parquet(Path(self.path), **_ONE_FILE).select(pl.len()).collect().item()
        return rows

    def read(self, rows: int | None = None) -> pl.DataFrame:
        """The first `rows` rows, or all."""
        return pl.read_parquet(Path(self.path), n_rows=rows, **_ONE_FILE)


def _head(part: Any, role: str) -> tuple[int, tuple[str, ...], bool]:
    """Rows of a part, its columns, and whether these had no names."""
    if isinstance(part, Table):
        return part.n_rows, part.names, part.positional
    in_file = isinstance(part, ParquetFile)
    table = _table(part.read(0) if in_file else part[:0], role)
    return part.n_rows() if in_file else len(part), table.names, table.positional


def _reading(part: Any, role: str) -> Reading:
    return Reading(_table(part, role))


def _table(part: Any, role: str) -> Table:
    return read_part(part.read() if isinstance(part, ParquetFile) else part, role)


def _facts(part: Any, role: str, kinds: Kinds) -> dict[str, Facts | Unusable]:
    return _reading(part, role).facts(kinds)


def _merged_facts(*parts: dict[str, Facts | Unusable]) -> dict[str, Facts | Unusable]:
    return {name: reduce(merged, [part[name] for part in parts]) for name in parts[0]}


def _squares(part: Any, role: str, centres: Mapping[str, tuple[Kind, Centre]]) -> dict[str, int]:
    return _reading(part, role).squares(centres)


def _merged_sums(*parts: dict[str, int]) -> dict[str, int]:
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _equal(part: Any, role: str, one: Feature, other: Feature) -> bool:
    return _reading(part, role).equal(one, other)


def _all(*parts: bool) -> bool:
    return all(parts)


def _by_remainder(part: Any, role: str, name: str, groups: int) -> list[NDArray[np.float64]]:
    """The numbers of one column, those with the same remainder together."""
    values = _reading(part, role).column(name, "number").values
    remainder = np.mod(values, groups)
    return [np.asarray(values[remainder == at]) for at in range(groups)]


def _no_repeats(parts: list[NDArray[np.float64]]) -> bool:
    values = np.concatenate(parts)
    return np.unique(values).size == values.size


def _digest(part: Any, role: str, plan: Plan, first: int) -> int:
    return row_digest(ranked_part(part, role, plan), first)


def _encoded(
    part: Any, role: str, plan: Plan, rows: NDArray[np.intp] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Matrix of some rows, and what the scan bins if that is something else."""
    table = _reading(part, role).table
    reading = Reading(table if rows is None else table.rows(rows))
    points = np.zeros((reading.table.n_rows, plan.width))
    plan.points(reading, points)
    if plan.plain:
        return points, None
    ranked = np.empty((len(points), len(plan.features)))
    plan.ranked(reading, ranked)
    return points, ranked
