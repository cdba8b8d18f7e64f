"""What the global and the localised study have in common: settings, seeds and methods in, one file per unit out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import chain, product
from pathlib import Path

from experiments.benchmark20d import Pair
from experiments.units import Unit, joined, run_units, table

ROWS = 50_000  # background rows of a sample, as in the paper
QUICK_ROWS = 4_000
SEEDS = 11
QUICK_SEEDS = 2
QUICK = "quick"  # first part of the names of quick units: they never mix with the others

# name on the command line: (module, function of a pair and a seed)
METHODS = {
    "default": ("experiments.protocols", "default_unit"),
    "paper": ("experiments.protocols", "paper_unit"),
    "mlp": ("experiments.baselines", "mlp_unit"),
    "mlp_early": ("experiments.baselines", "mlp_early_unit"),
    "lightgbm": ("experiments.baselines", "lightgbm_unit"),
    "ks": ("experiments.baselines", "ks_unit"),
    "mmd": ("experiments.baselines", "mmd_unit"),
    "ulsif": ("experiments.baselines", "ulsif_unit"),
    "l1": ("experiments.baselines", "l1_unit"),
}


@dataclass(frozen=True)
class Study:
    """A family of pairs.

    Attributes
    ----------
    name : str
        Folder of its results.
    setting : str
        What is varied; the option of the command and the field of the units.
    pair : callable(value, seed, n)
        Two samples of `n` background rows.
    values, quick_values : tuple
        Settings of the whole and of the quick study.
    """

    name: str
    setting: str
    pair: Callable[[float, int, int], Pair]
    values: tuple[float, ...]
    quick_values: tuple[float, ...]


def run(study: Study, description: str | None, arguments: Sequence[str] | None = None) -> None:
    """The command of a study: run missing units, print one table per method, and draw the paper's figures."""
    made = parser(study, description)
    asked = made.parse_args(arguments)
    try:
        seeds = parse_seeds(asked.seeds or [str(QUICK_SEEDS if asked.quick else SEEDS)])
    except ValueError:
        made.error(
            f"argument --seeds: expected a number from 1, a list, or ranges such as 3-10, found {' '.join(asked.seeds)}"
        )
    values = getattr(asked, study.setting) or (study.quick_values if asked.quick else study.values)
    units = run_units(
        product(values, seeds, asked.methods),
        lambda value, seed, method: unit(study, value, seed, method, QUICK_ROWS if asked.quick else ROWS),
        asked.out,
        lambda value, seed, method: unit_name(value, seed, method, quick=asked.quick),
    )
    for method in dict.fromkeys(asked.methods):
        mine = [one for one in units if one.get("method", "default") == method]
        print(f"{method}\n{table(mine, study.setting)}")
    for path in import_module("experiments.figures").draw(study, asked.out, quick=asked.quick):
        print(path)


def parser(study: Study, description: str | None) -> argparse.ArgumentParser:
    """The arguments of a study."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = type(study.values[0])
    made.add_argument(f"--{study.setting}", type=kind, nargs="+", help="settings; all of the study by default")
    made.add_argument(
        "--seeds", nargs="+", help=f"a number of seeds (default {SEEDS}), a list, or a range such as 3-10"
    )
    made.add_argument("--methods", nargs="+", default=["default"], choices=list(METHODS))
    made.add_argument("--out", type=Path, default=Path("runs") / study.name, help="folder of the units")
    made.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} rows a sample, few settings and seeds")
    return made


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


def unit_name(value: float, seed: int, method: str, *, quick: bool) -> str:
    """File name of a unit; that of the default method carries no name of a method."""
    return joined(*([QUICK] if quick else []), value, seed, *([] if method == "default" else [method]))


def unit(study: Study, value: float, seed: int, method: str, n: int) -> Unit:
    """One setting at one seed by one method."""
    module, function = METHODS[method]
    found = getattr(import_module(module), function)(_pair(study, value, seed, n), seed)
    return {study.setting: value, "seed": seed, "method": method, **found}


@lru_cache(maxsize=1)  # the methods of a setting and seed follow one another
def _pair(study: Study, value: float, seed: int, n: int) -> Pair:
    return study.pair(value, seed, n)
