"""The command `certify`: what remains after equalisation, by tests that had no part in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from shiftscope.cli.common import Debug, Seed, check_outputs, exit_codes, json_files, put_answer, shown_progress
from shiftscope.errors import InputError

if TYPE_CHECKING:
    from shiftscope.encoding.sample_order import Side
    from shiftscope.findings import Subset
    from shiftscope.results import ShiftResult


class Sample(StrEnum):
    """One of the two samples."""

    reference = "reference"
    current = "current"


Keep = Annotated[Sample | None, typer.Option("--keep", help="Remove no row of this sample.")]
MaxShare = Annotated[float | None, typer.Option("--max-share", help="Remove at most this share of either sample.")]
Modes = Annotated[
    str | None, typer.Option("--modes", metavar="1,2,...", help="Remove rows of these modes only, strongest: 1.")
]


@dataclass(frozen=True)
class Asked:
    """Under which conditions rows are to be removed, checked as far as that can be done before the comparison."""

    keep: Side | None
    max_share: float | None
    modes: list[int] | None  # positions

    @classmethod
    def of(cls, keep: Sample | None, max_share: float | None, modes: str | None) -> Asked:
        """From the options; there, modes count from 1, as people do."""
        from shiftscope.cli.explain_rows import parse_positions
        from shiftscope.findings import check_conditions

        kept: Side | None = None if keep is None else keep.value
        check_conditions(kept, max_share)
        chosen = None if modes is None else [int(number) - 1 for number in parse_positions(modes, option="--modes")]
        if chosen == []:
            raise InputError(f"--modes {modes!r} names no mode; write such as 1,2 or leave it out")
        if chosen and min(chosen) < 0:
            raise InputError("--modes 0: modes count from 1; choose another number")
        return cls(kept, max_share, chosen)

    def subset(self, result: ShiftResult) -> Subset:
        """The equalised subsets; modes that the result has not are refused in the numbers of the command line."""
        n_modes = len(result.modes)
        for mode in self.modes or []:
            if mode >= n_modes:
                remedy = f"choose from 1 to {n_modes}" if n_modes else "leave --modes out"
                raise InputError(f"--modes {mode + 1}: modes count from 1 and there are {n_modes}; {remedy}")
        return result.equalised(keep=self.keep, max_share=self.max_share, modes=self.modes)


def certify(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Table file of the reference.")],
    current: Annotated[str, typer.Argument(metavar="CURRENT", help="Table file to compare with it.")],
    keep: Keep = None,
    max_share: MaxShare = None,
    modes: Modes = None,
    alpha: Annotated[float, typer.Option("--alpha", help="How often equal samples may be called different.")] = 0.01,
    seed: Seed = 0,
    json: Annotated[str | None, typer.Option("--json", metavar="PATH|-", help="Write the table as JSON.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No table and no progress on the screen.")] = False,
    debug: Debug = False,
) -> None:
    """Compare two files, equalise them, and test what remains beside other ways to remove rows."""
    with exit_codes(debug):
        check_outputs(json_files(json), inputs=(reference, current))
        asked = Asked.of(keep, max_share, modes)
        import shiftscope as ss

        with shown_progress(quiet) as progress:
            result = ss.compare(reference, current, alpha=alpha, random_state=seed, progress=progress)
            certificate = ss.certify(result, asked.subset(result), random_state=seed, progress=progress)
        put_answer(certificate, json, quiet=quiet)
