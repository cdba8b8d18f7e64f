"""Figures as SVG fragments that take their colours from the page, so that they follow light, dark and print.

Nothing here touches pyplot or a display. Many points are drawn as one picture inside the SVG: its size does not grow
with the data.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator

from shiftscope.findings import Curve, Side
from shiftscope.ignored_warnings import ignored_warning
from shiftscope.report.axes import MARGIN, Axis, Box, Floats, boxes, ticks
from shiftscope.report.figure_data import Gallery, Histogram, Picture, ScoreTail, TraceLine
from shiftscope.report.sentences import axis_name

INK, REFERENCE_COLOUR, CURRENT_COLOUR = "#010203", "#010204", "#010205"  # stand for colours of the page
PAGE_COLOURS = {INK: "currentColor", REFERENCE_COLOUR: "var(--reference)", CURRENT_COLOUR: "var(--current)"}
SAMPLE_COLOURS: dict[Side, str] = {"reference": REFERENCE_COLOUR, "current": CURRENT_COLOUR}
POINT_COLOURS: dict[Side, str] = {"reference": "#3f87c6", "current": "#d9762f"}  # pictures keep theirs: mid-tones
POINT_DPI = 144
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
TICK_LENGTH = 28
TICKS_LENGTH = 38  # characters that fit below a figure
PANEL = (3.7, 3.0)  # inches
TALL_PANEL = (3.7, 3.6)

SAME_FILE = {"svg.hashsalt": "shiftscope"}  # the same data give the same file
STYLE = {
    "svg.fonttype": "none",  # text stays text: the page's font, and any script or emoji
    **SAME_FILE,
    "text.parse_math": False,  # a column may be called $x$
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.labelcolor": INK,
    "axes.linewidth": 0.7,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}

ONE_AT_A_TIME = Lock()


def scatter(shown: Gallery, picture: Picture, side: Side, mode_side: Side, name: str) -> str:
    """Rows of one sample in a mode's two strongest features, the mode's rows ringed in the sample that has them."""
    across, up = picture.axes[:2]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        rows = (shown.reference if side == "reference" else shown.current).values
        axes.plot(
            rows[:, across],
            rows[:, up],
            linestyle="none",
            marker="o",
            markersize=2.6,
            markeredgewidth=0,
            alpha=0.55,
            color=POINT_COLOURS[side],
            rasterized=True,
        )
        marked = picture.marked.values[:, [across, up]]
        if side == mode_side:
            axes.scatter(marked[:, 0], marked[:, 1], s=8, facecolors="none", edgecolors=INK, linewidths=0.5)
        for box in boxes(marked, shown.columns[across], shown.columns[up]):
            axes.add_patch(_patch(box))
        axes.set_title(f"{side} sample" + (", mode ringed" if side == mode_side else ""))
        _draw_axis(axes.xaxis, shown.columns[across])
        _draw_axis(axes.yaxis, shown.columns[up])

    return _svg(draw, PANEL, name)


def distribution(histogram: Histogram, name: str) -> str:
    """Shares of both samples over one feature: of all rows with the mode's rows behind them, then of the rows kept."""

    def draw(figure: Figure) -> None:
        above, below = figure.subplots(2, 1, sharex=True)
        kept = (histogram.kept_reference, histogram.kept_current)
        peak = max(shares.max() for shares in (histogram.reference, histogram.current, *kept))
        mode = histogram.mode * (peak / max(histogram.mode.max(), 1e-300))
        above.stairs(mode, histogram.edges, fill=True, color=INK, alpha=0.18, label="mode (scaled)")
        _stairs(above, histogram, histogram.reference, histogram.current)
        _stairs(below, histogram, *kept)
        above.set_title("all rows")
        below.set_title("rows kept")
        figure.legend(
            *above.get_legend_handles_labels(), loc="outside upper right", ncols=3, handlelength=1.2, columnspacing=1.2
        )
        for axes in (above, below):
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            axes.set_ylim(0, 1.08 * max(peak, 1e-300))
        _draw_axis(below.xaxis, histogram.axis)

    return _svg(draw, TALL_PANEL, name)


def scores(tail: ScoreTail, side: Side, name: str) -> str:
    """Share of rows at or above each score, beside what the exact null expects."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(*_positive(tail.score, tail.null), color=INK, linestyle="--", linewidth=1.2, label="expected")
        axes.plot(*_positive(tail.score, tail.observed), color=SAMPLE_COLOURS[side], linewidth=2, label="observed")
        axes.set_yscale("log")
        axes.set_ylim(0.1 * tail.observed[tail.observed > 0].min(), 1.5)
        axes.set_title(f"{side} sample")
        axes.set_xlabel("score")
        axes.set_ylabel("share of rows at or above")
        axes.legend(loc="upper right")
        axes.minorticks_off()
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_major_formatter(_power_of_ten)
        axes.xaxis.set_major_locator(MaxNLocator(5))

    return _svg(draw, PANEL, name)


def trace(reference: TraceLine, current: TraceLine, name: str) -> str:
    """How the excess in either tail shrinks as rows are removed."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for line, side in ((reference, "reference"), (current, "current")):
            colour = REFERENCE_COLOUR if side == "reference" else CURRENT_COLOUR
            axes.plot(line.removed, line.distance, color=colour, linewidth=1.6, label=side)
            axes.plot(line.removed[-1:], line.distance[-1:], color=colour, marker="o", markersize=4)
        axes.set_title("equalisation")
        axes.set_xlabel("rows removed")
        axes.set_ylabel("KS distance of the score tail")
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper right")
        _few_ticks(axes)

    return _svg(draw, PANEL, name)


def subset_sizes(curve: Curve, chosen: int, title: str, name: str) -> str:
    """Cross-validated enrichment of the neighbourhoods per number of features, with the number chosen."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        low, high = curve.score - curve.error, curve.score + curve.error
        axes.fill_between(curve.sizes, low, high, color=INK, alpha=0.18, linewidth=0)
        axes.plot(curve.sizes, curve.score, color=INK, linewidth=1.6, marker="o", markersize=3, label="score")
        axes.plot(curve.sizes, curve.purity, color=INK, linewidth=1.0, linestyle=":", label="purity")
        axes.axvline(chosen, color=INK, linewidth=0.8, linestyle="--")
        axes.set_title(title)
        axes.set_xlabel("number of features (dashed: chosen)")
        axes.set_ylabel("enrichment of neighbourhoods")
        axes.legend(loc="best")
        _few_ticks(axes)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))

    return _svg(draw, PANEL, name)


def _svg(draw: Callable[[Figure], None], size: tuple[float, float], name: str) -> str:
    """Draw a figure and return its <svg> element; ids carry `name`, so that several fit in one page."""
    with _style(), ignored_warning(r"(?s)Glyph .* missing from font"):  # the browser has other fonts
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", dpi=POINT_DPI, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    for stand_in, colour in PAGE_COLOURS.items():
        svg = svg.replace(stand_in, colour)
    return svg


@contextmanager
def _style() -> Iterator[None]:
    """Our style, whatever the user's is; matplotlib has one for all threads, so figures are drawn one at a time."""
    with ONE_AT_A_TIME, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def _stairs(axes: Axes, histogram: Histogram, reference: Floats, current: Floats) -> None:
    axes.stairs(reference, histogram.edges, color=REFERENCE_COLOUR, linewidth=1.6, linestyle="--", label="reference")
    axes.stairs(current, histogram.edges, color=CURRENT_COLOUR, linewidth=1.6, label="current")


def _positive(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The points that a logarithmic axis can show."""
    return x[y > 0], y[y > 0]


def _draw_axis(line: XAxis | YAxis, axis: Axis) -> None:
    """Range, ticks and name; long ticks below a figure are tilted."""
    margin = MARGIN * (axis.high - axis.low)
    marks = ticks(axis)
    line.set_view_interval(axis.low - margin, axis.high + margin, ignore=True)
    line.set_ticks(list(marks.places), list(marks.labels))
    line.set_label_text(axis_name(axis, marks, TICK_LENGTH))
    if line.axis_name == "x" and sum(map(len, marks.labels)) > TICKS_LENGTH:
        line.set_tick_params(rotation=30)
        for label in line.get_ticklabels():
            label.set_horizontalalignment("right")


def _patch(box: Box) -> Rectangle:
    size = box.right - box.left, box.top - box.bottom
    return Rectangle((box.left, box.bottom), *size, fill=False, edgecolor=INK, linestyle="--", linewidth=0.9)


def _power_of_ten(value: float, _position: object) -> str:
    """A tick of a logarithmic axis, without the mathematical text that is switched off here."""
    return "10" + str(round(np.log10(value))).translate(SUPERSCRIPTS) if value < 1 else "1"


def _few_ticks(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(5))
