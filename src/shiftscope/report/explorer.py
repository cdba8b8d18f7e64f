"""The data behind the page's interactive pictures and downloads, packed small, and the script that reads them."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from shiftscope.report.axes import MARGIN, Axis, Floats, boxes, ticks
from shiftscope.report.figure_data import Points
from shiftscope.report.sentences import axis_name, shown_name
from shiftscope.report.summary import ModeSummary, Summary

STEPS = 65_000  # a drawn range is divided into so many; a value out of range is OUTSIDE
OUTSIDE = 65_535
LISTS_BUDGET = 1_200_000  # characters that all lists of rows may take together: the page stays below 3 MB


@dataclass(frozen=True)
class Script:
    """The script of the page, and its hash: the page allows itself no other."""

    code: Markup
    hash: str


@cache
def script() -> Script:
    """The script as it stands in the page."""
    code = files("shiftscope.report").joinpath("templates/explorer.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return Script(Markup(code), f"sha256-{digest}")


def packed(summary: Summary, modes_drawn: int) -> Markup:
    """Everything the script needs, as JSON that may stand in a page."""
    shown = summary.gallery
    lists = _row_lists(summary.modes)
    data = {
        "columns": [_column(column) for column in shown.columns],
        "reference": _points(shown.reference, shown.columns),
        "current": _points(shown.current, shown.columns),
        "modes": [
            {
                "side": mode.side,
                "axes": mode.picture.axes,
                "marked": _points(mode.picture.marked, shown.columns) if number < modes_drawn else None,
                "boxes": _boxes(mode.picture.marked, shown.columns) if number < modes_drawn else [],
                "rows": lists[number],
            }
            for number, mode in enumerate(summary.modes)
        ],
    }
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def downloadable(summary: Summary) -> tuple[bool, ...]:
    """Which modes' lists of rows are part of the page."""
    return tuple(packed_rows is not None for packed_rows in _row_lists(summary.modes))


def pack_positions(rows: NDArray[np.intp]) -> str:
    """Increasing positions as base64 of their differences: seven bits a byte, the high bit if more follow."""
    steps = np.diff(rows, prepend=0).astype(np.uint64)
    groups = np.stack([(steps >> np.uint64(7 * group)) & np.uint64(127) for group in range(6)], axis=1).astype(np.uint8)
    highest = np.where(groups.any(axis=1), 5 - np.argmax(groups[:, ::-1] > 0, axis=1), 0)
    used = np.arange(6) <= highest[:, None]
    more = np.zeros_like(used)
    more[:, :-1] = used[:, 1:]
    return base64.b64encode((groups | (more.astype(np.uint8) << 7))[used].tobytes()).decode()


def _row_lists(modes: tuple[ModeSummary, ...]) -> tuple[str | None, ...]:
    """The modes' rows, packed; None where the page would become too large."""
    lists: list[str | None] = []
    left = LISTS_BUDGET
    for mode in modes:
        rows = (
            pack_positions(mode.rows) if 4 * mode.rows.size <= 3 * left else ""
        )  # a row takes 4/3 characters at least
        fits = 0 < len(rows) <= left
        lists.append(rows if fits else None)
        left -= len(rows) if fits else 0
    return tuple(lists)


def _column(axis: Axis) -> dict[str, object]:
    """An axis with its ticks in shares of the range drawn."""
    low, high = _view(axis)
    marks = ticks(axis)
    return {
        "name": shown_name(axis.name),
        "label": axis_name(axis, marks),
        "kind": "number" if axis.standardised else axis.kind,
        "low": low,
        "high": high,
        "labels": axis.labels,
        "gap": axis.gap,
        "ticks": [
            [round((p - low) / (high - low), 5), label] for p, label in zip(marks.places, marks.labels, strict=True)
        ],
    }


def _boxes(marked: Points, columns: tuple[Axis, ...]) -> list[list[list[int]]]:
    """The boxes of each pair of columns (0, 1), (0, 2), (1, 2), (0, 3), ... in steps: left, right, bottom, top."""
    pairs = [(across, up) for up in range(len(columns)) for across in range(up)]
    found = []
    for across, up in pairs:
        x, y = _view(columns[across]), _view(columns[up])
        drawn = boxes(marked.values[:, [across, up]], columns[across], columns[up])
        found.append([[*_span(x, box.left, box.right), *_span(y, box.bottom, box.top)] for box in drawn])
    return found


def _span(view: tuple[float, float], low: float, high: float) -> list[int]:
    return [round((place - view[0]) / (view[1] - view[0]) * STEPS) for place in (low, high)]


def _view(axis: Axis) -> tuple[float, float]:
    margin = MARGIN * (axis.high - axis.low)
    return axis.low - margin, axis.high + margin


def _points(points: Points, columns: tuple[Axis, ...]) -> dict[str, str]:
    """Positions, and values as 16-bit steps of the range drawn, row after row."""
    steps = [_steps(points.values[:, at], *_view(axis)) for at, axis in enumerate(columns)]
    values = np.stack(steps, axis=1) if steps else np.empty((0, 0), np.uint16)
    return {"rows": pack_positions(points.rows), "values": base64.b64encode(values.astype("<u2").tobytes()).decode()}


def _steps(places: Floats, low: float, high: float) -> NDArray[np.uint16]:
    steps = np.round((places - low) / (high - low) * STEPS)
    return np.where((steps >= 0) & (steps <= STEPS), steps, OUTSIDE).astype(np.uint16)
