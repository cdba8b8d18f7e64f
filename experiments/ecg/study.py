"""The whole study, unit by unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

from experiments.ecg.attribution import (
    Composition,
    Rates,
    cell_overlap,
    composition,
    consensus,
    jaccard,
    removal_rates,
)
from experiments.ecg.cohorts import CASES, Balance, Cohorts, balance, draw_cohorts
from experiments.ecg.comparison import compare_unit, prune_unit
from experiments.ecg.controls import control_unit
from experiments.ecg.downstream import TASKS, downstream_unit
from experiments.ecg.independent_check import check_unit
from experiments.ecg.recordings import Ecg, read
from experiments.ecg.seed_overlap import seed_unit
from experiments.runner import Task, Unit, run_tasks

ENCODING = "directions"
OTHER_ENCODINGS = ("as is", "winsorised", "normal scores")  # for comparison; "as is" is the paper's
PRUNING_DRAWS = 2  # those the alternation was chosen on
DOWNSTREAM_CASE = "C"  # the paper's
OTHER_DRAWS = 5  # of the cases that need no classifiers
X, Y = 0, 1
Supports = dict[int, list[int]]  # features by draw


@dataclass(frozen=True)
class Study:
    """All units of the study and the recordings they are about.

    Attributes
    ----------
    ecg : Ecg
    compared : dict of (case, draw) -> unit
    pruned : dict of (case, draw, other encoding) -> unit
        What these remove.
    controls, downstream, checks, seeds : lists of units
    """

    ecg: Ecg
    compared: dict[tuple[str, int], Unit]
    pruned: dict[tuple[str, int, str], Unit]
    controls: list[Unit]
    downstream: list[Unit]
    checks: list[Unit]
    seeds: list[Unit]

    @property
    def cases(self) -> list[str]:
        """Cases whose first draw is there: all, unless the study was stopped."""
        return [case for case in CASES if (case, 0) in self.compared]

    @property
    def tasks(self) -> list[str]:
        """Downstream tasks whose first draw is there."""
        return [task for task in TASKS if any((unit["task"], unit["draw"]) == (task, 0) for unit in self.downstream)]

    def draws(self, case: str) -> list[int]:
        """The draws of a case."""
        return [draw for name, draw in self.compared if name == case]

    def cohorts(self, case: str, draw: int = 0) -> Cohorts:
        """The two cohorts of a draw."""
        return draw_cohorts(self.ecg, CASES[case], draw)

    def balance(self, case: str, draw: int = 0) -> Balance:
        """Age, sex and weight of a draw's cohorts."""
        cohorts = self.cohorts(case, draw)
        return balance(self.ecg, cohorts.x, cohorts.y)

    def composition(self, case: str, unit: Unit, side: int, draw: int = 0, key: str = "removed") -> Composition:
        """Devices of one side and of the rows that a unit names."""
        cohorts = self.cohorts(case, draw)
        rows, specific = ((cohorts.x, cohorts.case.x), (cohorts.y, cohorts.case.y))[side]
        return composition(self.ecg.device[rows], unit[key][side], specific)

    def removal_rates(self, case: str, side: int, draws: Sequence[int]) -> Rates:
        """How often patients of the side's device are removed, and others, over some draws."""
        ecg, parts = self.ecg, []
        for draw in draws:
            cohorts = self.cohorts(case, draw)
            rows, specific = ((cohorts.x, cohorts.case.x), (cohorts.y, cohorts.case.y))[side]
            pruned = np.isin(np.arange(rows.size), self.compared[case, draw]["removed"][side])
            parts.append((ecg.patient[rows], ecg.device[rows] == specific, pruned))
        return removal_rates(*(np.concatenate(line) for line in zip(*parts, strict=True)))

    def supports(self, case: str, side: int) -> dict[int, list[int]]:
        """The support of one side by draw; draws with too few queries have none."""
        found = {draw: self.compared[case, draw]["supports"][side] for draw in self.draws(case)}
        return {draw: support["features"] for draw, support in found.items() if support}

    def consensus(self, case: str, side: int) -> list[int]:
        """Features in the support of at least half of the draws."""
        return consensus(list(self.supports(case, side).values()))

    def overlaps(self, side: int) -> list[Overlap]:
        """What each two cases have in common on one side; a case with itself is its overlap between draws."""
        return [
            self._overlap(one, other, side, self.supports(one, side), self.supports(other, side))
            for one, other in combinations_with_replacement(self.cases, 2)
        ]

    def _overlap(self, one: str, other: str, side: int, ours: Supports, theirs: Supports) -> Overlap:
        same = {i: jaccard(ours[i], theirs[i]) for i in ours if i in theirs}
        cells = [cell_overlap(self.ecg.names, ours[i], theirs[i]) for i in same]
        both = [draw for draw in self.draws(one) if draw in self.draws(other)]
        return Overlap(
            one,
            other,
            same_draw=mean(same.values()),
            later_draws=mean(value for draw, value in same.items() if draw > 0),
            across_draws=mean(jaccard(ours[i], theirs[j]) for i in ours for j in theirs if i != j),
            consensus=jaccard(self.consensus(one, side), self.consensus(other, side)),
            cells_same_draw=mean(cells),
            queries_shared=self._shared(one, other, side, "evident", both),
            removed_shared=self._shared(one, other, side, "removed", both),
            pruned_shared=self._shared(one, other, side, "pruned", both),
            pruned_same_draw=mean(self._pruned_overlap(one, other, draw) for draw in both) if side == Y else math.nan,
        )

    def _shared(self, one: str, other: str, side: int, key: str, draws: list[int]) -> float:
        """Mean Jaccard overlap of the recordings that units name."""
        return mean(jaccard(*(self._recordings(case, draw, side, key) for case in (one, other))) for draw in draws)

    def _recordings(self, case: str, draw: int, side: int, key: str) -> list[int]:
        cohorts = self.cohorts(case, draw)
        return (cohorts.x, cohorts.y)[side][self.compared[case, draw][key][side]].tolist()

    def _pruned_overlap(self, one: str, other: str, draw: int) -> float:
        found = [self.compared[case, draw]["pruned_support"] for case in (one, other)]
        return jaccard(*(support["features"] for support in found)) if all(found) else math.nan


@dataclass(frozen=True)
class Overlap:
    """What two cases have in common on one side: Jaccard overlaps, means over draws.

    Attributes
    ----------
    one, other : str
    same_draw, later_draws, across_draws : float
        Of supports: of equal draws, of equal draws without the first, of different draws.
    consensus : float
        Of the features in at least half of the supports.
    cells_same_draw : float
        Of supports as numbers of features by wave and lead: near duplicates can stand for each other.
    queries_shared, removed_shared : float
        Of the recordings that supports were learned from, and of those removed.
    pruned_shared, pruned_same_draw : float
        Of the recordings pruned in the full space, and of supports learned from these (Y only, else NaN).
    """

    one: str
    other: str
    same_draw: float
    later_draws: float
    across_draws: float
    consensus: float
    cells_same_draw: float
    queries_shared: float
    removed_shared: float
    pruned_shared: float
    pruned_same_draw: float


def mean(values: Iterable[float]) -> float:
    """The mean of the values that are there; NaN if there are none."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def run_study(
    folder: Path,
    units: Path,
    draws: Sequence[int],
    splits: Sequence[int],
    processes: int,
    encodings: Sequence[str] = OTHER_ENCODINGS,
) -> Study:
    """Run what is missing in `units` and gather everything; with 0 processes, gather what is there."""
    compared = _gather(_compares(folder, draws), units, processes)
    return Study(
        ecg=read(folder),
        compared=compared,
        pruned=_gather(_prunings(folder, draws, encodings), units, processes),
        controls=list(_gather(_controls(folder, splits), units, processes).values()),
        checks=list(_gather(_checks(folder, compared), units, processes).values()),
        seeds=list(_gather(_seeds(folder, compared), units, processes).values()),
        downstream=list(_gather(_downstream(folder, compared), units, processes).values()),
    )


def _compares(folder: Path, draws: Sequence[int]) -> dict[tuple[str, int], Task]:
    return {
        (case, draw): Task(f"compare_{case}_{draw}", compare_unit, (folder, case, draw, ENCODING, draw < OTHER_DRAWS))
        for draw in draws
        for case in CASES
        if case == DOWNSTREAM_CASE or draw < OTHER_DRAWS
    }


def _prunings(folder: Path, draws: Sequence[int], encodings: Sequence[str]) -> dict[tuple[str, int, str], Task]:
    return {
        (case, draw, kind): Task(
            f"prune_{case}_{draw}_{kind.replace(' ', '_')}", prune_unit, (folder, case, draw, kind)
        )
        for draw in draws
        if draw < PRUNING_DRAWS
        for case in CASES
        for kind in encodings
    }


def _controls(folder: Path, splits: Sequence[int]) -> dict[tuple[int, int], Task]:
    return {
        (device, split): Task(f"control_{device}_{split}", control_unit, (folder, device, split, ENCODING))
        for split in splits
        for device in (1, 2, 3)
    }


def _checks(folder: Path, compared: dict[tuple[str, int], Unit]) -> dict[str, Task]:
    return {
        case: Task(f"check_{case}", check_unit, (folder, case, draw, unit["removed"]))
        for (case, draw), unit in compared.items()
        if draw == 0
    }


def _seeds(folder: Path, compared: dict[tuple[str, int], Unit]) -> dict[str, Task]:
    return {
        case: Task(f"seeds_{case}", seed_unit, (folder, case, draw, ENCODING, unit["evident"], unit["supports"]))
        for (case, draw), unit in compared.items()
        if draw == 0
    }


def _downstream(folder: Path, compared: dict[tuple[str, int], Unit]) -> dict[tuple[str, int], Task]:
    return {
        (task, draw): Task(f"downstream_{task}_{draw}", downstream_unit, (folder, case, draw, task, unit["removed"]))
        for (case, draw), unit in compared.items()
        if case == DOWNSTREAM_CASE
        for task in TASKS
    }


def _gather(tasks: dict, units: Path, processes: int) -> dict:
    done = run_tasks(list(tasks.values()), units, processes)
    return {key: done[task.name] for key, task in tasks.items() if task.name in done}
