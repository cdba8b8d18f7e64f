"""Two tables -> one pooled matrix for the metric (paper 2.1: the pool U of X and Y) and one column each for the scan.

Nothing here depends on which sample comes first, nor on the order of rows or columns: every sum runs over sorted
values and columns are put in a canonical order, so swapping the samples swaps the rows of the matrix and permuting rows
permutes them, to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.columns import KINDS, Column, Kind, Unusable, categorised, declared, reread
from shiftscope.errors import InputError, ParameterError
from shiftscope.features import Encoding, Feature, Numbers, Pair, by_frequency, drawn, encoding, single_text
from shiftscope.identifiers import identifier
from shiftscope.tables import Table, read_table
from shiftscope.wording import listed, shown

ROUNDING = 1e-14  # of the spread of a column: what is nearer to zero is zero
_NOUNS = {"number": "numbers", "date": "dates", "time": "times", "duration": "durations", "category": "text"}


@dataclass(frozen=True)
class Columns:
    """Which columns take part, and as what.

    Attributes
    ----------
    include
        The only columns that take part; None for all that can.
    exclude
        Columns that take no part.
    kinds
        "number", "date", "time", "duration" or "category" for columns that are to be read as such. A column with a
        declared kind is never taken for an identifier.
    """

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.kinds, Mapping):
            raise ParameterError(f"columns: kinds must map names to kinds, got {self.kinds!r}")
        wrong = [f"{shown(name)}: {kind!r}" for name, kind in self.kinds.items() if kind not in KINDS]
        if wrong:
            raise ParameterError(f"columns: kinds must be one of {', '.join(KINDS)}, got {', '.join(wrong)}")
        for names in (() if self.include is None else self.include, self.exclude):
            if isinstance(names, str):
                raise ParameterError("columns: include and exclude must be sequences of names, got a single text")
            if not (isinstance(names, Collection) and all(isinstance(name, str) for name in names)):
                raise ParameterError(f"columns: include and exclude must be sequences of names, got {names!r}")


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part, and why."""

    name: str
    reason: str


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
        # Halved and doubled: (raw - centre) alone may exceed the largest double.
        half = self.points[:, column] * (0.5 * self.scale[column]) + 0.5 * self.centre[column]
        half[np.abs(half) < ROUNDING * self.scale[column]] = 0.0
        return np.where(np.isneginf(ranked), np.nan, 2.0 * half) if feature.missing else 2.0 * half

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
    chosen = columns if isinstance(columns, Columns) else Columns(_as_names(columns))
    names, left_out = _match(reference, current, chosen)
    found, unfit = _agreed(reference, current, names, chosen)
    kept, useless = _choose(found)
    left_out += unfit + useless
    if not kept:
        raise InputError(
            f"reference and current: none of the common columns ({listed(names)}) {_why_none(unfit + useless)}"
        )
    encodings = [column.encoding for column in kept]
    owned = _layout([encoding.width for encoding in encodings])
    points = np.zeros((reference.n_rows + current.n_rows, sum(encoding.width for encoding in encodings)))
    for encoding_, own in zip(encodings, owned, strict=True):
        encoding_.fill(points, own, reference.n_rows)
    return Encoded(
        points=points,
        n_reference=reference.n_rows,
        names=tuple(column.name for column in kept),
        centre=np.array([encoding.centre for encoding in encodings]),
        scale=np.array([encoding.scale for encoding in encodings]),
        left_out=tuple(sorted(left_out, key=lambda left: _natural(left.name))),
        ranked=_ranked(points, kept),
        features=tuple(
            Feature(column.name, column.kind, column.levels, column.missing, own)
            for column, own in zip(kept, owned, strict=True)
        ),
        choice=chosen,
    )


def encode_pair(reference: Any, current: Any, columns: Columns | Sequence[str] | None = None) -> Encoded:
    """Read two samples, in any form that `read_table` takes, and encode them."""
    return encode(read_table(reference, "reference"), read_table(current, "current"), columns)


@dataclass(frozen=True)
class _Found:
    """One user column in both samples, of one kind."""

    name: str
    kind: Kind
    pair: Pair
    levels: tuple[str, ...]

    @property
    def missing(self) -> bool:
        return bool(np.isnan(self.pair[0]).any() or np.isnan(self.pair[1]).any())

    @cached_property
    def encoding(self) -> Encoding:
        return encoding(self.pair, self.kind)


def _as_names(columns: Any) -> Any:
    """A sequence as a tuple; anything else as it is, for `Columns` to judge."""
    return tuple(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else columns


def _match(reference: Table, current: Table, columns: Columns) -> tuple[list[str], list[LeftOut]]:
    """Names of the common columns that are wanted, in canonical order, and the columns that are not."""
    if reference.positional and current.positional and len(reference.names) != len(current.names):
        raise InputError(
            f"reference has {len(reference.names)} columns and current has {len(current.names)}; "
            "plain arrays are matched by position, so give both the same columns or pass named data frames"
        )
    everything = {*reference.names, *current.names}
    wanted = everything if columns.include is None else set(columns.include)
    unknown = [name for name in (*(columns.include or ()), *columns.exclude, *columns.kinds) if name not in everything]
    if unknown:
        raise ParameterError(f"columns: neither sample has a column {listed(unknown)}; check the names")
    common = set(reference.names) & set(current.names)
    if not common:
        raise InputError(
            f"reference and current have no column in common: reference has {listed(reference.names)}, "
            f"current has {listed(current.names)}; columns are matched by name, so rename them "
            "(a CSV needs a header line)"
        )
    left_out = [LeftOut(name, "left out on request") for name in everything if name not in wanted - {*columns.exclude}]
    asked = everything - {left.name for left in left_out}
    if not asked:
        raise ParameterError("columns: include and exclude leave no column; include one that is not excluded")
    left_out += [LeftOut(n, "only in the reference sample") for n in reference.names if n in asked and n not in common]
    left_out += [LeftOut(n, "only in the current sample") for n in current.names if n in asked and n not in common]
    return sorted(common & asked, key=_natural), left_out


def _natural(name: str) -> tuple[object, ...]:
    """Sorts names as people do: x2 before x10."""
    parts = re.split(r"([0-9]+)", name)
    numbers = [part.lstrip("0") for part in parts[1::2]]
    return (*((text, len(n), n) for text, n in zip(parts[::2], [*numbers, ""], strict=True)), name)


def _agreed(reference: Table, current: Table, names: list[str], columns: Columns) -> tuple[list[_Found], list[LeftOut]]:
    """Columns of one kind in both samples, and those that cannot take part."""
    tables = [dict(zip(table.names, table.columns, strict=True)) for table in (reference, current)]
    named = not (reference.positional or current.positional)
    found: list[_Found] = []
    unfit: list[LeftOut] = []
    for name in names:
        pair = _of_one_kind(name, tables[0][name], tables[1][name], columns.kinds.get(name))
        if isinstance(pair, str):
            unfit.append(LeftOut(name, pair))
            continue
        reason = None if name in columns.kinds else identifier(name, pair, named=named)
        if reason is None:
            found.append(_pooled(name, pair))
        else:
            unfit.append(LeftOut(name, reason))
    return found, unfit


def _of_one_kind(
    name: str, first: Column | Unusable, second: Column | Unusable, kind: Kind | None
) -> tuple[Column, Column] | str:
    """A column of both samples, of one kind; else the reason why it is left out."""
    if isinstance(first, Unusable) or isinstance(second, Unusable):
        return next(column.reason for column in (first, second) if isinstance(column, Unusable))
    if kind is not None:
        read = declared(first, kind), declared(second, kind)
        for role, column in zip(("reference", "current"), read, strict=True):
            if isinstance(column, str):
                raise InputError(f"{role}: column {shown(name)} is declared as {kind!r} but {column}; mend or drop it")
        first, second = (column for column in read if isinstance(column, Column))
    elif first.kind != second.kind:
        if first.empty or second.empty:
            kind = second.kind if first.empty else first.kind
            first, second = (Column(kind, c.values, c.levels if c.kind == kind else ()) for c in (first, second))
        else:
            reconciled = _reconciled(first, second)
            if reconciled is None:
                return (
                    f"{_NOUNS[first.kind]} in the reference sample and {_NOUNS[second.kind]} in the current one; "
                    "make both of one kind"
                )
            first, second = reconciled
    for role, column in (("reference", first), ("current", second)):
        _check_finite(name, role, column)
    return first, second


def _reconciled(first: Column, second: Column) -> tuple[Column, Column] | None:
    """Text beside another kind: read as that kind if all of it can be, else numbers become text; None beside others."""
    kinds = {first.kind, second.kind}
    if "category" not in kinds:
        return None
    kind = second.kind if first.kind == "category" else first.kind
    read = [reread(column, kind) if column.kind == "category" else column for column in (first, second)]
    if isinstance(read[0], Column) and isinstance(read[1], Column):
        return read[0], read[1]
    return (categorised(first.texts()), categorised(second.texts())) if kind == "number" else None


def _check_finite(name: str, role: str, column: Column) -> None:
    infinite = np.isinf(column.values)
    if infinite.any():
        raise InputError(
            f"{role}: column {shown(name)} has {(count := int(infinite.sum()))} infinite value{'s' * (count > 1)} "
            f"(first in row {int(infinite.argmax())}, counting from 0); replace such values or leave the column out"
        )


def _pooled(name: str, pair: tuple[Column, Column]) -> _Found:
    """The column with its levels in pooled order; a single value beside gaps is a category of value and missing."""
    first, second = pair
    if first.kind != "category":
        plain = _Found(name, first.kind, (first.values, second.values), ())
        if not plain.missing or plain.encoding.scale > 0.0 or (first.empty and second.empty):
            return plain
        first, second = (categorised(column.texts()) for column in pair)
    values, levels = by_frequency((first, second))
    return _Found(name, "category", values, levels)


def _choose(found: list[_Found]) -> tuple[list[_Found], list[LeftOut]]:
    """Columns that carry information of their own, and those that do not."""
    kept: list[_Found] = []
    useless: list[LeftOut] = []
    alike: dict[object, list[_Found]] = {}  # only columns with the same moments or as many levels can be equal
    for column in found:
        encoded = column.encoding
        key = encoded.standard if isinstance(encoded, Numbers) else (column.kind, encoded.centre, encoded.scale)
        candidates = alike.setdefault(key, [])
        twin = next((other for other in candidates if _equal(other, column)), None)
        if encoded.scale == 0.0:
            value = single_text(column.pair, column.kind, column.levels)
            useless.append(LeftOut(column.name, f"constant: {value if len(value) < 40 else shown(value)} in every row"))
        elif twin is not None:
            useless.append(LeftOut(column.name, f"equal to column {shown(twin.name)} in every row"))
        else:
            kept.append(column)
            candidates.append(column)
    return kept, useless


def _equal(one: _Found, other: _Found) -> bool:
    return one.kind == other.kind and all(
        np.array_equal(first, second, equal_nan=True) for first, second in zip(one.pair, other.pair, strict=True)
    )


def _why_none(left_out: list[LeftOut]) -> str:
    if all(left.reason.startswith(("constant", "equal")) for left in left_out):
        return "varies; give at least one column with two different values"
    first = next(left for left in left_out if not left.reason.startswith(("constant", "equal")))
    return f"can be compared; {shown(first.name)}: {first.reason}"


def _layout(widths: list[int]) -> list[tuple[int, ...]]:
    """Matrix columns of each user column: the leading ones first, the further ones behind all of them."""
    further = len(widths)
    owned = []
    for leading, width in enumerate(widths):
        owned.append((leading, *range(further, further + width - 1)))
        further += width - 1
    return owned


def _ranked(points: NDArray[np.float64], kept: list[_Found]) -> NDArray[np.float64]:
    """What the scan bins; `points` itself if all columns are complete numbers."""
    special = [at for at, column in enumerate(kept) if column.kind == "category" or column.missing]
    if not special:
        return points
    ranked = points[:, : len(kept)].copy()
    for at in special:
        values = np.concatenate(kept[at].pair)
        if kept[at].kind == "category":
            ranked[:, at] = values
        ranked[np.isnan(values), at] = -np.inf
    return ranked
