"""The pictures of the concepts page.

    python docs/figures.py

Small data with a fixed seed; the same files every time.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from scipy.stats import binom

import shiftscope as ss

OUT = Path(__file__).parent / "images"
REFERENCE, CURRENT, GREY = "#5b6c7d", "#c2571a", "#9aa5b1"
N_ROWS, N_GROUP = 800, 40
DPI = 110
STYLE = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "text.color": "#22303c",
}


def main() -> None:
    """Draw all pictures."""
    OUT.mkdir(exist_ok=True)
    with matplotlib.rc_context(STYLE):
        for draw in (hidden, neighbours, tail, dilution, equalised):
            path = OUT / f"{draw.__name__}.png"
            draw().savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
            print(f"{path.name}: {path.stat().st_size} bytes")


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Two samples (n, 2); the last rows of the second are a compact group well inside the usual range."""
    rng = np.random.default_rng(4)
    reference, current = rng.standard_normal((2, N_ROWS, 2))
    current[-N_GROUP:] = (0.9, -0.8) + 0.12 * rng.standard_normal((N_GROUP, 2))
    return reference, current


def hidden() -> Figure:
    """A group that no single column shows."""
    reference, current = samples()
    figure = Figure(figsize=(7.2, 3.1), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(1.1, 1.3, 1.3))
    bins = np.linspace(-3.2, 3.2, 14)
    for column in (0, 1):
        axes = figure.add_subplot(grid[column, 0])
        for rows, colour in ((reference, REFERENCE), (current, CURRENT)):
            axes.hist(rows[:, column], bins=bins, histtype="step", color=colour, linewidth=1.4)
        axes.set(yticks=[], xticks=[], xlabel=f"column {column + 1}", ylabel="rows")
    for at, (rows, name, colour) in enumerate(((reference, "reference", REFERENCE), (current, "current", CURRENT))):
        axes = figure.add_subplot(grid[:, at + 1])
        _scatter(axes, rows, colour)
        axes.add_patch(Rectangle((0.5, -1.2), 0.8, 0.8, fill=False, linestyle="--", color="#22303c"))
        inside = np.sum(np.all(np.abs(rows - (0.9, -0.8)) < 0.4, axis=1))
        axes.set_title(f"{name}: {inside} rows in the box", fontsize=9)
    return figure


def neighbours() -> Figure:
    """The walk of one row through its neighbours, and the evidence along it."""
    reference, current = samples()
    pool = np.concatenate([reference, current])
    own = np.arange(len(pool)) >= len(reference)
    row = len(pool) - 7
    order = np.argsort(np.sum((pool - pool[row]) ** 2, axis=1), kind="stable")[1:]
    counts = np.cumsum(own[order])
    k = np.arange(1, order.size + 1)
    evidence = -binom.logsf(counts - 1, k, own.mean())
    best = int(np.argmax(evidence[:200]))
    figure = Figure(figsize=(7.2, 3.1), layout="constrained")
    left, right = figure.subplots(1, 2)
    _scatter(left, reference, REFERENCE)
    _scatter(left, current, CURRENT)
    for at, style in ((9, ":"), (best, "-"), (150, ":")):
        radius = float(np.linalg.norm(pool[order[at]] - pool[row]))
        left.add_patch(Circle(tuple(pool[row]), radius, fill=False, linestyle=style, color="#22303c"))
    left.plot(*pool[row], marker="*", markersize=8, color="#22303c")
    left.set(xlim=(-0.1, 1.9), ylim=(-1.8, 0.2))
    left.set_title(f"one row and its nearest 10, {best + 1} and 151 rows", fontsize=9)
    right.plot(k[:200], evidence[:200], color=CURRENT)
    right.axvline(best + 1, color="#22303c", linewidth=0.8)
    right.annotate(
        f"score {evidence[best]:.1f}: {counts[best]} of {best + 1}\nare of its own sample",
        (best + 1, evidence[best]),
        (best + 5, 1.12 * evidence[best]),
        fontsize=9,
    )
    right.set(
        xlabel="neighbours looked at, K", ylabel="evidence, -log P(as many or more)", ylim=(0, 1.35 * evidence[best])
    )
    return figure


def tail() -> Figure:
    """Scores of all rows against the exact null."""
    reference, current = samples()
    figure = Figure(figsize=(7.2, 2.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    rng = np.random.default_rng(5)
    equal = rng.standard_normal((2, N_ROWS, 2))
    for axes, pair, title in (
        (left, equal, "two samples of one distribution"),
        (right, (reference, current), "with the group"),
    ):
        scores = ss.score(*pair, k_max=60)
        grid = np.linspace(0.7, 16, 120)
        axes.plot(grid, [scores.nulls.current.sf(t) for t in grid], "--", color="#22303c", label="chance, exactly")
        for values, name, colour in (
            (scores.reference, "reference rows", REFERENCE),
            (scores.current, "current rows", CURRENT),
        ):
            ordered = np.sort(values)
            axes.step(ordered, 1.0 - np.arange(ordered.size) / ordered.size, color=colour, label=name)
        axes.set(yscale="log", ylim=(2e-3, 1.1), xlim=(0, 16), xlabel="score")
        axes.set_title(title, fontsize=9)
    left.set_ylabel("share of rows beyond")
    right.legend(frameon=False, fontsize=8)
    return figure


def dilution() -> Figure:
    """What columns that have no part in the shift do to neighbourhoods."""
    reference, current = samples()
    rng = np.random.default_rng(6)
    noise = rng.standard_normal((2, N_ROWS, 30))
    extra = np.array([0, 1, 2, 3, 5, 8, 12, 18, 24, 30])
    medians = []
    for count in extra:
        pair = [np.hstack([rows, more[:, :count]]) for rows, more in zip((reference, current), noise, strict=True)]
        medians.append(np.median(ss.score(*pair, k_max=60).current[-N_GROUP:]))
    figure = Figure(figsize=(4.6, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.plot(extra + 2, medians, "o-", color=CURRENT, markersize=4)
    chance = ss.ScoreNull(60, 0.5).threshold(0.5)
    axes.axhline(chance, linestyle="--", color="#22303c")
    axes.annotate("chance", (17, chance), (17, chance - 0.9), fontsize=9)
    axes.set(xlabel="columns compared (two of them show the group)", ylabel="median score of the group", ylim=(0, None))
    return figure


def equalised() -> Figure:
    """Both samples without the excess."""
    reference, current = samples()
    kept = ss.equalise(reference, current, k_max=60)
    figure = Figure(figsize=(7.2, 3.0), layout="constrained")
    for axes, rows, alive, name, colour in zip(
        figure.subplots(1, 2),
        (reference, current),
        (kept.kept_reference, kept.kept_current),
        ("reference", "current"),
        (REFERENCE, CURRENT),
        strict=True,
    ):
        gone = np.setdiff1d(np.arange(len(rows)), alive)
        _scatter(axes, rows[alive], colour)
        axes.plot(*rows[gone].T, "x", color="#22303c", markersize=4, markeredgewidth=0.9)
        axes.set_title(f"{name}: {alive.size} rows kept, {gone.size} removed (x)", fontsize=9)
    return figure


def _scatter(axes: Axes, rows: np.ndarray, colour: str) -> None:
    axes.plot(*rows.T, "o", color=colour, markersize=2.0, markeredgewidth=0, alpha=0.75)
    axes.set(xlim=(-3, 3), ylim=(-3, 3), xticks=[], yticks=[], aspect="equal", xlabel="column 1", ylabel="column 2")


if __name__ == "__main__":
    main()
