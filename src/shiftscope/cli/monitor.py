"""The command `monitor`: batches held against a reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shiftscope.cli.common import (
    SHIFT_FOUND,
    Debug,
    check_outputs,
    exit_codes,
    json_files,
    put_answer,
    shown_progress,
)
from shiftscope.errors import InputError

if TYPE_CHECKING:
    from shiftscope.questions.detector import ShiftDetector
    from shiftscope.questions.monitor_result import MonitorResult

DEFAULT_HORIZON = 100


def monitor(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Table file, or a file of `fit`.")],
    batches: Annotated[list[str], typer.Argument(metavar="BATCH...", help="Table files in the order of time.")],
    history: Annotated[
        Path | None, typer.Option("--history", help="Append-only record; batches that it holds are not computed again.")
    ] = None,
    horizon: Annotated[
        int, typer.Option("--horizon", min=1, help="Batches over which false alarms are controlled.")
    ] = DEFAULT_HORIZON,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="Chance of any false alarm among HORIZON batches.  [default: 0.01]")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed gives the same result.  [default: 0]")
    ] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="PATH|-", help="Write the rows as JSON.")] = None,
    table: Annotated[Path | None, typer.Option("--table", help="Write the rows as .csv or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw them as .png, .svg or .pdf.")] = None,
    fail_on_shift: Annotated[bool, typer.Option("--fail-on-shift", help="Exit with 1 if any batch differs.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No table and no progress on the screen.")] = False,
    debug: Debug = False,
) -> None:
    """Hold a sequence of batches against a reference; one row per batch, false alarms controlled over all of them."""
    with exit_codes(debug):
        files = [path for path in (history, *json_files(json), table, plot) if path is not None]
        check_outputs(files, inputs=(reference, *batches))
        _check_suffixes(table, plot)
        result = _watch(_detector(reference, alpha, seed), batches, horizon, history, quiet=quiet)
        others: dict[Path, Callable[[Path], None]] = {}
        if table is not None:
            others[table] = partial(_write_table, result)
        if plot is not None:
            others[plot] = result.plot
        put_answer(result, json, others, quiet=quiet)
        if fail_on_shift and result.alarms:
            raise typer.Exit(SHIFT_FOUND)


def _check_suffixes(table: Path | None, plot: Path | None) -> None:
    from shiftscope.questions.monitor_plot import FORMATS
    from shiftscope.report.spreadsheets import check_suffix

    if table is not None:
        check_suffix(table, "--table")
    if plot is not None and plot.suffix.lower() not in FORMATS:
        raise InputError(f"--plot {str(plot)!r} must end in {', '.join(FORMATS)}; rename it")


def _detector(reference: str, alpha: float | None, seed: int | None) -> ShiftDetector:
    """A saved detector, its settings overruled by those given, or a new one of a table."""
    from shiftscope.questions.detector import ShiftDetector
    from shiftscope.questions.detector_file import is_detector

    if not is_detector(reference):
        return ShiftDetector(alpha=alpha, random_state=seed or 0).fit(reference)
    detector = ShiftDetector.load(reference)
    given = {"alpha": alpha, "random_state": seed}
    detector.set_params(**{name: value for name, value in given.items() if value is not None})
    return detector


def _watch(
    detector: ShiftDetector, batches: list[str], horizon: int, history: Path | None, *, quiet: bool
) -> MonitorResult:
    import shiftscope as ss

    with shown_progress(quiet) as progress:
        return ss.monitor(detector, batches, horizon=horizon, history=history, progress=progress)


def _write_table(result: MonitorResult, path: Path) -> None:
    from shiftscope.report.spreadsheets import write_table

    write_table(result.to_table(), path, "--table")
