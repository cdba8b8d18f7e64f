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

from shiftscope.report.pictures import Column, Floats, Points
from shiftscope.report.summary import ModeSummary, Summary
from shiftscope.report.text import shown_name

STEPS = 65_000  # a drawn range is divided into so many; a value out of range is OUTSIDE
OUTSIDE = 65_535
MARGIN = 0.03  # of a range, on either side
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
        rows = pack_positions(mode.rows) if mode.rows.size <= left else ""
        fits = 0 < len(rows) <= left
        lists.append(rows if fits else None)
        left -= len(rows) if fits else 0
    return tuple(lists)


def _column(column: Column) -> dict[str, object]:
    name = shown_name(column.name) + (" (standardised)" if column.standardised else "")
    low, high = _view(column)
    return {"name": name, "low": low, "high": high}


def _view(column: Column) -> tuple[float, float]:
    margin = MARGIN * (column.high - column.low)
    return column.low - margin, column.high + margin


def _points(points: Points, columns: tuple[Column, ...]) -> dict[str, str]:
    """Positions, and values as 16-bit steps of the range drawn, row after row."""
    steps = [_steps(points.values[:, at], *_view(column)) for at, column in enumerate(columns)]
    values = np.stack(steps, axis=1) if steps else np.empty((0, 0), np.uint16)
    return {"rows": pack_positions(points.rows), "values": base64.b64encode(values.astype("<u2").tobytes()).decode()}


def _steps(values: Floats, low: float, high: float) -> NDArray[np.uint16]:
    steps = np.round((values - low) / (high - low) * STEPS)
    return np.where((steps >= 0) & (steps <= STEPS), steps, OUTSIDE).astype(np.uint16)
