"""A small picture of one column in both samples, drawn from its overview alone: quartiles, or shares of levels."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from shiftscope.findings import ColumnOverview, ColumnSide

PICTURE_WIDTH, LINE_HEIGHT = 150, 13  # of a picture, and of what it shows of one sample
BARS = 4  # levels drawn


def column_picture(column: ColumnOverview) -> str:
    """SVG: the reference above, the current sample below. It holds numbers only, no text of the user."""
    sides = (("reference", column.reference), ("current", column.current))
    draw = _levels if column.kind == "category" else _quartiles
    shapes = "".join(shape for at, (name, side) in enumerate(sides) for shape in draw(column, side, name, at))
    height = 2 * LINE_HEIGHT
    return f'<svg viewBox="0 0 {PICTURE_WIDTH} {height}" width="{PICTURE_WIDTH}" height="{height}">{shapes}</svg>'


def _quartiles(column: ColumnOverview, side: ColumnSide, name: str, at: int) -> Iterator[str]:
    """Range as a line, middle half as a box, median as a mark, all on one scale for both samples."""
    ends = [end for one in (column.reference, column.current) for end in (one.low, one.high) if isfinite(end)]
    if not isfinite(side.median):
        return
    low, span = min(ends) / 2, (max(ends) / 2 - min(ends) / 2) or 1.0  # halves: the range may exceed all doubles
    places = (side.low, side.quarter, side.median, side.three_quarters, side.high)
    x = [2 + (PICTURE_WIDTH - 4) * (place / 2 - low) / span for place in places]
    y = at * LINE_HEIGHT + LINE_HEIGHT / 2
    yield f'<path class="{name}" d="M{x[0]:.1f} {y:.1f}H{max(x[4], x[0] + 1):.1f}"/>'
    yield _bar(name, x[1], y - 3.5, max(1.5, x[3] - x[1]), 7)
    yield f'<path class="middle" d="M{x[2]:.1f} {y - 5.5:.1f}v11"/>'


def _levels(column: ColumnOverview, side: ColumnSide, name: str, at: int) -> Iterator[str]:
    """Shares of the levels that changed most as bars, one place a level."""
    step = PICTURE_WIDTH / BARS
    for place, (_, rows) in enumerate(side.levels[:BARS]):
        yield _bar(
            name, place * step + 1, at * LINE_HEIGHT + 2, max(0.5, (step - 5) * rows / side.seen), LINE_HEIGHT - 4
        )


def _bar(name: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
