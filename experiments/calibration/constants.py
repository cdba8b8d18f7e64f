"""How far the settings that steer modes may move: each halved and doubled, on planted shifts at fresh seeds.

    python -m experiments.calibration.constants --seeds 100-101 --page docs/constants.md
    python -m experiments.calibration.constants --sizes small --seeds 0-0 --page docs/constants.md

Large cases, 6,000 rows a side: the settings that matter most. Small cases, 1,500 rows a side: the others, those of the
full space only where it is by itself. Every unit is one `compare` with one setting changed. A share above one half is
changed by halving and doubling what it leaves to one. A planted shift counts as recovered if a mode on its side has
exactly its columns. Seeds from 100 on had no part in choosing any constant, nor had the small cases. One JSON file per
setting, case and seed; what is there is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import shiftscope as ss
from experiments.calibration.planted_cases import CASES, FULL_SPACE, LARGE, SMALL
from experiments.command import StudyParser, seeds_of
from experiments.markdown import markdown_table, renew
from experiments.runner import Task, Unit, joined, run_tasks

QUICK_N = 1_000  # rows of either sample
SEEDS, FRESH = 2, {"large": 100, "small": 0}  # how many, and the first of them
FACTORS = (0.5, 2.0)
FEWER = {"max_triples": (0.1,)}  # 4 columns: triples are grown from pairs
PARTS = {
    "modes": tuple(field.name for field in fields(ss.ModeParams)),
    "scan": ("rows_per_cell", "n_seeds", "beam", "max_features", "max_triples"),
    "equalise": ("k_max", "q_tail", "alpha", "n_permutations"),
    "localise": ("background", "epochs", "learning_rate"),
    "": ("max_modes", "max_iterations"),
}
MATTER_MOST = (
    *("least_rows", "pruning_anchors", "pruning_steps", "climbing_anchors", "rescan_labellings", "chance_column"),
    *("compact_share", "level_share", "core_share", "region_rank", "rows_per_cell"),
)


@dataclass(frozen=True)
class Setting:
    """One constant and the factor by which it is changed; the usual settings if it has no name."""

    name: str = "default"
    factor: float = 1.0

    @property
    def part(self) -> str:
        """The part of the settings that it belongs to."""
        return next((part for part, names in PARTS.items() if self.name in names), "")

    def params(self, base: ss.CompareParams) -> ss.CompareParams:
        """The settings with this one changed; the same ones if it has no part in them."""
        inner = getattr(base, self.part) if self.part else base
        if inner is None or self.name == "default":
            return base
        changed = replace(inner, **{self.name: scaled(getattr(inner, self.name), self.factor)})
        return replace(base, **{self.part: changed}) if self.part else changed

    def value(self, base: ss.CompareParams) -> float:
        """What the constant becomes."""
        params = self.params(base)
        return float(getattr(getattr(params, self.part) if self.part else params, self.name))

    def reaching(self, base: ss.CompareParams) -> Setting:
        """This setting, or the usual ones where it changes nothing."""
        return Setting() if self.params(base) == base else self


def scaled(usual: Any, factor: float) -> Any:
    """A number times a factor: whole numbers stay whole, shares below one."""
    if isinstance(usual, int):
        return max(1, round(factor * usual))
    return 1.0 - (1.0 - usual) / factor if 0.5 < usual < 1.0 else factor * usual


def settings(names: Sequence[str]) -> list[Setting]:
    """The usual ones, and each of the constants changed."""
    return [Setting(), *(Setting(name, factor) for name in names for factor in FEWER.get(name, FACTORS))]


SEARCHES = (*PARTS["modes"], *PARTS["scan"], *PARTS[""])
OTHERS = ("region_rank", *(name for name in SEARCHES if name not in MATTER_MOST))  # its excess, which is new here
STUDIES = {  # mark of the page: size, cases, constants
    "constants": ("large", tuple(LARGE), MATTER_MOST),
    "constants small": ("small", tuple(SMALL), OTHERS),
    "constants full space": ("small", (FULL_SPACE,), (*PARTS["equalise"], *PARTS["localise"])),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units, print the tables and fill the page."""
    parser = StudyParser(__doc__, "constants")
    parser.add_argument("--sizes", nargs="+", default=["large"], choices=list(FRESH), help="of the cases")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="constants, all by default")
    parser.add_argument("--page", type=Path, help="page whose tables are filled in")
    asked = parser.parse_args(arguments)
    for mark, (size, cases, names) in STUDIES.items():
        if size not in asked.sizes:
            continue
        seeds = asked.seeds or [FRESH[size] + seed for seed in seeds_of(asked, SEEDS)]
        varied = settings([name for name in names if name in (asked.only or names)])
        told = table(found(cases, seeds, varied, asked.out, QUICK_N if asked.quick else None), CASES[cases[-1]].params)
        print(told)
        if asked.page is not None:
            renew(asked.page, mark, told)


def found(
    cases: Sequence[str], seeds: Sequence[int], varied: Sequence[Setting], out: Path, n: int | None = None
) -> dict[Setting, list[Unit]]:
    """The units of each setting, case by case; where it changes nothing, those of the usual ones."""
    keys = [(setting, case, seed) for seed, setting, case in product(seeds, varied, cases)]
    at = {key: (key[1], key[2], key[0].reaching(CASES[key[1]].params)) for key in keys}
    tasks = {joined(case, seed, one.name, one.factor): (n, case, seed, one) for case, seed, one in at.values()}
    units = run_tasks([Task(name, unit, key) for name, key in tasks.items()], out)
    found: dict[Setting, list[Unit]] = {setting: [] for setting in varied}
    for key, (case, seed, one) in at.items():
        found[key[0]].append(units[joined(case, seed, one.name, one.factor)])
    return found


def unit(n: int | None, case: str, seed: int, setting: Setting) -> Unit:
    """One case at one seed with one setting."""
    found = CASES[case].outcome(seed, setting.params(CASES[case].params), n)
    return {"case": case, "setting": [setting.name, setting.factor], **found}


def table(found: dict[Setting, list[Unit]], base: ss.CompareParams) -> str:
    """What each setting finds, over all cases and seeds: recovered, other modes, recall, purity and excess of rows."""
    rows = [[_name(setting, base), *figures(units)] for setting, units in found.items()]
    header = ["setting", "detected", "recovered", "other modes", "recall", "purity", "excess"]
    if all(row[-1] == "–" for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return markdown_table(header, rows)


def _name(setting: Setting, base: ss.CompareParams) -> str:
    params = ss.CompareParams() if setting.part in ("modes", "scan") else base
    return f"`{setting.name}` = {setting.value(params):g}" if setting.name != "default" else "default"


def figures(units: list[Unit]) -> list[object]:
    """Detected, recovered, other modes; recall, purity and excess over the truth, means of what was recovered."""
    planted = [one for unit in units for one in unit["planted"]]
    known = [[one[key] for one in planted if one.get(key) is not None] for key in ("recall", "purity", "excess")]
    return [
        f"{sum(unit['detected'] for unit in units)} of {len(units)}",
        f"{sum(one['exact'] for one in planted)} of {len(planted)}",
        sum(unit["others"] for unit in units),
        *(f"{np.mean(values):.3f}" if values else "–" for values in known),
    ]


if __name__ == "__main__":
    main()
