"""Samples in partitions: Dask data frames and arrays, Parquet files, and data in memory cut into parts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from dask import delayed
from distributed import Client
from numpy.typing import NDArray

from shiftscope.columns import Column
from shiftscope.encode import Encoded
from shiftscope.errors import InputError
from shiftscope.sources import PARQUET_SUFFIXES, file_suffix, source_paths
from shiftscope.tables import read_table
from shiftscope.wording import shown

PARTS_IN_MEMORY = 8  # of data that is not partitioned yet


@dataclass(frozen=True)
class Partitions:
    """One sample in parts.

    Attributes
    ----------
    role : "reference" or "current"
    parts : list of Delayed
        Each a NumPy array, a pandas or a polars frame: consecutive rows.
    lengths : list of int
        Rows of each.
    """

    role: str
    parts: list[Any]
    lengths: list[int]

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return sum(self.lengths)

    def gather(self, client: Client, rows: NDArray[np.intp] | None) -> Any:
        """The given rows (increasing positions; all if None) as one array or frame, brought here."""
        edges = np.concatenate([[0], np.cumsum(self.lengths)])
        wanted = []
        for part, low, high in zip(self.parts, edges[:-1], edges[1:], strict=True):
            if rows is None:
                wanted.append(part)
            else:
                inside = rows[np.searchsorted(rows, low) : np.searchsorted(rows, high)] - low
                wanted.append(delayed(_chosen)(part, inside))
        return _stacked(client.gather(client.compute(wanted)), self.role)


def partitioned(client: Client, data: Any, role: str) -> Partitions:
    """Find the parts of a sample and count their rows."""
    parts = _parts(data, role)
    lengths = [int(n) for n in client.gather(client.compute([delayed(len)(part) for part in parts]))]
    kept = [(part, length) for part, length in zip(parts, lengths, strict=True) if length]
    if sum(lengths) < 2:
        raise InputError(f"{role}: has {sum(lengths)} rows; each sample needs at least 2 rows, so give more data")
    return Partitions(role, [part for part, _ in kept], [length for _, length in kept])


def ranked_part(part: Any, encoded: Encoded, role: str) -> NDArray[np.float64]:
    """What the scan bins of one part: (rows, d), encoded as the rows that were gathered (see `Encoded.ranked`)."""
    table = read_table(part, role, least_rows=0)
    columns = dict(zip(table.names, table.columns, strict=True))
    ranked = np.empty((table.n_rows, len(encoded.names)))
    for at, feature in enumerate(encoded.features):
        column = columns.get(feature.name)
        if not isinstance(column, Column):
            raise InputError(f"{role}: column {shown(feature.name)} is not usable in every partition; mend or drop it")
        if feature.kind == "category":
            place = {level: float(position) for position, level in enumerate(feature.levels)}
            texts = column.texts() if not column.empty else [None] * table.n_rows
            values = np.array([np.nan if text is None else place.get(text, len(place) - 1.0) for text in texts])
        elif column.kind == feature.kind or column.empty:
            values = (column.values - encoded.centre[at]) / encoded.scale[at] + 0.0
        else:
            raise InputError(
                f"{role}: column {shown(feature.name)} holds {column.kind} values in one partition and {feature.kind} "
                "values in others; make it of one kind"
            )
        if np.isinf(values).any():
            raise InputError(f"{role}: column {shown(feature.name)} has infinite values; replace them")
        ranked[:, at] = np.where(np.isnan(values), -np.inf, values)
    return ranked


def _parts(data: Any, role: str) -> list[Any]:
    if isinstance(data, str | os.PathLike):
        paths = source_paths(data, role)
        if file_suffix(paths[0].name).lower() not in PARQUET_SUFFIXES:
            raise InputError(
                f"{role}: {shown(paths[0])} is no Parquet file; on a cluster, give Parquet files (a folder or a "
                "pattern), a Dask data frame or a Dask array"
            )
        return [delayed(_read)(str(path.resolve())) for path in paths]
    if type(data).__module__.split(".")[0] == "dask":
        if hasattr(data, "chunks"):
            return [part for line in data.rechunk({1: -1}).to_delayed() for part in line] if data.ndim == 2 else []
        return list(data.to_delayed())
    if isinstance(data, np.ndarray | pd.DataFrame | pl.DataFrame):
        step = -(-len(data) // PARTS_IN_MEMORY) or 1
        return [delayed(data[at : at + step]) for at in range(0, len(data), step)]
    raise InputError(
        f"{role}: an object of type {type(data).__name__} cannot be cut into parts; on a cluster, give Parquet files, "
        "a Dask data frame, a Dask array, or an array or data frame in memory"
    )


def _read(path: str) -> pl.DataFrame:
    return pl.read_parquet(Path(path), glob=False, hive_partitioning=False)


def _chosen(part: Any, rows: NDArray[np.intp]) -> Any:
    return part.iloc[rows] if isinstance(part, pd.DataFrame) else part[rows]


def _stacked(parts: Sequence[Any], role: str) -> Any:
    """Parts of one kind as one."""
    if isinstance(parts[0], pl.DataFrame):
        names = parts[0].columns
        odd = [name for part in parts for name in set(part.columns) ^ set(names)]
        if odd:
            raise InputError(f"{role}: the files differ in column {shown(sorted(odd)[0])}; write them alike")
        return pl.concat([part.select(names) for part in parts], how="vertical_relaxed")
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    return np.concatenate(parts)
