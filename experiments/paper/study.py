"""What the global and the localised study have in common: settings, seeds and methods in, one file per unit out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from itertools import product

from experiments.benchmark20d import QUICK_ROWS, ROWS, Pair
from experiments.command import StudyParser, seeds_of
from experiments.paper.outcome import table
from experiments.runner import Unit, joined, run_units

SEEDS = 11

# name on the command line: (module, function of a pair and a seed)
METHODS = {
    "default": ("experiments.paper.protocols", "default_unit"),
    "paper": ("experiments.paper.protocols", "paper_unit"),
    "mlp": ("experiments.baselines.methods", "mlp_unit"),
    "mlp_early": ("experiments.baselines.methods", "mlp_early_unit"),
    "lightgbm": ("experiments.baselines.methods", "lightgbm_unit"),
    "ks": ("experiments.baselines.methods", "ks_unit"),
    "mmd": ("experiments.baselines.methods", "mmd_unit"),
    "ulsif": ("experiments.baselines.methods", "ulsif_unit"),
    "l1": ("experiments.baselines.methods", "l1_unit"),
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
    parser = StudyParser(description, study.name)
    kind = type(study.values[0])
    parser.add_argument(f"--{study.setting}", type=kind, nargs="+", help="settings; all of the study by default")
    parser.add_argument("--methods", nargs="+", default=["default"], choices=list(METHODS))
    asked = parser.parse_args(arguments)
    values = getattr(asked, study.setting) or (study.quick_values if asked.quick else study.values)
    units = run_units(
        product(values, seeds_of(asked, SEEDS), asked.methods),
        partial(unit, study, QUICK_ROWS if asked.quick else ROWS),
        asked.out,
        unit_name,
    )
    for method in dict.fromkeys(asked.methods):
        mine = [one for one in units if one.get("method", "default") == method]
        print(f"{method}\n{table(mine, study.setting)}")
    for path in import_module("experiments.paper.figures").draw(study, asked.out):
        print(path)


def unit_name(value: float, seed: int, method: str) -> str:
    """File name of a unit; that of the default method carries no name of a method."""
    return joined(value, seed, *([] if method == "default" else [method]))


def unit(study: Study, n: int, value: float, seed: int, method: str) -> Unit:
    """One setting at one seed by one method."""
    module, function = METHODS[method]
    found = getattr(import_module(module), function)(_pair(study, value, seed, n), seed)
    return {study.setting: value, "seed": seed, "method": method, **found}


@lru_cache(maxsize=1)  # the methods of a setting and seed follow one another
def _pair(study: Study, value: float, seed: int, n: int) -> Pair:
    return study.pair(value, seed, n)
