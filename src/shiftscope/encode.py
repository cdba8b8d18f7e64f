"""Two tables -> one pooled, standardised matrix (paper 2.1: the pool U of X and Y).

Nothing here depends on which sample comes first, nor on the order of rows: every sum runs over sorted values,
so swapping the samples swaps the rows of the matrix and permuting rows permutes them, to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.tables import Table, listed, read_table, shown

BLOCK_ROWS = 4096  # rows written to the matrix at a time


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Encoded:
    """Both samples in one matrix, each column with pooled mean 0 and pooled standard deviation 1.

    Attributes
    ----------
    points
        (n, d) float64, C-ordered: the reference rows first, then the current rows.
    n_reference
        Number of reference rows; row i is current if and only if i >= n_reference.
    names
        The d columns used, in the reference's order.
    centre, scale
        (d,) pooled mean and standard deviation (divisor n) in the user's units:
        points = (raw - centre) / scale.
    left_out
        The columns that take no part: in one sample only, constant over the pool, equal to an earlier column.
    """

    points: NDArray[np.float64]
    n_reference: int
    names: tuple[str, ...]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    left_out: tuple[LeftOut, ...]

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
        """(n_reference, d) view of the reference rows."""
        return self.points[: self.n_reference]

    @property
    def current(self) -> NDArray[np.float64]:
        """(n_current, d) view of the current rows."""
        return self.points[self.n_reference :]

    def raw(self, column: int) -> NDArray[np.float64]:
        """(n,) one column in the user's units, equal to the data up to rounding."""
        # Halved and doubled: (raw - centre) alone may exceed the largest double.
        half = self.points[:, column] * (0.5 * self.scale[column]) + 0.5 * self.centre[column]
        return np.asarray(2.0 * half)


def encode(reference: Table, current: Table) -> Encoded:
    """Match the columns of two tables by name, pool and standardise them.

    Raises
    ------
    InputError
        If the tables have no column in common, if plain arrays differ in width, or if no column varies.
    """
    names, unmatched = _match(reference, current)
    pairs = _pairs(reference, current, names)
    kept, useless = _choose(pairs)
    if not kept:
        raise InputError(
            f"reference and current: none of the common columns ({listed(names)}) varies; "
            "give at least one column with two different values"
        )
    points = np.empty((reference.n_rows + current.n_rows, len(kept)))
    standards = list(kept.values())
    _fill(points[: reference.n_rows], [pairs[name][0] for name in kept], standards)
    _fill(points[reference.n_rows :], [pairs[name][1] for name in kept], standards)
    return Encoded(
        points=points,
        n_reference=reference.n_rows,
        names=tuple(kept),
        centre=np.array([standard.centre for standard in standards]),
        scale=np.array([standard.scale for standard in standards]),
        left_out=tuple(unmatched + useless),
    )


def encode_pair(reference: Any, current: Any) -> Encoded:
    """Read two samples, in any form that `read_table` takes, and encode them."""
    return encode(read_table(reference, "reference"), read_table(current, "current"))


_Pair = tuple[NDArray[np.float64], NDArray[np.float64]]  # one column: (n_reference,) and (n_current,)


def _match(reference: Table, current: Table) -> tuple[list[str], list[LeftOut]]:
    """Names of the common columns in the reference's order, and those that only one sample has."""
    if reference.positional and current.positional and len(reference.names) != len(current.names):
        raise InputError(
            f"reference has {len(reference.names)} columns and current has {len(current.names)}; "
            "plain arrays are matched by position, so give both the same columns or pass named data frames"
        )
    common = set(reference.names) & set(current.names)
    if not common:
        raise InputError(
            f"reference and current have no column in common: reference has {listed(reference.names)}, "
            f"current has {listed(current.names)}; columns are matched by name, so rename them "
            "(a CSV needs a header line)"
        )
    left_out = [LeftOut(n, "only in the reference sample") for n in reference.names if n not in common]
    left_out += [LeftOut(n, "only in the current sample") for n in current.names if n not in common]
    return [name for name in reference.names if name in common], left_out


def _pairs(reference: Table, current: Table, names: list[str]) -> dict[str, _Pair]:
    """Each common column in both samples, by name."""
    first = dict(zip(reference.names, reference.columns, strict=True))
    second = dict(zip(current.names, current.columns, strict=True))
    return {name: (first[name], second[name]) for name in names}


def _choose(pairs: dict[str, _Pair]) -> tuple[dict[str, _Standard], list[LeftOut]]:
    """Columns that carry information of their own, with their standardisation, and those that do not."""
    kept: dict[str, _Standard] = {}
    useless: list[LeftOut] = []
    alike: dict[_Standard, list[str]] = {}  # only columns with the same moments can be equal
    for name, pair in pairs.items():
        standard = _Standard.of(pair)
        candidates = alike.setdefault(standard, [])
        twin = next((other for other in candidates if _equal(pairs[other], pair)), None)
        if standard.scale == 0.0:
            useless.append(LeftOut(name, f"constant: {pair[0][0]:g} in every row"))
        elif twin is not None:
            useless.append(LeftOut(name, f"equal to column {shown(twin)} in every row"))
        else:
            kept[name] = standard
            candidates.append(name)
    return kept, useless


def _equal(one: _Pair, other: _Pair) -> bool:
    return np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def _fill(rows: NDArray[np.float64], columns: list[NDArray[np.float64]], standards: list[_Standard]) -> None:
    """Standardise columns, each (n,), into rows (n, d); a block at a time, since whole columns miss the cache."""
    for start in range(0, len(rows), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        for position, (column, standard) in enumerate(zip(columns, standards, strict=True)):
            rows[block, position] = standard.apply(column[block])


@dataclass(frozen=True)
class _Standard:
    """How one column is standardised.

    Values are first scaled by 2**-exponent into [-1, 1]: exact, and it keeps sums and squares of any doubles
    within range. `mean` and `deviation` are in that unit.
    """

    exponent: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, pair: _Pair) -> _Standard:
        """Pooled mean and standard deviation of a column, bitwise the same for any order of rows and samples.

        Two passes over the sorted pool: deviations from the median are exact where values lie close together
        far from zero, so their mean and their spread keep full precision there.
        """
        pooled = np.concatenate(pair)
        pooled.sort()
        exponent = math.frexp(max(abs(pooled[0]), abs(pooled[-1])))[1]
        np.ldexp(pooled, -exponent, out=pooled)
        median = float(pooled[len(pooled) // 2])
        pooled -= median
        shift = float(pooled.mean())
        pooled -= shift
        np.square(pooled, out=pooled)
        return cls(exponent, median + shift, math.sqrt(pooled.mean()))

    @property
    def centre(self) -> float:
        """Pooled mean in the user's units."""
        return math.ldexp(self.mean, self.exponent)

    @property
    def scale(self) -> float:
        """Pooled standard deviation in the user's units; 0 if the column is constant."""
        return math.ldexp(self.deviation, self.exponent)

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise values; equal values become equal bits (adding 0.0 turns -0.0 into 0.0)."""
        return np.asarray((np.ldexp(values, -self.exponent) - self.mean) / self.deviation + 0.0)
