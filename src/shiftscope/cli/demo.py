"""The command `demo`: a small group of rows hidden in a built-in example, found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shiftscope.cli.common import Debug, Seed, check_outputs, compared, exit_codes, show_result, show_written


def demo(
    report: Annotated[Path, typer.Option("--report", help="Where to write the report.")] = Path("report.html"),
    seed: Seed = 0,
    debug: Debug = False,
) -> None:
    """Find a small group of rows hidden in a built-in example, and write the report."""
    with exit_codes(debug):
        check_outputs([report])
        from shiftscope.cli.demo_data import PARAMS, example
        from shiftscope.report.sentences import wrapped

        pair = example(seed)
        typer.echo(f"{wrapped(pair.story())}\n")
        result = compared(pair.reference, pair.current, alpha=PARAMS.alpha, seed=seed, quiet=False, params=PARAMS)
        result.to_html(report)
        show_result(result.summary, on_stderr=False)
        typer.echo(f"\n{wrapped(pair.outcome(result))}")
        show_written([report], on_stderr=False)
