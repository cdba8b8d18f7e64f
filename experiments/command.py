"""The arguments that all studies have in common: which seeds, in full or in small, and where the units go."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

QUICK = "quick"  # folder, inside that of a study, of units in small: they never mix with the others
QUICK_SEEDS = 2


class StudyParser(argparse.ArgumentParser):
    """A parser with `--seeds`, `--quick` and `--out`.

    Parameters
    ----------
    description : str
        Docstring of the study.
    folder : str
        Name of the folder of its units in runs/.
    """

    def __init__(self, description: str | None, folder: str) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument(
            "--seeds", nargs="+", action=Seeds, metavar="N", help="a number of seeds, a list, or ranges such as 3-10"
        )
        self.add_argument("--quick", action="store_true", help="a small form of the study, to see that it runs")
        self.add_argument("--out", type=Path, default=Path("runs") / folder, help="folder of the units")

    def parse_args(self, arguments: Sequence[str] | None = None, namespace: Any = None) -> argparse.Namespace:
        """The arguments; `out` is where the units are, of the small form a folder inside."""
        asked = super().parse_args(arguments, namespace)
        asked.out = asked.out / QUICK if asked.quick else asked.out
        return asked


class Seeds(argparse.Action):
    """An option that takes seeds; a range without any ends the program in one line."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, words: Any, option: str | None = None) -> None:
        """Keep the seeds that the words of the option stand for."""
        try:
            setattr(namespace, self.dest, parse_seeds(words))
        except ValueError:
            rule = "expected a number from 1, a list, or ranges such as 3-10"
            raise argparse.ArgumentError(self, f"{rule}, found {' '.join(words)}") from None


def parse_seeds(words: Sequence[str]) -> list[int]:
    """One number n stands for the seeds 0 to n - 1; several numbers and ranges "3-10" stand for themselves."""
    if len(words) == 1 and "-" not in words[0]:
        ranges = [range(int(words[0]))]
    else:
        ends = [word.partition("-") for word in words]
        ranges = [range(int(first), int(last or first) + 1) for first, _, last in ends]
    if not all(ranges):
        raise ValueError("a range without seeds")
    return list(dict.fromkeys(chain(*ranges)))


def seeds_of(asked: argparse.Namespace, number: int) -> list[int]:
    """The seeds asked for; by default the first `number`, of the small form at most `QUICK_SEEDS`."""
    return asked.seeds or list(range(min(number, QUICK_SEEDS) if asked.quick else number))
