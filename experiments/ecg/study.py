"""The whole study, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

from experiments.ecg.attribution import Composition, composition, consensus, jaccard
from experiments.ecg.check import check_unit
from experiments.ecg.cohorts import CASES, MAIN, Balance, Cohorts, balance, draw_cohorts
from experiments.ecg.comparison import PAPER_TAIL, compare_unit, equalise_unit
from experiments.ecg.controls import control_unit
from experiments.ecg.data import Ecg, read
from experiments.ecg.downstream import TASKS, downstream_unit
from experiments.ecg.encoding import KINDS
from experiments.ecg.resume import Task, Unit, run

ENCODING = "winsorised"
DOWNSTREAM_CASE = "C"  # the paper's
WIDE_TAIL = 0.90  # the tail of a cohort of 1,700 holds 170 rows then, and 50 with the paper's 0.97
VARIANTS = (*((kind, PAPER_TAIL) for kind in KINDS), (ENCODING, WIDE_TAIL))
SENSITIVITY_DRAWS = 3
X, Y = 0, 1


@dataclass(frozen=True)
class Study:
    """All units of the study and the recordings they are about.

    Attributes
    ----------
    ecg : Ecg
    draws : int
    compared : dict of (case, draw) -> unit
    variants : dict of (case, draw, encoding, q_tail) -> unit
        Pruned sets under other settings.
    controls, downstream, checks : lists of units
    """

    ecg: Ecg
    draws: int
    compared: dict[tuple[str, int], Unit]
    variants: dict[tuple[str, int, str, float], Unit]
    controls: list[Unit]
    downstream: list[Unit]
    checks: list[Unit]

    def cohorts(self, case: str, draw: int = 0) -> Cohorts:
        """The two cohorts of a draw."""
        return draw_cohorts(self.ecg, CASES[case], draw)

    def balance(self, case: str, draw: int = 0) -> Balance:
        """Age, sex and weight of a draw's cohorts."""
        cohorts = self.cohorts(case, draw)
        return balance(self.ecg, cohorts.x, cohorts.y)

    def composition(self, case: str, unit: Unit, side: int, draw: int = 0, key: str = "removed") -> Composition:
        """Devices of one side and of what a unit removed from it."""
        cohorts = self.cohorts(case, draw)
        rows, specific = ((cohorts.x, cohorts.case.x), (cohorts.y, cohorts.case.y))[side]
        return composition(self.ecg.device[rows], unit[key][side], specific)

    def supports(self, case: str, side: int) -> dict[int, list[int]]:
        """The support of one side by draw; draws that pruned too few rows have none."""
        found = {draw: self.compared[case, draw]["supports"][side] for draw in range(self.draws)}
        return {draw: support["features"] for draw, support in found.items() if support}

    def consensus(self, case: str, side: int) -> list[int]:
        """Features in the support of at least half of the draws."""
        return consensus(list(self.supports(case, side).values()))

    def overlaps(self, side: int) -> list[tuple[str, str, float, float, float]]:
        """Jaccard overlap of each two cases: first draw, mean over pairs of different draws, consensus."""
        rows = []
        for one, other in combinations_with_replacement(MAIN, 2):
            ours, theirs = self.supports(one, side), self.supports(other, side)
            across = [jaccard(ours[i], theirs[j]) for i in ours for j in theirs if i != j]
            rows.append(
                (
                    one,
                    other,
                    jaccard(ours.get(0, []), theirs.get(0, [])),
                    sum(across) / len(across) if across else float("nan"),
                    jaccard(self.consensus(one, side), self.consensus(other, side)),
                )
            )
        return rows


def run_study(folder: Path, units: Path, draws: int = 10, splits: int = 20, processes: int = 2) -> Study:
    """Run what is missing in `units` and gather everything."""
    compares = {
        (case, draw): Task(f"compare_{case}_{draw}", compare_unit, (folder, case, draw, ENCODING))
        for draw in range(draws)
        for case in MAIN
    }
    compared = _gather(compares, units)
    variants = {
        (case, draw, kind, q_tail): Task(
            f"equalise_{case}_{draw}_{kind.replace(' ', '-')}_{q_tail:g}",
            equalise_unit,
            (folder, case, draw, kind, q_tail),
        )
        for draw in range(min(draws, SENSITIVITY_DRAWS))
        for case in CASES
        for kind, q_tail in VARIANTS
    }
    controls = {
        (device, split): Task(f"control_{device}_{split}", control_unit, (folder, device, split, ENCODING))
        for split in range(splits)
        for device in (1, 2, 3)
    }
    downstream = {
        (task, draw): Task(
            f"downstream_{task}_{draw}",
            downstream_unit,
            (folder, DOWNSTREAM_CASE, draw, task, compared[DOWNSTREAM_CASE, draw]["removed"]),
        )
        for draw in range(draws)
        for task in TASKS
    }
    checks = {
        case: Task(f"check_{case}", check_unit, (folder, case, 0, ENCODING, compared[case, 0]["removed"]))
        for case in MAIN
    }
    return Study(
        ecg=read(folder),
        draws=draws,
        compared=compared,
        variants=_gather(variants, units),
        controls=list(_gather(controls, units).values()),
        downstream=list(_gather(downstream, units, processes).values()),
        checks=list(_gather(checks, units, processes).values()),
    )


def _gather(tasks: dict, units: Path, processes: int = 1) -> dict:
    done = run(list(tasks.values()), units, processes)
    return {key: done[task.name] for key, task in tasks.items()}
