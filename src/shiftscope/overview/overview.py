"""The overview: every column by itself, before anything is said of columns together.

The p-values cost nothing: the scan has looked at every column alone, under every labelling.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import Feature
from shiftscope.engines.base import Gathered
from shiftscope.job import Job
from shiftscope.labellings.p_values import p_values
from shiftscope.overview.column_overview import ColumnOverview, ColumnSide, Flag
from shiftscope.overview.effect_size import Effect, Errors, level_effect, number_effect
from shiftscope.overview.flags import beyond_noise, level_flags, missing_flag, number_flags, tidy
from shiftscope.subspaces.scan_result import ScanResult

LEVELS_SHOWN = 8  # levels of a category, those that changed most

VALUES_AS_LEVELS = 20  # a number with no more different values is told by their shares where its median stays

_NAN = float("nan")
_NOWHERE = (_NAN, _NAN, _NAN, _NAN, _NAN)  # quartiles and ends of what has no order
Parts = tuple[NDArray[np.float64], NDArray[np.float64]]  # values of the reference and of the current rows


def overview(job: Job, scan: ScanResult | None) -> tuple[ColumnOverview, ...]:
    """Every column compared, the strongest first."""
    encoded, gathered = job.encoded, job.pool.gathered
    unknown = np.full(len(encoded.names), np.nan)
    evidence = unknown if scan is None else scan.columns
    p_value = unknown if scan is None else p_values(scan.columns, scan.columns_null)
    errors, found = Errors.drawn(job.random_state), []
    for feature, column in enumerate(encoded.features):
        values = encoded.values(feature)
        parts = values[: encoded.n_reference], values[encoded.n_reference :]
        seen = (
            _levels(column, parts, errors) if column.kind == "category" else _numbers(encoded, feature, parts, errors)
        )
        if gathered is not None:
            seen = seen.of_all_rows(gathered, feature)
        found.append(
            ColumnOverview(
                column.name,
                column.kind,
                *seen.sides,
                seen.shift,
                seen.effect.size,
                (seen.effect.low, seen.effect.high),
                float(evidence[feature]),
                float(p_value[feature]),
                seen.flags,
            )
        )
    return tuple(sorted(found, key=lambda column: column.strength))


@dataclass(frozen=True)
class _Seen:
    """What the rows say of one column."""

    sides: tuple[ColumnSide, ColumnSide]
    shift: float
    effect: Effect
    flags: tuple[Flag, ...]

    def of_all_rows(self, gathered: Gathered, feature: int) -> _Seen:
        """The same with the gaps of all rows on the cluster."""
        first, second = self.sides
        first = replace(first, rows=gathered.n_reference, missing=gathered.missing_reference[feature])
        second = replace(second, rows=gathered.n_current, missing=gathered.missing_current[feature])
        others = (flag for flag in self.flags if flag.kind != "missing")
        return replace(self, sides=(first, second), flags=(*missing_flag((first, second)), *others))


def _numbers(encoded: Encoded, feature: int, parts: Parts, errors: Errors) -> _Seen:
    column, scale = encoded.features[feature], float(encoded.scale[feature])
    reference, current = (tidy(part[~np.isnan(part)]) for part in parts)
    told = _told_values(column, reference, current)
    sides = _number_side(parts[0].size, reference, told[0]), _number_side(parts[1].size, current, told[1])
    effect = number_effect(reference, current, scale, errors)
    flags = number_flags(reference, current, sides, column.text, effect=effect.size, plain=column.kind == "number")
    shift = (sides[1].median - sides[0].median) / scale if scale > 0 else float("nan")
    return _Seen(sides, shift, effect, (*missing_flag(sides), *flags))


def _number_side(rows: int, values: NDArray[np.float64], told: tuple[tuple[str, int], ...]) -> ColumnSide:
    missing = rows - values.size
    if not values.size:
        return ColumnSide(rows, missing, 0, 0, *_NOWHERE)
    low, quarter, median, three_quarters, high = np.quantile(values, (0.0, 0.25, 0.5, 0.75, 1.0)).tolist()
    seen, distinct = values.size, np.unique(values).size
    return ColumnSide(rows, missing, seen, distinct, low, quarter, median, three_quarters, high, told)


def _told_values(
    column: Feature, reference: NDArray[np.float64], current: NDArray[np.float64]
) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    """Rows with the values whose shares changed most: of numbers with few values, or with one that stands out."""
    if not (reference.size and current.size):
        return (), ()
    distinct, code = np.unique(np.concatenate([reference, current]), return_inverse=True)
    counts = [np.bincount(part, minlength=distinct.size) for part in np.split(code, [reference.size])]
    most = _most_changed(counts[0], counts[1])
    if distinct.size > VALUES_AS_LEVELS and not beyond_noise(
        (int(counts[0][most[0]]), reference.size), (int(counts[1][most[0]]), current.size)
    ):
        return (), ()
    told = most if distinct.size <= VALUES_AS_LEVELS else most[:1]
    first, second = (tuple((column.text(float(distinct[at])), int(rows[at])) for at in told) for rows in counts)
    return first, second


def _levels(column: Feature, parts: Parts, errors: Errors) -> _Seen:
    counts = [_counted(part, len(column.levels)) for part in parts]
    told = _most_changed(*(rows[:-1] for rows in counts))
    first, second = (
        ColumnSide(
            int(rows.sum()),
            int(rows[-1]),
            int(rows.sum()),
            int(np.sum(rows[:-1] > 0)),
            *_NOWHERE,
            tuple((column.levels[at], int(rows[at])) for at in told),
        )
        for rows in counts
    )
    flags = (*missing_flag((first, second)), *level_flags(column.levels, counts[0][:-1], counts[1][:-1]))
    return _Seen((first, second), float("nan"), level_effect(counts[0], counts[1], errors), flags)


def _most_changed(reference: NDArray[np.intp], current: NDArray[np.intp]) -> NDArray[np.intp]:
    """Places of the counts whose shares differ most, at most `LEVELS_SHOWN`."""
    changed = np.abs(current / max(1, current.sum()) - reference / max(1, reference.sum()))
    return np.argsort(-changed, kind="stable")[:LEVELS_SHOWN]


def _counted(codes: NDArray[np.float64], levels: int) -> NDArray[np.intp]:
    """Rows with each level, those with none at the end."""
    return np.bincount(np.where(np.isnan(codes), levels, codes).astype(np.intp), minlength=levels + 1)
