"""The tables and figures of the two studies, from whatever units are there.

    python -m experiments.paper.figures --runs runs --out docs/results --page docs/results/benchmark.md

Reads RUNS/global_shift and RUNS/local_shift. Writes for each study its table and the inclusion frequencies of features
(CSV) and its figure (PNG and SVG), and for both the smallest shift that each method is sure of (CSV) and a figure of
detection rates. The tables of a page are filled in.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from experiments.benchmark20d import BUDGET, DIMENSION, GLOBAL_SUPPORT, LOCAL_SUPPORT
from experiments.command import QUICK
from experiments.markdown import filled
from experiments.paper import global_shift, local_shift
from experiments.paper.page import fragments
from experiments.paper.study import Study
from experiments.paper.summaries import Reach, Row, Spread, inclusion_csv, reaches, reaches_csv, rows_csv, summarise
from experiments.runner import write_whole

SUPPORTS = {"global_shift": GLOBAL_SUPPORT, "local_shift": LOCAL_SUPPORT}
LABELS = {"sigma": "shift amplitude σ", "injected": "injected rows"}
NAMES = {
    "default": "shiftscope (default)",
    "paper": "paper's protocol",
    "mlp": "MLP (paper)",
    "mlp_early": "MLP, early stopping",
    "lightgbm": "LightGBM",
    "ks": "marginal KS, Holm",
    "mmd": "kernel test (MMD)",
    "ulsif": "density ratio (uLSIF)",
    "l1": "L1 logistic",
}
# colour (Okabe and Ito), marker and line: no two methods share more than one of them
LOOKS = {
    "default": ("#0072B2", "o", "-"),
    "paper": ("#D55E00", "s", "-"),
    "mlp": ("#CC79A7", "v", "--"),
    "mlp_early": ("#E69F00", "^", "--"),
    "lightgbm": ("#009E73", "D", "-"),
    "ulsif": ("#56B4E9", "P", "-."),
    "l1": ("#000000", "X", ":"),
}
PROTOCOLS = ("default", "paper")
SMALL_SVG = 200_000  # bytes; a larger one is not kept
DPI = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the units and write tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder of global_shift and local_shift")
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--page", type=Path, help="page whose tables are renewed (see experiments.markdown)")
    parser.add_argument("--quick", action="store_true", help="take the units of quick runs")
    asked = parser.parse_args(arguments)
    studies = (global_shift.STUDY, local_shift.STUDY)
    inside = QUICK if asked.quick else ""
    found = {study: summarise(study, asked.runs / study.name / inside) for study in studies}
    found = {study: rows for study, rows in found.items() if rows}
    if not found:
        parser.error(f"argument --runs: {asked.runs} holds no units of global_shift or local_shift; run a study first")
    reach = {study: reaches(study, rows) for study, rows in found.items()}
    for path in write_all(found, reach, asked.out):
        print(path)
    if asked.page:
        tables = fragments(found, reach, NAMES)
        write_whole(asked.page, filled(asked.page.read_text(encoding="utf-8"), tables))
        print(asked.page)


def draw(study: Study, folder: Path) -> list[Path]:
    """Tables and figures of the units of one study, written to a folder beside them; their paths."""
    rows = summarise(study, folder)
    return write_all({study: rows}, {study: reaches(study, rows)}, folder / "figures")


def write_all(found: dict[Study, list[Row]], reach: dict[Study, list[Reach]], out: Path) -> list[Path]:
    """All tables and figures of the studies found; their paths."""
    out.mkdir(parents=True, exist_ok=True)
    texts = {}
    drawings = {}
    for study, rows in found.items():
        texts[f"{study.name}.csv"] = rows_csv(rows, study.setting)
        texts[f"{study.name}_inclusion.csv"] = inclusion_csv(rows, study.setting)
        drawings[study.name] = global_figure(rows) if study == global_shift.STUDY else local_figure(rows)
    texts["smallest_shift.csv"] = reaches_csv([one for part in reach.values() for one in part])
    if any(row.detected is not None for rows in found.values() for row in rows):
        drawings["detection"] = detection_figure(found, reach)
    for name, text in texts.items():
        write_whole(out / name, text)
    return [out / name for name in texts] + [
        path for name, drawn in drawings.items() for path in save(drawn, out, name)
    ]


def save(drawn: Figure, out: Path, name: str) -> list[Path]:
    """Write a figure as PNG, and as SVG where that is small; the same figure gives the same files."""
    path = out / f"{name}.png"
    write_whole(path, png(drawn))
    vectors = svg(drawn, name)
    if len(vectors) > SMALL_SVG:
        print(f"{name}.svg left out: {len(vectors)} bytes", file=sys.stderr)
        return [path]
    write_whole(path.with_suffix(".svg"), vectors)
    return [path, path.with_suffix(".svg")]


def png(drawn: Figure) -> bytes:
    """A figure in 256 colours, which is a third of its size in all of them."""
    full, small = io.BytesIO(), io.BytesIO()
    drawn.savefig(full, format="png", dpi=DPI)
    Image.open(full).convert("RGB").quantize(256).save(small, format="png", optimize=True)
    return small.getvalue()


def svg(drawn: Figure, salt: str) -> bytes:
    """A figure as vectors, without a date and with names that do not change from run to run."""
    text = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt}):
        drawn.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def global_figure(rows: Sequence[Row]) -> Figure:
    """The paper's Figure 1: A, inclusion of features by amplitude for both protocols; B, pruned-to-total ratio."""
    drawn = Figure(figsize=(13, 4.6), layout="constrained")
    panels = drawn.subplots(1, 3, width_ratios=(1, 1, 1.1))
    inclusion_panels(drawn, panels[:2], rows, "global_shift", "sigma")
    lines(panels[2], rows, PROTOCOLS, lambda row: row.pruned)
    finish(panels[2], "B  pruned rows to all rows", LABELS["sigma"], "pruned-to-total ratio")
    return drawn


def local_figure(rows: Sequence[Row]) -> Figure:
    """The paper's Figure 2: A, inclusion; B, pruned-to-injected ratio; C, recall of 400 rows for all rankings."""
    drawn = Figure(figsize=(12, 9), layout="constrained")
    panels = drawn.subplots(2, 2)
    inclusion_panels(drawn, panels[0], rows, "local_shift", "injected")
    ratio, recall = panels[1]
    ratio.axhline(1.0, color="#555555", linestyle="--", linewidth=1, label="ideal")
    lines(ratio, rows, PROTOCOLS, lambda row: row.pruned)
    finish(ratio, "B  pruned rows to injected rows", LABELS["injected"], "pruned-to-injected ratio")
    grid = np.linspace(1, max((row.setting for row in rows), default=1), 200)
    recall.plot(
        grid, np.minimum(1.0, BUDGET / grid), color="#555555", linestyle="--", linewidth=1, label="most possible"
    )
    lines(recall, rows, tuple(LOOKS), lambda row: row.recall_400)
    finish(recall, f"C  share of injected rows among {BUDGET} rows named", LABELS["injected"], f"recall@{BUDGET}")
    recall.set_ylim(-0.03, 1.05)
    return drawn


def inclusion_panels(drawn: Figure, panels: Sequence[Axes], rows: Sequence[Row], study: str, setting: str) -> None:
    """Heat maps of the inclusion frequency, one per protocol; features that carry the shift are in bold."""
    for panel, protocol in zip(panels, PROTOCOLS, strict=True):
        mine = [row for row in rows if row.method == protocol and row.inclusion is not None]
        panel.set_title(f"A  features named: {NAMES[protocol]}", loc="left")
        panel.set_xlabel(LABELS[setting])
        panel.set_ylabel("feature")
        panel.set_yticks(range(DIMENSION), [f"x{feature}" for feature in range(DIMENSION)], fontsize=8)
        for feature in SUPPORTS[study]:
            panel.get_yticklabels()[feature].set(fontweight="bold", color="#D55E00")
        panel.set_xticks(range(len(mine)), [f"{row.setting:g}" for row in mine], fontsize=8)
        if mine:
            image = panel.imshow(np.array([row.inclusion for row in mine]).T, vmin=0, vmax=1, aspect="auto")
            drawn.colorbar(image, ax=panel, label=f"inclusion frequency ({seeds_text(mine)})")


def seeds_text(rows: Sequence[Row]) -> str:
    """How many seeds stand behind a panel."""
    counts = sorted({row.seeds for row in rows})
    return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def lines(panel: Axes, rows: Sequence[Row], methods: Sequence[str], value: Callable[[Row], Spread | None]) -> None:
    """Mean over settings with its quartile band, one line a method."""
    for method in methods:
        mine = [(row.setting, spread) for row in rows if row.method == method and (spread := value(row)) is not None]
        if not mine:
            continue
        colour, marker, line = LOOKS[method]
        at = [setting for setting, _ in mine]
        panel.fill_between(
            at, [s.low for _, s in mine], [s.high for _, s in mine], color=colour, alpha=0.15, linewidth=0
        )
        panel.plot(
            at,
            [s.mean for _, s in mine],
            color=colour,
            marker=marker,
            linestyle=line,
            markersize=5,
            label=NAMES[method],
        )


def finish(panel: Axes, title: str, x: str, y: str) -> None:
    """Labels, legend and a light grid."""
    panel.set_title(title, loc="left")
    panel.set(xlabel=x, ylabel=y)
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=8, frameon=False)


def detection_figure(found: dict[Study, list[Row]], reach: dict[Study, list[Reach]]) -> Figure:
    """Detected units of each method by setting; a frame marks the smallest shift from which on a method is reliable."""
    drawn = Figure(figsize=(13, 3.4 * len(found)), layout="constrained")
    panels = drawn.subplots(len(found), 1, squeeze=False)[:, 0]
    for panel, (study, rows) in zip(panels, found.items(), strict=True):
        tested = [row for row in rows if row.detected is not None]
        methods = list(dict.fromkeys(row.method for row in tested))
        settings = sorted({row.setting for row in tested})
        rates = np.full((len(methods), len(settings)), np.nan)
        for row in tested:
            place = methods.index(row.method), settings.index(row.setting)
            rates[place] = row.detected / row.seeds
            colour = "white" if rates[place] < 0.5 else "black"
            panel.text(
                place[1], place[0], f"{row.detected}/{row.seeds}", ha="center", va="center", color=colour, fontsize=8
            )
        image = panel.imshow(rates, vmin=0, vmax=1, aspect="auto", cmap="cividis")
        drawn.colorbar(image, ax=panel, label="share of seeds detected")
        for one in reach[study]:
            if one.method in methods and one.detected_from is not None:
                corner = settings.index(one.detected_from) - 0.5, methods.index(one.method) - 0.5
                panel.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="#D55E00", linewidth=2.5))
        panel.set_yticks(range(len(methods)), [NAMES[method] for method in methods])
        panel.set_xticks(range(len(settings)), [f"{setting:g}" for setting in settings])
        panel.set_xlabel(
            f"{LABELS[study.setting]} (framed: detected from here on at 9 of 10 seeds or more; white: not run)"
        )
        panel.set_title(f"{study.name.replace('_', ' ')}: detected at level 0.01", loc="left")
    return drawn


if __name__ == "__main__":
    main()
