"""Figures: the paper's Figure 3, its two supplementary figures, waves and leads, changes of AUC, negative controls."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from experiments.ecg.attribution import wave_map
from experiments.ecg.downstream import CLASSIFIERS, CURVE, change
from experiments.ecg.study import Study, X, Y
from experiments.ecg.tables import VERDICTS
from experiments.ecg.waves import LEADS, WAVES
from experiments.runner import Unit, write_whole

# Okabe and Ito's colours, told apart by colour-blind readers too
DEVICE_COLOURS = ("#0072B2", "#E69F00", "#009E73")
CLASSIFIER_COLOURS = dict(zip(CLASSIFIERS, ("#0072B2", "#D55E00", "#009E73"), strict=True))
GREY = "#777777"
DPI = 110


def write_figures(study: Study, out: Path) -> None:
    """Draw every figure into `out`."""
    with mpl.rc_context({"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}):
        for name, draw in {**FIGURES, **(OF_TASKS if study.tasks else {})}.items():
            drawn = io.BytesIO()
            draw(study).savefig(drawn, format="png", dpi=DPI)
            write_whole(out / f"{name}.png", drawn.getvalue())


def figure3(study: Study) -> Figure:
    """Rows A-D: devices of the cohorts and of the removed sets, and the support; row E: ROC curves."""
    figure = Figure(figsize=(12, 11.5 if study.tasks else 8.8), layout="constrained")
    parts = figure.subfigures(1 + bool(study.tasks), 1, height_ratios=[4, 1.3][: 1 + bool(study.tasks)], squeeze=False)
    top = parts[0, 0]
    axes = top.subplots(len(study.cases), 5, squeeze=False, width_ratios=[1, 1, 1, 1, 2.6])
    for row, case in zip(axes, study.cases, strict=True):
        _devices(study, case, row[:4])
        _support_map(study, case, Y, row[4])
        row[0].set_ylabel(case, rotation=0, fontsize=14, fontweight="bold", labelpad=12, va="center")
    handles = [mpl.patches.Patch(color=colour, label=f"Device {k + 1}") for k, colour in enumerate(DEVICE_COLOURS)]
    top.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)
    if study.tasks:
        _row_e(study, parts[1, 0])
    return figure


def _row_e(study: Study, bottom: SubFigure) -> None:
    which = most_changed(study)
    panels = bottom.subplots(1, len(study.tasks), squeeze=False)[0]
    for axis, task in zip(panels, study.tasks, strict=True):
        _roc(axis, _first(study, task), (which,))
        axis.set_title(task)
    panels[0].set_ylabel("E", rotation=0, fontsize=14, fontweight="bold", labelpad=12, va="center")
    bottom.suptitle(f"ROC of {which} in case C: solid before, dashed after equalisation (first draw)", fontsize=9)


def most_changed(study: Study) -> str:
    """The classifier with the largest mean absolute relative change of the AUC over the tasks (first draw)."""

    def moved(which: str) -> float:
        pairs = [[_first(study, task)[name][which]["auc"] for name in ("before", "after")] for task in study.tasks]
        return float(np.mean([abs(after - before) / before for before, after in pairs]))

    return max(CLASSIFIERS, key=moved)


def support_maps(study: Study) -> Figure:
    """How often the features of each wave and lead are in the support, over draws, for both sides of A-D."""
    figure = Figure(figsize=(10, 9), layout="constrained")
    axes = figure.subplots(len(study.cases), 2, squeeze=False)
    for row, case in zip(axes, study.cases, strict=True):
        for side, axis in zip((X, Y), row, strict=True):
            _support_map(study, case, side, axis)
            axis.set_title(f"{case}, side {'XY'[side]}, {axis.get_title()}", fontsize=8)
    return figure


def roc_curves(study: Study) -> Figure:
    """All classifiers, before and after (the paper's supplementary figure)."""
    figure = Figure(figsize=(11, 2.9), layout="constrained")
    for axis, task in zip(figure.subplots(1, len(study.tasks), squeeze=False)[0], study.tasks, strict=True):
        _roc(axis, _first(study, task), CLASSIFIERS)
        axis.set_title(task)
    figure.axes[0].set_ylabel("true-positive rate")
    figure.suptitle("ROC in case C, first draw: solid before, dashed after equalisation", fontsize=9)
    return figure


def confusion(study: Study) -> Figure:
    """Predictions at 0.5, before and after (the paper's other supplementary figure)."""
    figure = Figure(figsize=(9, 7.5), layout="constrained")
    conditions = [(name, which) for name in ("before", "after") for which in CLASSIFIERS]
    axes = figure.subplots(len(study.tasks), len(conditions), squeeze=False)
    for row, task in zip(axes, study.tasks, strict=True):
        for axis, (name, which) in zip(row, conditions, strict=True):
            counts = np.array(_first(study, task)[name][which]["confusion"])
            shares = counts / counts.sum(axis=1, keepdims=True)
            axis.imshow(shares, cmap="cividis", vmin=0, vmax=1)
            for (i, j), count in np.ndenumerate(counts):
                axis.text(j, i, count, ha="center", va="center", color="black" if shares[i, j] > 0.5 else "white")
            axis.set_xticks([0, 1], ["NORM", "PATH"] if task == study.tasks[-1] else ["", ""])
            axis.set_yticks([0, 1], ["NORM", "PATH"] if axis is row[0] else ["", ""])
            axis.set_title(f"{which}, {name}" if task == study.tasks[0] else "")
        row[0].set_ylabel(task)
    figure.supxlabel("predicted")
    figure.supylabel("true")
    return figure


def auc_changes(study: Study) -> Figure:
    """Change of the AUC by equalisation, one dot per draw, over the range of equally large random removals."""
    figure = Figure(figsize=(10, 5.8), layout="constrained")
    tested = {"auc": "tested on what is kept of Y", "auc_all_tested": "tested on all of Y"}
    axes = figure.subplots(len(tested), len(CLASSIFIERS), sharex=True, sharey="col")
    for row, (key, title) in zip(axes, tested.items(), strict=True):
        for axis, which in zip(row, CLASSIFIERS, strict=True):
            _changes(study, axis, which, key)
            axis.set_title(f"{which}, {title}")
        row[0].set_ylabel("change of AUC (points of 100)")
    figure.suptitle("Dots: equalisation, one per draw; line: their median; grey: range of random removals", fontsize=9)
    return figure


def _changes(study: Study, axis: Axes, which: str, key: str) -> None:
    for place, task in enumerate(study.tasks):
        found = change(study.downstream, task, which, key)
        low, high = 100 * found.random.min(), 100 * found.random.max()
        axis.bar(place, high - low, bottom=low, width=0.7, color="#CCCCCC", zorder=1)
        spread = np.linspace(-0.2, 0.2, found.changes.size)
        axis.plot(place + spread, 100 * found.changes, "o", ms=3.5, color=CLASSIFIER_COLOURS[which], zorder=3)
        axis.plot([place - 0.3, place + 0.3], [100 * np.median(found.changes)] * 2, color="black", lw=1.5, zorder=4)
    axis.axhline(0, color=GREY, lw=0.8, zorder=2)
    axis.set_xticks(range(len(study.tasks)), study.tasks)


def control_p_values(study: Study) -> Figure:
    """Sorted p-values of the negative controls beside the diagonal of an exact test."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axis, (key, title) in zip(figure.subplots(1, len(VERDICTS), sharey=True), VERDICTS.items(), strict=True):
        axis.plot([0, 1], [0, 1], color=GREY, lw=0.8)
        for device, colour in zip((1, 2, 3), DEVICE_COLOURS, strict=True):
            values = np.sort([unit[key] for unit in study.controls if unit["device"] == device])
            axis.step(
                values,
                np.arange(1, values.size + 1) / values.size,
                where="post",
                color=colour,
                label=f"Device {device}",
            )
        axis.set(title=title, xlabel="p-value", xlim=(0, 1), ylim=(0, 1.02))
    figure.axes[0].set_ylabel("share of splits at or below")
    figure.axes[0].legend(frameon=False)
    return figure


def _devices(study: Study, case: str, axes: np.ndarray) -> None:
    """Bars of the devices in X, Y and the removed sets of both."""
    found = [study.composition(case, study.compared[case, 0], side) for side in (X, Y)]
    panels = [(found[X].cohort, "X"), (found[Y].cohort, "Y")]
    panels += [(one.removed, f"removed from {side}") for one, side in zip(found, "XY", strict=True)]
    for axis, (counts, title) in zip(axes, panels, strict=True):
        total = max(sum(counts), 1)
        axis.bar(range(3), [100 * count / total for count in counts], color=DEVICE_COLOURS)
        for place, count in enumerate(counts):
            axis.text(place, 100 * count / total + 1, str(count), ha="center", va="bottom", fontsize=7)
        axis.set(ylim=(0, 108), title=f"{title}, n = {sum(counts)}")
        axis.set_xticks(range(3), ["1", "2", "3"])
        axis.set_yticks([0, 50, 100], ["0", "50", "100 %"])
    for axis in axes[:2]:
        axis.set_xlabel("device", labelpad=1)
    for axis, one in zip(axes[2:], found, strict=True):
        axis.set_xlabel(f"device (Fisher p = {one.p_value:.0e})", labelpad=1)


def _support_map(study: Study, case: str, side: int, axis: Axes) -> None:
    """Waves against leads: share of draws in which a feature of the cell is in the support."""
    supports = list(study.supports(case, side).values())
    often = np.bincount(np.concatenate([np.empty(0, int), *supports]), minlength=len(study.ecg.names))
    shares = wave_map(study.ecg.names, often / max(len(supports), 1))
    image = axis.imshow(100 * shares, cmap="cividis", vmin=0, vmax=100, aspect="auto")
    axis.set_xticks(range(len(LEADS)), LEADS, fontsize=7)
    axis.set_yticks(range(len(WAVES)), WAVES, fontsize=7)
    axis.spines[:].set_visible(False)
    axis.figure.colorbar(image, ax=axis, label="% of features chosen", shrink=0.9)
    first = study.compared[case, 0]["supports"][side]
    size = len(first["features"]) if first else 0
    draws = len(supports)
    title = f"support: {size} of {len(study.ecg.names)} features; mean of {draws} draw{'s' * (draws > 1)} shown"
    axis.set_title(title)


def _roc(axis: Axes, conditions: Unit, classifiers: tuple[str, ...]) -> None:
    for which in classifiers:
        for name, style in (("before", "-"), ("after", "--")):
            found = conditions[name][which]
            label = f"{which} {name} {found['auc']:.3f}"
            axis.plot(CURVE, found["roc"], style, color=CLASSIFIER_COLOURS[which], lw=1.2, label=label)
    axis.plot([0, 1], [0, 1], color=GREY, lw=0.6)
    axis.set(xlim=(0, 1), ylim=(0, 1.01), xlabel="false-positive rate")
    axis.legend(frameon=False, fontsize=6, loc="lower right")


def _first(study: Study, task: str) -> Unit:
    """Conditions of a task in the first draw."""
    return next(unit["conditions"] for unit in study.downstream if unit["task"] == task and unit["draw"] == 0)


FIGURES: dict[str, Callable[[Study], Figure]] = {
    "support": support_maps,
    "controls": control_p_values,
    "figure3": figure3,
}
OF_TASKS: dict[str, Callable[[Study], Figure]] = {
    "roc": roc_curves,
    "confusion": confusion,
    "changes": auc_changes,
}
