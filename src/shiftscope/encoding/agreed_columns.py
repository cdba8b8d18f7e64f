"""The columns of a table, or of a part of a sample, read as the kinds that both samples have agreed on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.column_facts import Facts, column_facts
from shiftscope.encoding.features import Centre, Feature
from shiftscope.tables.column_kinds import Column, Kind, Unusable, read_as
from shiftscope.tables.table import Table

Kinds = Mapping[str, Kind | None]  # the kind that columns are read as; None for the kind that they have


class Reading:
    """A table whose columns are read as needed, each once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._places = {name: place for place, name in enumerate(table.names)}
        self._read: dict[tuple[str, Kind], Column] = {}

    def facts(self, kinds: Kinds) -> dict[str, Facts | Unusable]:
        """What is known of some columns, read as the given kinds."""
        found: dict[str, Facts | Unusable] = {}
        for name, kind in kinds.items():
            column = self._raw(name)
            if isinstance(column, Column):
                found[name] = column_facts(column if kind is None else self.column(name, kind))
            else:
                found[name] = column
        return found

    def squares(self, centres: Mapping[str, tuple[Kind, Centre]]) -> dict[str, int]:
        """Sums of squared deviations (see `Centre.squares`) of columns read as the given kinds."""
        sums = {}
        for name, (kind, centre) in centres.items():
            values = self.column(name, kind).values
            missing = np.isnan(values)
            sums[name] = centre.squares(values[~missing] if missing.any() else values)
        return sums

    def values(self, feature: Feature) -> NDArray[np.float64]:
        """(n,) numbers, or places of levels, most frequent first; NaN where missing."""
        column = self.column(feature.name, feature.kind)
        if feature.kind != "category":
            return column.values
        place = {level: float(at) for at, level in enumerate(feature.levels)}
        places = np.array([*(place.get(level, np.nan) for level in column.levels), np.nan])
        return np.asarray(places[np.where(np.isnan(column.values), -1, column.values).astype(np.intp)])

    def equal(self, one: Feature, other: Feature) -> bool:
        """Whether two columns have the same values in every row."""
        return np.array_equal(self.values(one), self.values(other), equal_nan=True)

    def column(self, name: str, kind: Kind) -> Column:
        """A column as a kind that all of its values are known to have."""
        key = name, kind
        if key not in self._read:
            column = self._raw(name)
            if isinstance(column, Unusable):
                raise TypeError(f"column {name!r} {column.reason}")
            self._read[key] = read_as(column, kind)
        return self._read[key]

    def _raw(self, name: str) -> Column | Unusable:
        return self.table.columns[self._places[name]]
