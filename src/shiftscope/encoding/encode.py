"""Two tables -> one pooled matrix for the metric (paper 2.1: the pool U of X and Y) and one column each for the scan.

Nothing here depends on which sample comes first, nor on the order of rows or columns: sums are exact and columns are
put in a canonical order, so swapping the samples swaps the rows of the matrix and permuting rows permutes them, to the
last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.agreed_columns import Reading
from shiftscope.encoding.features import Feature, drawn
from shiftscope.encoding.plan import Plan, make_plan
from shiftscope.machine_memory import check_memory
from shiftscope.tables.column_choice import Columns, LeftOut, as_columns
from shiftscope.tables.table import Table

NEARLY_ZERO = 1e-14  # of the spread of a column: what is nearer to zero is zero


@dataclass(frozen=True)
class Encoded:
    """Both samples in one matrix; the matrix columns of one user column have a total pooled variance of 1.

    Attributes
    ----------
    points
        (n, D) float64, C-ordered: the reference rows first, then the current rows. Column f < d is the leading one of
        user column f, the further ones of categories and columns with gaps follow behind them (see `features`).
    n_reference
        Number of reference rows; row i is current if and only if i >= n_reference.
    names
        The d user columns, in canonical order: by name, numbers within names by value.
    centre, scale
        (d,) pooled mean and standard deviation (divisor n) of `raw`; of a complete column of numbers in the user's
        units, points = (raw - centre) / scale.
    left_out
        The columns that take no part.
    ranked
        (n, d) float64, what the scan bins: standardised numbers, positions of levels, -inf where a value is missing.
        The same array as `points` if all columns are complete numbers.
    features
        What each user column is, and which columns of the matrix are its own.
    choice
        Which columns the user asked for, and as what.
    """

    points: NDArray[np.float64]
    n_reference: int
    names: tuple[str, ...]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    left_out: tuple[LeftOut, ...]
    ranked: NDArray[np.float64]
    features: tuple[Feature, ...]
    choice: Columns = field(default_factory=Columns)

    @property
    def n_current(self) -> int:
        """Number of current rows."""
        return len(self.points) - self.n_reference

    @property
    def is_current(self) -> NDArray[np.bool_]:
        """(n,) True for the rows of the current sample."""
        return np.arange(len(self.points)) >= self.n_reference

    @property
    def reference(self) -> NDArray[np.float64]:
        """(n_reference, D) view of the reference rows."""
        return self.points[: self.n_reference]

    @property
    def current(self) -> NDArray[np.float64]:
        """(n_current, D) view of the current rows."""
        return self.points[self.n_reference :]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Per user column, its columns of the matrix."""
        return tuple(feature.columns for feature in self.features)

    @property
    def categories(self) -> NDArray[np.bool_]:
        """(d,) True for user columns whose every value has a bin of its own in the scan."""
        return np.array([feature.kind == "category" for feature in self.features])

    def values(self, column: int) -> NDArray[np.float64]:
        """(n,) one user column: numbers up to rounding, times in seconds, positions of levels; NaN where missing."""
        ranked, feature = self.ranked[:, column], self.features[column]
        if feature.kind == "category":
            return np.where(np.isneginf(ranked), np.nan, ranked)
        values = self._in_units(column, self.points[:, column])
        return np.where(np.isneginf(ranked), np.nan, values) if feature.missing else values

    def in_units(self, column: int, value: float) -> float:
        """A value of `ranked` in the units of `values`; that of a level is its position, and -inf stays missing."""
        if self.features[column].kind == "category" or np.isinf(value):
            return value
        return float(self._in_units(column, np.array([value]))[0])

    def _in_units(self, column: int, standardised: NDArray[np.float64]) -> NDArray[np.float64]:
        # Halved and doubled: (raw - centre) alone may exceed the largest double.
        half = standardised * (0.5 * self.scale[column]) + 0.5 * self.centre[column]
        half[np.abs(half) < NEARLY_ZERO * self.scale[column]] = 0.0
        return np.asarray(2.0 * half)

    def in_pool(self, rows: NDArray[np.intp], *, current: bool) -> NDArray[np.intp]:
        """Pool positions of row positions in one sample."""
        return rows + self.n_reference if current else rows

    def in_samples(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions in the reference and in the current sample of pool positions, in their order."""
        current = rows >= self.n_reference
        return rows[~current], rows[current] - self.n_reference

    def raw(self, column: int) -> NDArray[np.float64]:
        """(n,) `values` to be drawn: a missing number stands a little below the smallest, a missing level at -1."""
        return drawn(self.values(column), self.features[column].kind)

    def texts(self, column: int, rows: NDArray[np.intp]) -> list[str]:
        """The values of some rows (pool positions) as people read them."""
        return [self.features[column].text(value) for value in self.values(column)[rows].tolist()]


def encode(reference: Table, current: Table, columns: Columns | Sequence[str] | None = None) -> Encoded:
    """Match the columns of two tables by name, and encode and pool those that can take part.

    Raises
    ------
    InputError
        If the tables have no column in common, if plain arrays differ in width, or if no column varies.
    """
    samples = TableSample("reference", reference), TableSample("current", current)
    plan = make_plan(samples, as_columns(columns))
    n, n_reference = reference.n_rows + current.n_rows, reference.n_rows
    numbers = plan.width + (0 if plan.plain else len(plan.features))
    check_memory(2 * 8 * n * numbers, n, len(plan.features))  # twice while the samples are put in order
    points = np.zeros((n, plan.width))
    ranked = None if plan.plain else np.empty((n, len(plan.features)))
    for sample, rows in zip(samples, (slice(0, n_reference), slice(n_reference, n)), strict=True):
        plan.points(sample, points[rows])
        if ranked is not None:
            plan.ranked(sample, ranked[rows])
    return encoded_rows(plan, points, ranked, n_reference)


def encoded_rows(
    plan: Plan, points: NDArray[np.float64], ranked: NDArray[np.float64] | None, n_reference: int
) -> Encoded:
    """Rows that were encoded by a plan; `ranked` is None if the matrix is what the scan bins."""
    return Encoded(
        points=points,
        n_reference=n_reference,
        names=tuple(feature.name for feature in plan.features),
        centre=np.array([encoding.centre for encoding in plan.encodings]),
        scale=np.array([encoding.scale for encoding in plan.encodings]),
        left_out=plan.left_out,
        ranked=points if ranked is None else ranked,
        features=plan.features,
        choice=plan.choice,
    )


class TableSample(Reading):
    """A sample in the memory of this machine."""

    def __init__(self, role: str, table: Table) -> None:
        super().__init__(table)
        self.role = role

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return self.table.names

    @property
    def positional(self) -> bool:
        """Whether the columns had no names of their own."""
        return self.table.positional

    def distinct(self, name: str) -> bool:
        """The whole sample is one part, in which no number repeats."""
        return True
