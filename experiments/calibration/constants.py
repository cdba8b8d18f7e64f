"""How far the numbers that steer modes may move: each halved and doubled, on planted shifts at fresh seeds.

    python -m experiments.calibration.constants --seeds 100-101 --page docs/constants.md

Cases: the paper's two benchmarks, planted shifts of other kinds, the full space by itself, and a table with levels,
6,000 rows a side. Every unit is one `compare` with one setting changed. A planted shift counts as recovered if a mode
on its side has exactly its columns. Seeds from 100 on had no part in choosing any constant. One JSON file per setting,
case and seed; what is there is not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import shiftscope as ss
from experiments.benchmark20d import global_pair, local_pair
from experiments.command import StudyParser, seeds_of
from experiments.cost import spent
from experiments.markdown import filled, markdown_table
from experiments.paper import planted_shifts
from experiments.paper.planted_shifts import Design, Planted, background, group
from experiments.runner import Task, Unit, joined, run_tasks

N, QUICK_N = 6_000, 1_000  # rows of either sample
SEEDS, FRESH = 2, 100  # how many, and the first of them
FACTORS = (0.5, 2.0)
MODES = ("least_rows", "pruning_anchors", "pruning_steps", "climbing_anchors", "rescan_labellings",
         "chance_column", "compact_share", "level_share", "core_share", "region_rank")  # fmt: skip
SCAN = ("rows_per_cell",)
MARK = "constants"  # of the page


@dataclass(frozen=True)
class Setting:
    """One constant and the factor by which it is changed; the usual settings if it has no name."""

    name: str = "default"
    factor: float = 1.0

    def params(self, base: ss.CompareParams) -> ss.CompareParams:
        """The settings with this one changed."""
        if self.name in MODES:
            return replace(base, modes=_changed(base.modes, self.name, self.factor))
        if self.name in SCAN and base.scan is not None:
            return replace(base, scan=_changed(base.scan, self.name, self.factor))
        return base

    def value(self) -> float:
        """What the constant becomes."""
        params = self.params(ss.CompareParams())
        return float(getattr(params.modes if self.name in MODES else params.scan, self.name))


def _changed(part: Any, name: str, factor: float) -> Any:
    usual = getattr(part, name)
    return replace(part, **{name: max(1, round(factor * usual)) if isinstance(usual, int) else factor * usual})


SETTINGS = (Setting(), *(Setting(name, factor) for name, factor in product((*MODES, *SCAN), FACTORS)))


@dataclass(frozen=True)
class Case:
    """How to draw two samples with a known shift, and the settings they are compared with."""

    make: Callable[[int, int], Design]  # (rows a side, seed)
    params: ss.CompareParams = field(default_factory=ss.CompareParams)


def _benchmark(draw: Callable[..., Any], amount: float, side: str | None) -> Callable[[int, int], Design]:
    def make(n: int, seed: int) -> Design:
        pair = draw(amount, seed, n)
        rows = np.flatnonzero(pair.shifted) if side else None
        return Design(pair.reference, pair.current, (Planted(side, tuple(sorted(pair.support)), rows),))

    return make


def _planted(name: str) -> Callable[[int, int], Design]:
    return lambda n, seed: planted_shifts.DESIGNS[name](n, np.random.default_rng([seed, *name.encode()]))


def _few_columns(n: int, seed: int) -> Design:
    """Two groups in few columns, for the full space by itself."""
    rng = np.random.default_rng([seed, 6])
    reference, current = background(n, 6, rng), background(n, 6, rng)
    places = (("current", current, 250, (0, 2, 4)), ("reference", reference, 250, (1, 3, 5)))
    planted = tuple(Planted(side, where, group(rows, size, where, rng)) for side, rows, size, where in places)
    return Design(reference, current, planted)


def _levels(n: int, seed: int) -> Design:
    """x2 is lower in one level of x3 and higher in the other: neither alone tells anything. x1 is a category too."""
    rng = np.random.default_rng([seed, 7])
    tables = []
    for moved in (0.0, 0.4):
        site, arm = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]), rng.choice(["u", "v"], n)
        dose = np.sqrt(1.0 - moved**2) * rng.standard_normal(n) + moved * np.where(arm == "u", -1.0, 1.0)
        tables.append(pd.DataFrame({"x0": rng.standard_normal(n), "x1": site, "x2": dose, "x3": arm}))
    planted = (Planted(None, (2, 3)),)
    return Design(tables[0], tables[1], planted)  # type: ignore[arg-type]


CASES: dict[str, Case] = {
    "paper, localised": Case(_benchmark(local_pair, 100, "current")),
    "paper, global": Case(_benchmark(global_pair, 0.25, None)),
    "two groups": Case(_planted("two groups")),
    "interaction": Case(_planted("interaction")),
    "full space": Case(_few_columns, ss.CompareParams(scan=None, localise=ss.LocaliseParams(epochs=300))),
    "levels": Case(_levels),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units, print the table and fill the page."""
    parser = StudyParser(__doc__, "constants")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--page", type=Path, help="page whose table is filled in")
    asked = parser.parse_args(arguments)
    seeds = asked.seeds or [FRESH + seed for seed in seeds_of(asked, SEEDS)]
    keys = list(product(asked.cases, seeds, SETTINGS))
    compute = partial(unit, QUICK_N if asked.quick else N)
    tasks = [Task(joined(name, seed, one.name, one.factor), compute, (name, seed, one)) for name, seed, one in keys]
    told = table(list(run_tasks(tasks, asked.out).values()))
    print(told)
    if asked.page is not None:
        asked.page.write_text(filled(asked.page.read_text("utf-8"), {MARK: told}), "utf-8")


def unit(n: int, case: str, seed: int, setting: Setting) -> Unit:
    """One case at one seed with one setting."""
    design, start = CASES[case].make(n, seed), spent()
    result = ss.compare(design.reference, design.current, params=setting.params(CASES[case].params))
    planted = [planted_shifts.recovered(one, result) for one in design.planted]
    truths = {tuple(sorted(one.features)) for one in design.planted}
    return {
        "case": case,
        "setting": [setting.name, setting.factor],
        "detected": result.detected,
        "planted": planted,
        "others": sum(tuple(planted_shifts.positions(mode)) not in truths for mode in result.modes),
        "seconds": (spent() - start).seconds,
    }


def table(units: list[Unit]) -> str:
    """What each setting finds, over all cases and seeds: recovered, other modes, recall and purity of rows."""
    rows = []
    for setting in SETTINGS:
        own = [one for one in units if one["setting"] == [setting.name, setting.factor]]
        if own:
            rows.append([_name(setting), *_figures(own)])
    return markdown_table(["setting", "detected", "recovered", "other modes", "recall", "purity"], rows)


def _name(setting: Setting) -> str:
    return f"`{setting.name}` = {setting.value():g}" if setting.name != "default" else "default"


def _figures(units: list[Unit]) -> list[object]:
    planted = [one for unit in units for one in unit["planted"]]
    recall, purity = ([one[key] for one in planted if one[key] is not None] for key in ("recall", "purity"))
    return [
        f"{sum(unit['detected'] for unit in units)} of {len(units)}",
        f"{sum(one['exact'] for one in planted)} of {len(planted)}",
        sum(unit["others"] for unit in units),
        f"{np.mean(recall):.3f}" if recall else "–",
        f"{np.mean(purity):.3f}" if purity else "–",
    ]


if __name__ == "__main__":
    main()
