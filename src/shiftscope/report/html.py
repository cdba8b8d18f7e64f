"""The report: one self-contained page, and a short form of it for notebooks.

Every text passes Jinja's autoescaping; only figures, whose texts matplotlib has escaped, the page's own script and the
data it reads are marked as safe. The page forbids itself any other script and any request (Content-Security-Policy).
Without script it shows the same pictures, standing still.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from os import PathLike

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from shiftscope.findings import ColumnOverview, LeftOut, Side
from shiftscope.output_files import write_text
from shiftscope.params import CompareParams
from shiftscope.report import explorer, figures, overview_sentences, sentences
from shiftscope.report.column_picture import column_picture
from shiftscope.report.figure_data import TOP_FEATURES, Gallery, ScoreTail
from shiftscope.report.summary import Choice, ModeSummary, Summary

MODES_DRAWN = 6  # further modes are described without figures: the page stays small
FEATURES_LISTED = 20  # rows of a mode's feature table; the rest are counted
ROWS_LISTED = 30  # row positions shown of a mode
COLUMNS_LISTED = 1000  # columns shown in the overview, and left-out ones named
SETS_LISTED = 10  # feature sets of the scan shown


@dataclass(frozen=True)
class Drawing:
    """A figure and what it says to those who cannot see it."""

    svg: Markup
    label: str


@dataclass(frozen=True)
class ModeView:
    """A mode as the page shows it."""

    number: int
    summary: ModeSummary
    scatters: tuple[Drawing, ...]
    distributions: tuple[Drawing, ...]
    downloadable: bool
    interactive: bool


@dataclass(frozen=True)
class ColumnView:
    """A column of the overview as the page shows it."""

    summary: ColumnOverview
    drawing: Drawing


@dataclass(frozen=True)
class Page:
    """Everything the template asks for."""

    summary: Summary
    modes: tuple[ModeView, ...]
    evidence: tuple[Drawing, ...]
    columns: tuple[ColumnView, ...]
    left_out: tuple[LeftOut, ...]
    settings: tuple[tuple[str, str], ...]
    call: str
    command: str
    script: explorer.Script
    data: Markup


def write_html(summary: Summary, path: str | PathLike[str]) -> None:
    """Write the report to `path`, whole or not at all."""
    write_text(path, page(summary))


def page(summary: Summary) -> str:
    """The report as HTML text."""
    lists = explorer.downloadable(summary)
    modes = tuple(_mode_view(summary, number, lists[number - 1]) for number in range(1, len(summary.modes) + 1))
    view = Page(
        summary=summary,
        modes=modes,
        evidence=_evidence(summary),
        columns=tuple(map(_column_view, summary.columns[:COLUMNS_LISTED])),
        left_out=tuple(left for left in summary.left_out if not left.apart)[:COLUMNS_LISTED],
        settings=tuple(_settings(summary.params)),
        call=_call(summary),
        command=_command(summary),
        script=explorer.script(),
        data=explorer.packed(summary, MODES_DRAWN),
    )
    return _templates().get_template("page.html").render(page=view)


def fragment(summary: Summary) -> str:
    """Verdict and modes without figures, to be shown inside another page."""
    return _templates().get_template("fragment.html").render(summary=summary)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("shiftscope.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_tied,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        words=sentences,
        column_words=overview_sentences,
        features_listed=FEATURES_LISTED,
        rows_listed=ROWS_LISTED,
        columns_listed=COLUMNS_LISTED,
        sets_listed=SETS_LISTED,
        modes_drawn=MODES_DRAWN,
        top_features=TOP_FEATURES,
    )
    return environment


def _tied(value: object) -> object:
    """Keep numbers and their signs on one line, and an arrow whole."""
    if isinstance(value, str) and not isinstance(value, Markup):
        value = value.replace(" -> ", "\N{NO-BREAK SPACE}\N{RIGHTWARDS ARROW} ")
        return value.replace(" %", "\N{NO-BREAK SPACE}%").replace("p = ", "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    return value


def _column_view(column: ColumnOverview) -> ColumnView:
    name = sentences.shown_name(column.name)
    return ColumnView(column, Drawing(Markup(column_picture(column)), f"{name} in both samples"))


def _mode_view(summary: Summary, number: int, downloadable: bool) -> ModeView:
    """Scatter plots of both samples where there are two features, and the distribution of each feature drawn."""
    mode = summary.modes[number - 1]
    if number > MODES_DRAWN:
        return ModeView(number, mode, (), (), downloadable, False)
    scatters, interactive = _scatters(summary.gallery, number, mode), len(summary.gallery.columns) > 1
    return ModeView(number, mode, scatters, _distributions(number, mode), downloadable, interactive)


def _scatters(shown: Gallery, number: int, mode: ModeSummary) -> tuple[Drawing, ...]:
    if len(mode.picture.axes) < 2:
        return ()
    first, second = (sentences.shown_name(shown.columns[axis].name) for axis in mode.picture.axes[:2])
    return tuple(
        Drawing(
            Markup(figures.scatter(shown, mode.picture, side, mode.side, f"m{number}{side}")),
            f"Scatter plot of {second} against {first}, rows of the {side} sample",
        )
        for side in ("reference", "current")
    )


def _distributions(number: int, mode: ModeSummary) -> tuple[Drawing, ...]:
    return tuple(
        Drawing(
            Markup(figures.distribution(histogram, f"m{number}f{at}")),
            f"Distribution of {sentences.shown_name(histogram.axis.name)} in both samples, before and after "
            "equalisation",
        )
        for at, histogram in enumerate(mode.picture.histograms)
    )


def _evidence(summary: Summary) -> tuple[Drawing, ...]:
    """Score distributions of both samples, the equalisation, and the choice of subset size of each mode."""
    found = summary.calibration
    sides: tuple[tuple[ScoreTail, Side], ...] = (
        (found.scores_reference, "reference"),
        (found.scores_current, "current"),
    )
    drawings = [
        Drawing(
            Markup(figures.scores(tail, side, f"scores{side}")),
            f"Share of {side} rows at or above each score, beside the share that chance would give",
        )
        for tail, side in sides
    ]
    if summary.equalisation is not None:
        done = summary.equalisation
        svg = figures.trace(done.trace_reference, done.trace_current, "trace")
        drawings.append(Drawing(Markup(svg), "Excess in the score tails against the number of rows removed"))
    for number, mode in enumerate(summary.modes[:MODES_DRAWN], start=1):
        if mode.localisation is None:
            continue
        chosen = len(mode.features)
        svg = figures.subset_sizes(mode.localisation.curve, chosen, f"mode {number}: how many features", f"m{number}c")
        drawings.append(
            Drawing(Markup(svg), f"Enrichment of mode {number} per number of features; {chosen} are chosen")
        )
    return tuple(drawings)


def _settings(params: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every setting by its dotted name."""
    for field in fields(params):  # type: ignore[arg-type]
        value = getattr(params, field.name)
        if is_dataclass(value):
            yield from _settings(value, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}", repr(value)


def _call(summary: Summary) -> str:
    """The Python call that gives this result again."""
    usual = CompareParams(alpha=summary.alpha)
    columns = f", columns={code}" if (code := _columns_code(summary.choice)) else ""
    params = "" if summary.params == usual else f", params={_changed(summary.params, usual)}"
    settings = f"alpha={summary.alpha!r}{columns}, random_state={summary.random_state}{params}"
    return f"ss.compare(reference, current, {settings})"


def _columns_code(choice: Choice) -> str:
    """The choice of columns as code; empty if none was made."""
    parts = [] if choice.include is None else [f"include={choice.include!r}"]
    parts += [f"exclude={choice.exclude!r}"] if choice.exclude else []
    parts += [f"kinds={dict(choice.kinds)!r}"] if choice.kinds else []
    return f"ss.Columns({', '.join(parts)})" if parts else ""


def _command(summary: Summary) -> str:
    """The same on the command line; empty if it has no option for some setting."""
    if summary.params != CompareParams(alpha=summary.alpha):
        return ""
    options = [("--alpha", repr(summary.alpha)), ("--seed", str(summary.random_state))]
    options += [("--include", name) for name in summary.choice.include or ()]
    options += [("--exclude", name) for name in summary.choice.exclude]
    options += [("--kind", f"{name}={kind}") for name, kind in summary.choice.kinds]
    return shlex.join(["shiftscope", "compare", "REFERENCE", "CURRENT", *(part for pair in options for part in pair)])


def _changed(params: object, usual: object) -> str:
    """A parameter set as code, with the settings that are not the usual ones."""
    if not is_dataclass(params) or type(params) is not type(usual):
        return repr(params)
    pairs = [(field.name, getattr(params, field.name), getattr(usual, field.name)) for field in fields(params)]
    settings = [f"{name}={_changed(value, default)}" for name, value, default in pairs if value != default]
    return f"ss.{type(params).__name__}({', '.join(settings)})"
