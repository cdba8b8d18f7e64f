"""The command `certify`: what remains after equalisation, by tests that had no part in it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shiftscope.errors import InputError

if TYPE_CHECKING:
    from shiftscope.results import ShiftResult
    from shiftscope.subset import Subset


class Sample(StrEnum):
    """One of the two samples."""

    reference = "reference"
    current = "current"


Keep = Annotated[Sample | None, typer.Option("--keep", help="Remove no row of this sample.")]
MaxShare = Annotated[float | None, typer.Option("--max-share", help="Remove at most this share of either sample.")]
Modes = Annotated[
    str | None, typer.Option("--modes", metavar="1,2,...", help="Remove rows of these modes only, strongest: 1.")
]


def mode_positions(text: str | None) -> list[int] | None:
    """Modes counted from 1, as people do, as positions."""
    from shiftscope.cli_rows import parse_positions

    return None if text is None else [int(number) - 1 for number in parse_positions(text, option="--modes")]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(certify)


def certify(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Table file of the reference.")],
    current: Annotated[str, typer.Argument(metavar="CURRENT", help="Table file to compare with it.")],
    keep: Keep = None,
    max_share: MaxShare = None,
    modes: Modes = None,
    alpha: Annotated[float, typer.Option("--alpha", help="How often equal samples may be called different.")] = 0.01,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")] = 0,
    json: Annotated[str | None, typer.Option("--json", metavar="PATH|-", help="Write the table as JSON.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No table and no progress on the screen.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a fault.")] = False,
) -> None:
    """Compare two files, equalise them, and test what remains beside other ways to remove rows."""
    from shiftscope.cli import STDOUT, check_outputs, exit_codes, show_written

    with exit_codes(debug):
        files: list[Path | str] = [] if json in (None, STDOUT) else [str(json)]
        check_outputs(files, inputs=(reference, current))
        import shiftscope as ss
        from shiftscope.progress import silent, terminal_progress

        chosen = mode_positions(modes)
        with nullcontext(silent) if quiet else terminal_progress() as progress:
            result = ss.compare(reference, current, alpha=alpha, random_state=seed, progress=progress)
            subset = asked_subset(result, keep, max_share, chosen)
            certificate = ss.certify(result, subset, random_state=seed, progress=progress)
        text = certificate.to_json(files[0] if files else None)
        if json == STDOUT:
            sys.stdout.write(text)
            sys.stdout.flush()
        if not quiet:
            typer.echo(str(certificate), err=json == STDOUT)
            show_written(files, on_stderr=json == STDOUT)


def asked_subset(result: ShiftResult, keep: Sample | None, max_share: float | None, modes: list[int] | None) -> Subset:
    """The equalised subsets; modes that the result has not are refused in the numbers of the command line."""
    n_modes = len(result.modes)
    for mode in modes or []:
        if not 0 <= mode < n_modes:
            remedy = f"choose from 1 to {n_modes}" if n_modes else "leave --modes out"
            raise InputError(f"--modes {mode + 1}: modes count from 1 and there are {n_modes}; {remedy}")
    return result.equalised(keep=None if keep is None else keep.value, max_share=max_share, modes=modes)
