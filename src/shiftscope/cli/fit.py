"""The command `fit`: a reference, read once and kept in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shiftscope.cli.common import Debug, Seed, check_outputs, exit_codes, show_written


def fit(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Table file of the reference.")],
    detector: Annotated[Path, typer.Argument(metavar="DETECTOR", help="File to write.")],
    alpha: Annotated[float, typer.Option("--alpha", help="Chance of any false alarm among HORIZON batches.")] = 0.01,
    seed: Seed = 0,
    debug: Debug = False,
) -> None:
    """Read a reference once and keep it, with its settings, in one file for `monitor`."""
    with exit_codes(debug):
        check_outputs([detector], inputs=(reference,))
        from shiftscope.questions.detector import ShiftDetector

        ShiftDetector(alpha=alpha, random_state=seed).fit(reference).save(detector)
        show_written([detector], on_stderr=False)
