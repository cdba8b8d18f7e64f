"""The whole study, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

from experiments.ecg.attribution import Composition, composition, consensus, jaccard
from experiments.ecg.check import check_unit
from experiments.ecg.cohorts import CASES, Balance, Cohorts, balance, draw_cohorts
from experiments.ecg.comparison import Pruning, compare_unit, equalise_unit
from experiments.ecg.controls import control_unit
from experiments.ecg.data import Ecg, read
from experiments.ecg.downstream import TASKS, downstream_unit
from experiments.ecg.resume import Task, Unit, run

ENCODING = "winsorised"
PAPER = Pruning(ENCODING)  # the paper's protocol
WIDE_TAIL = 0.90  # the tail of a cohort of 1,700 holds 170 rows then, and 50 with the paper's 0.97
PRUNINGS = {
    "paper": PAPER,
    "as-is": Pruning("as is"),
    "normal-scores": Pruning("normal scores"),
    "wide-tail": Pruning(ENCODING, q_tail=WIDE_TAIL),
    "formula": Pruning(ENCODING, threshold="formula"),
}
PRUNING_DRAWS = 2
DOWNSTREAM_CASE = "C"  # the paper's
OTHER_DRAWS = 5  # of the cases that need no classifiers
X, Y = 0, 1


@dataclass(frozen=True)
class Study:
    """All units of the study and the recordings they are about.

    Attributes
    ----------
    ecg : Ecg
    compared : dict of (case, draw) -> unit
    pruned : dict of (case, draw, key of PRUNINGS) -> unit
        What the full space alone prunes.
    controls, downstream, checks : lists of units
    """

    ecg: Ecg
    compared: dict[tuple[str, int], Unit]
    pruned: dict[tuple[str, int, str], Unit]
    controls: list[Unit]
    downstream: list[Unit]
    checks: list[Unit]

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

    def composition(self, case: str, unit: Unit, side: int, draw: int = 0) -> Composition:
        """Devices of one side and of what a unit removed from it."""
        cohorts = self.cohorts(case, draw)
        rows, specific = ((cohorts.x, cohorts.case.x), (cohorts.y, cohorts.case.y))[side]
        return composition(self.ecg.device[rows], unit["removed"][side], specific)

    def supports(self, case: str, side: int) -> dict[int, list[int]]:
        """The support of one side by draw; draws that pruned too few rows have none."""
        found = {draw: self.compared[case, draw]["supports"][side] for draw in self.draws(case)}
        return {draw: support["features"] for draw, support in found.items() if support}

    def consensus(self, case: str, side: int) -> list[int]:
        """Features in the support of at least half of the draws."""
        return consensus(list(self.supports(case, side).values()))

    def overlaps(self, side: int) -> list[tuple[str, str, float, float, float]]:
        """Jaccard overlap of each two cases: mean over equal draws, mean over different draws, consensus."""
        rows = []
        for one, other in combinations_with_replacement(self.cases, 2):
            ours, theirs = self.supports(one, side), self.supports(other, side)
            same = [jaccard(ours[i], theirs[i]) for i in ours if i in theirs]
            across = [jaccard(ours[i], theirs[j]) for i in ours for j in theirs if i != j]
            rows.append(
                (
                    one,
                    other,
                    _mean(same),
                    _mean(across),
                    jaccard(self.consensus(one, side), self.consensus(other, side)),
                )
            )
        return rows


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def run_study(folder: Path, units: Path, draws: int = 10, splits: int = 20, processes: int = 2) -> Study:
    """Run what is missing in `units` and gather everything; with 0 processes, gather what is there."""
    one = min(processes, 1)  # kernels use all cores by themselves
    compared = _gather(_compares(folder, draws), units, one)
    return Study(
        ecg=read(folder),
        compared=compared,
        pruned=_gather(_prunings(folder, draws), units, one),
        controls=list(_gather(_controls(folder, splits), units, one).values()),
        checks=list(_gather(_checks(folder, compared), units, processes).values()),
        downstream=list(_gather(_downstream(folder, compared), units, processes).values()),
    )


def _compares(folder: Path, draws: int) -> dict[tuple[str, int], Task]:
    return {
        (case, draw): Task(f"compare_{case}_{draw}", compare_unit, (folder, case, draw, ENCODING))
        for draw in range(draws)
        for case in CASES
        if case == DOWNSTREAM_CASE or draw < OTHER_DRAWS
    }


def _prunings(folder: Path, draws: int) -> dict[tuple[str, int, str], Task]:
    return {
        (case, draw, key): Task(f"equalise_{case}_{draw}_{key}", equalise_unit, (folder, case, draw, pruning))
        for draw in range(min(draws, PRUNING_DRAWS))
        for case in CASES
        for key, pruning in PRUNINGS.items()
    }


def _controls(folder: Path, splits: int) -> dict[tuple[int, int], Task]:
    return {
        (device, split): Task(f"control_{device}_{split}", control_unit, (folder, device, split, ENCODING))
        for split in range(splits)
        for device in (1, 2, 3)
    }


def _checks(folder: Path, compared: dict[tuple[str, int], Unit]) -> dict[str, Task]:
    return {
        case: Task(f"check_{case}", check_unit, (folder, case, draw, ENCODING, unit["removed"]))
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
    done = run(list(tasks.values()), units, processes)
    return {key: done[task.name] for key, task in tasks.items() if task.name in done}
