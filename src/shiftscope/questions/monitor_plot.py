"""The picture of a monitored sequence: evidence, and how much of each batch is in excess."""

from __future__ import annotations

from os import PathLike
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shiftscope.errors import InputError
from shiftscope.output_files import whole_file
from shiftscope.paths import as_path
from shiftscope.questions.monitor_batch import BatchRow
from shiftscope.report.figures import ONE_AT_A_TIME, SAME_FILE

FORMATS = (".png", ".svg", ".pdf")
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
CALM, ALARM, LINE = "#7a8793", "#c0392b", "#1f5f8b"


def draw(rows: tuple[BatchRow, ...], level: float, path: str | PathLike[str]) -> None:
    """Write the picture of batches that were held against `level`, whole or not at all."""
    suffix = as_path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{str(path)!r} must end in {', '.join(FORMATS)}; rename it")
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    evidence, amount = figure.subplots(2, 1, sharex=True)
    _draw_evidence(rows, level, evidence)
    _draw_amount(rows, amount)
    with whole_file(path) as file, ONE_AT_A_TIME, mpl.rc_context(SAME_FILE):
        figure.savefig(file, format=suffix[1:], dpi=120, metadata=UNDATED.get(suffix))


def _draw_evidence(rows: tuple[BatchRow, ...], level: float, axes: Any) -> None:
    """p-values on a falling log scale, and the level they are held against."""
    numbers = [row.number for row in rows]
    colours = [ALARM if row.alarm else CALM for row in rows]
    axes.scatter(numbers, [row.p_value for row in rows], c=colours, s=18)
    axes.axhline(level, color=LINE, linewidth=1, linestyle="--", label=f"level {level:.2g}")
    axes.set_yscale("log")
    axes.invert_yaxis()
    axes.set_ylabel("p-value")
    axes.set_title(f"{sum(row.alarm for row in rows)} of {len(rows)} batches differ from the reference", fontsize=10)
    axes.legend(frameon=False, fontsize=8)


def _draw_amount(rows: tuple[BatchRow, ...], axes: Any) -> None:
    """Excess of the strongest mode with its interval, and the drift in the first mode's region, in per cent."""
    found = [(row.number, row.mode) for row in rows if row.mode is not None]
    if found:
        numbers = [number for number, _ in found]
        excess = 100 * np.array([mode.excess for _, mode in found])
        ends = 100 * np.array([mode.excess_interval for _, mode in found]).T
        reach = np.maximum(np.stack([excess - ends[0], ends[1] - excess]), 0.0)
        axes.errorbar(numbers, excess, yerr=reach, fmt="o", color=ALARM, markersize=4, linewidth=1, label="excess")
    drifts = [(row.number, 100 * row.drift) for row in rows if row.drift is not None]
    if drifts:
        axes.plot(*zip(*drifts, strict=True), color=LINE, linewidth=1, label="drift in the first mode's region")
        axes.legend(frameon=False, fontsize=8)
    axes.axhline(0.0, color=CALM, linewidth=0.5)
    axes.set_xlabel("batch")
    axes.set_ylabel("% of the batch")
