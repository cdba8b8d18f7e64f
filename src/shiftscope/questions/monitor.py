"""monitor(): one reference, a sequence of batches, and a false-alarm rate that holds for the sequence.

Each batch is tested at level alpha / horizon. Whatever the dependence between the batches' p-values (all of them share
the reference), the chance of any false alarm among `horizon` batches is then at most alpha. The level does not fall
with time, so a late shift is found as easily as an early one, and it never falls below what labellings can resolve.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from shiftscope._compare import protocol
from shiftscope.encoding.encode import Encoded
from shiftscope.errors import InputError, ParameterError, alpha_fault, check_kind, is_whole
from shiftscope.job import Clock, Job
from shiftscope.modes.mode import Mode
from shiftscope.progress import Progress, checked_progress
from shiftscope.questions.detector import ShiftDetector
from shiftscope.questions.monitor_batch import BatchRow, Region, StrongestMode
from shiftscope.questions.monitor_history import History, HistoryHeader
from shiftscope.questions.monitor_result import MonitorResult
from shiftscope.questions.staged_verdict import staged_verdict
from shiftscope.results import ShiftResult
from shiftscope.samples import open_samples
from shiftscope.tables.column_kinds import Unusable
from shiftscope.tables.table import Table, read_table

REGION_SHARE = 0.9  # of a mode's rows, the middle ones along each feature, that delimit its region


def monitor(
    detector: ShiftDetector,
    batches: Mapping[str, object] | Iterable[object],
    *,
    horizon: int | None = None,
    history: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> MonitorResult:
    """Compare a sequence of batches with a fitted reference.

    Parameters
    ----------
    detector : ShiftDetector
        Fitted. Its alpha is the chance of any false alarm among `horizon` batches.
    batches : mapping or iterable
        Tables in the order of time: arrays, data frames or paths. A mapping names them; else paths are their own names
        and the others are numbered.
    horizon : int, optional
        Number of batches over which false alarms are controlled, those of earlier calls with the same `history`
        included; without a history, the number of batches if they can be counted. Beyond
        the horizon the same holds for any `horizon` batches.
    history : path, optional
        An append-only file: every finished batch is one line of it, and batches that it holds are not computed again.
    progress : callable(stage, fraction), optional

    Returns
    -------
    MonitorResult
        One row per batch; with `history`, one per batch of the file.
    """
    check_kind("detector", detector, ShiftDetector)
    _check_batches(batches)
    progress = checked_progress(progress)
    params = detector.settings()
    if history is not None and horizon is None:
        raise ParameterError("horizon must be given with history: over how many batches in all is alpha to hold?")
    horizon = _checked_horizon(horizon, batches, params.alpha)
    header = HistoryHeader.of(detector, params.alpha, horizon, table_digest(detector.reference_table()))
    with History.open(history, header) as record:
        watcher = _Watcher(detector, params.alpha / horizon, record.rows, progress)
        done = {(row.name, row.digest) for row in record.rows}
        for at, (name, batch) in enumerate(_named(batches)):
            if isinstance(batches, Sized):
                progress("batches", at / len(batches))
            table = read_table(batch, name)
            digest = table_digest(table)
            if history is not None and (name, digest) in done:
                continue
            record.append(watcher.row(name, digest, table))
            done.add((name, digest))
        return MonitorResult(tuple(record.rows), params.alpha, horizon)


def _check_batches(batches: object) -> None:
    if isinstance(batches, str | PathLike | np.ndarray) or hasattr(type(batches), "columns"):  # what frames have
        raise ParameterError("batches must be a sequence of tables, got a single one; put it into a list")
    if not isinstance(batches, Iterable):
        raise ParameterError(f"batches must be a sequence of tables or a mapping of names to tables, got {batches!r}")


def _checked_horizon(horizon: int | None, batches: object, alpha: float) -> int:
    if horizon is None and isinstance(batches, Sized):
        horizon = max(1, len(batches))
    if horizon is None:
        raise ParameterError("horizon must be given for batches that cannot be counted: how many are to come, about?")
    if not is_whole(horizon, 1):
        raise ParameterError(f"horizon must be a whole number of at least 1, got {horizon!r}")
    fault = alpha_fault(alpha / horizon)
    if fault is not None:
        raise ParameterError(f"horizon = {horizon} shares alpha among too many batches: {fault}")
    return int(horizon)


def _named(batches: Mapping[str, object] | Iterable[object]) -> Iterator[tuple[str, object]]:
    if isinstance(batches, Mapping):
        yield from batches.items()
        return
    for number, batch in enumerate(batches, start=1):
        yield (str(batch) if isinstance(batch, str | PathLike) else f"batch {number}"), batch


def table_digest(table: Table) -> str:
    """A fingerprint of what a table holds."""
    digest = hashlib.blake2b(digest_size=16)
    for name, column in zip(table.names, table.columns, strict=True):
        told: Any = column.reason if isinstance(column, Unusable) else (column.kind, column.levels)
        digest.update(repr((name, told)).encode("utf-8", errors="backslashreplace"))
        if not isinstance(column, Unusable):
            digest.update(np.ascontiguousarray(column.values).data)
    return digest.hexdigest()


@dataclass(frozen=True)
class _Watcher:
    """Makes the row of the next batch."""

    detector: ShiftDetector
    level: float
    rows: list[BatchRow]
    progress: Progress

    def row(self, name: str, digest: str, table: Table) -> BatchRow:
        detector, params = self.detector, self.detector.settings()
        try:
            with open_samples(
                detector.reference_table(),
                table,
                columns=detector.columns,
                engine=detector.engine,
                random_state=detector.random_state,
                progress=self.progress,
            ) as samples:
                job = Job.of(samples, params)
                verdict = staged_verdict(job, self.level)
                p_value = min([verdict.p_value, *(left.chance for left in samples.encoded.left_out)])
                alarm = p_value <= self.level
                result = samples.turned(protocol(job, Clock())) if alarm else None
                encoded = samples.as_given
        except InputError as error:  # of many batches, which one
            raise InputError(f"{name}: {error}") from error
        mode = _strongest(result) if result is not None else None
        region = next((row.mode.region for row in self.rows if row.mode is not None), mode.region if mode else None)
        return BatchRow(
            number=len(self.rows) + 1,
            name=name,
            digest=digest,
            n_rows=table.n_rows,
            p_value=p_value,
            n_permutations=verdict.n_permutations,
            level=self.level,
            alarm=alarm,
            n_modes=len(result.modes) if result is not None else 0,
            mode=mode,
            drift=None if region is None else drift(region, encoded),
        )


def _strongest(result: ShiftResult) -> StrongestMode | None:
    if not result.modes:
        return None
    mode = result.modes[0]
    return StrongestMode(
        side=mode.side,
        features=mode.features,
        excess=mode.excess,
        excess_interval=mode.excess_interval,
        directions=tuple(str(direction) for direction in mode.directions),
        region=_region(mode, result.encoded),
    )


def _region(mode: Mode, encoded: Encoded) -> Region:
    """Along each feature the range of the middle of the mode's rows, or the levels that they have."""
    rows = encoded.in_pool(mode.rows, current=mode.side == "current")
    margin = (1.0 - REGION_SHARE) / 2.0
    low, high, levels = [], [], []
    for name in mode.features:
        column = encoded.names.index(name)
        values, feature = encoded.values(column)[rows], encoded.features[column]
        there = values[~np.isnan(values)]
        is_category = feature.kind == "category"
        levels.append(tuple(feature.levels[int(level)] for level in np.unique(there)) if is_category else ())
        ends = np.quantile(there, (margin, 1.0 - margin)) if there.size and not is_category else (np.inf, -np.inf)
        low.append(float(ends[0]) if ends[0] <= ends[1] else None)
        high.append(float(ends[1]) if ends[0] <= ends[1] else None)
    return Region(mode.features, tuple(low), tuple(high), tuple(levels))


def drift(region: Region, encoded: Encoded) -> float | None:
    """Share of the current rows in a region minus that of the reference; None if a column takes no part any more."""
    if not set(region.features) <= set(encoded.names):
        return None
    inside = np.ones(len(encoded.points), dtype=np.bool_)
    for name, low, high, levels in zip(region.features, region.low, region.high, region.levels, strict=True):
        column = encoded.names.index(name)
        values, feature = encoded.values(column), encoded.features[column]
        if levels:
            known = [feature.levels.index(level) for level in levels if level in feature.levels]
            inside &= np.isin(values, known)
        elif low is None or high is None:
            inside &= np.isnan(values)  # the mode's rows lack this value
        else:
            inside &= (values >= low) & (values <= high)
    return float(inside[encoded.n_reference :].mean() - inside[: encoded.n_reference].mean())
