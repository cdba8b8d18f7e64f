"""What is asked with a fixed number as it is and changed; `validation.fixed_numbers` does the changing.

Every unit tells its answers, which of them are right if the truth is known, and figures. Planted shifts are at seeds
that had no part in choosing any number; so are the public tables, which tests and studies read where they are.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import shiftscope as ss
from experiments.benchmark20d import LOCAL_SUPPORT, local_pair
from experiments.calibration.planted_cases import FULL_SPACE, SMALL, SMALL_PARAMS, Case
from experiments.paper.planted_shifts import Design, Planted
from experiments.runner import Unit, joined, run_units
from shiftscope.labellings.staged_p_value import staged_p_value
from shiftscope.modes.describe import directions
from shiftscope.modes.mode import Mode
from shiftscope.questions.independent_tests import independent_checks
from shiftscope.questions.monitor import _region, drift
from shiftscope.samples import open_samples
from shiftscope.subspaces.detectable import smallest_groups

LEVEL = 0.005  # of the scan and of the full space
SUSPECTED_ROWS = 1_500  # background rows of either sample
SUSPICIONS = ((60, 0.0), (60, 1.0), (250, 1.0))  # injected rows, and ordinary ones suspected for each of them
SUSPECTED_SCAN = ss.ScanParams(n_permutations=199, n_seeds=128, beam=16)
CHECKED_ROWS, CHECK_LEVEL, CHECK_LABELLINGS = 500, 0.05, 99
STAGED_LEVEL, STAGED_RUNS = 1e-4, 1_000
FEW_ROWS_COLUMNS = ("patient_id", "number", "name", "grade", "lot of 2")


# ---- planted shifts ----


def scanned(case: str, seed: int) -> Unit:
    """The strongest set of the scan: right if it is found, in planted columns only."""
    design = SMALL[case].make(SMALL[case].n, seed)
    found = ss.scan(design.reference, design.current, params=SMALL_PARAMS.scan)
    best = {int(name[1:]) for name in found.sets[0].names}
    planted = [{*one.features} for one in design.planted]
    detected = found.p_value <= LEVEL
    return _unit([sorted(best) if detected else None], [bool(detected and any(best <= one for one in planted))])


def _many_levels(n: int, seed: int) -> Design:
    """A group in one of 40 levels, of which the metric tells 16 apart, and narrow in two numbers."""
    rng = np.random.default_rng([seed, 14])
    frequency = 1.0 / np.arange(2, 42)
    tables = []
    for group in (0, 60):
        level = rng.choice(40, n, p=frequency / frequency.sum())
        numbers = rng.standard_normal((3, n))
        level[:group], numbers[:2, :group] = 12, 0.15 * numbers[:2, :group] + 0.5
        texts = np.char.add("level ", level.astype(str))
        tables.append(pd.DataFrame({"x0": numbers[0], "x1": numbers[1], "x2": numbers[2], "x3": texts}))
    return Design(tables[0], tables[1], (Planted("current", (0, 1, 3), np.arange(60)),))  # type: ignore[arg-type]


FULL_SPACE_CASES = {
    FULL_SPACE: SMALL[FULL_SPACE],
    "many levels": Case(_many_levels, SMALL[FULL_SPACE].params, SMALL[FULL_SPACE].n),
}


def full_space(case: str, seed: int) -> Unit:
    """The modes of the full space by itself: right if exactly the planted columns, on their side."""
    one = FULL_SPACE_CASES[case]
    found = one.outcome(seed, one.params)
    rows = [planted for planted in found["planted"] if planted["recall"] is not None]
    figures = {key: float(np.mean([planted[key] for planted in rows])) for key in ("recall", "purity") if rows}
    return _unit(found["modes"], [planted["exact"] for planted in found["planted"]], figures)


def interval(case: str, seed: int) -> Unit:
    """The interval of the excess of planted groups: right if it holds the truth."""
    one = SMALL[case]
    design = one.make(one.n, seed)
    result = ss.compare(design.reference, design.current, params=one.params)
    truths = {planted.side: planted.rows.size / one.n for planted in design.planted if planted.rows is not None}
    told = [mode for mode in result.modes if mode.side in truths]
    holds = [bool(mode.excess_interval[0] <= truths[mode.side] <= mode.excess_interval[1]) for mode in told]
    widths = {"width": float(np.mean([np.ptp(mode.excess_interval) for mode in told]))} if told else {}
    return _unit([[f"{end:.4f}" for end in mode.excess_interval] for mode in told], holds, widths)


def suspected(injected: int, ordinary: float, seed: int) -> Unit:
    """Injected rows, or as many ordinary ones besides: right if explained by exactly their columns."""
    pair = local_pair(injected, seed, SUSPECTED_ROWS)
    others = np.flatnonzero(~pair.shifted)[: round(ordinary * injected)]
    rows = np.concatenate([np.flatnonzero(pair.shifted), others])
    found = ss.explain_rows(pair.reference, pair.current, rows, params=SUSPECTED_SCAN)
    features = sorted(int(name[1:]) for name in found.features)
    return _unit([features], [features == sorted(LOCAL_SUPPORT)])


# ---- tests that are valid for any value: their power and their cost ----


def checked(kind: str, seed: int) -> Unit:
    """The independent tests of a planted shift: right if they see it."""
    rng = np.random.default_rng([seed, 15])
    points = rng.standard_normal((2 * CHECKED_ROWS, 5))
    is_current = np.arange(2 * CHECKED_ROWS) >= CHECKED_ROWS
    if kind == "broad":
        points[is_current, :2] += 0.2
    else:
        points[-25:, :3] = 0.5 + 0.1 * rng.standard_normal((25, 3))
    checks = independent_checks(points, points, is_current, CHECK_LABELLINGS, seed)
    seen = [bool(check.p_value <= CHECK_LEVEL) for check in checks]
    return _unit(seen, seen)


def staged(kind: str, seed: int) -> Unit:
    """Staged p-values of simulated tests: right if no shift is found or a strong one is, and the labellings it took."""
    rng = np.random.default_rng([seed, 16])
    reach = rng.random(STAGED_RUNS) if kind == "no shift" else 10.0 ** rng.uniform(-7, -4, STAGED_RUNS)
    runs = [staged_p_value(partial(_p_value, rng, chance), STAGED_LEVEL) for chance in reach]
    right = [(run.p_value <= STAGED_LEVEL) == (kind != "no shift") for run in runs]
    cost = float(np.mean([run.n_permutations for run in runs]))
    return _unit([f"{cost:.0f}"], [bool(one) for one in right], {f"labellings, {kind}": cost})


def _p_value(rng: np.random.Generator, chance: float, labellings: int) -> float:
    """Of a test whose random labellings come as far with probability `chance`."""
    return float((1 + rng.binomial(labellings, chance)) / (labellings + 1))


# ---- public tables ----


@cache
def table_pairs(folder: Path) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Pairs of public tables, thinned."""
    read = partial(_read, folder)
    heart = {site: read(f"heart_{site}", header=None) for site in ("cleveland", "hungarian", "switzerland", "va")}
    elec, air, climate = read("elec"), read("air"), read("climate")
    decade = pd.to_datetime(climate.iloc[:, 0], format="%d-%b-%Y %H:%M:%S").dt.year // 10
    return {
        "heart, two sites": (heart["cleveland"], heart["hungarian"]),
        "heart, two other sites": (heart["switzerland"], heart["va"]),
        "wine": (read("winequality-white", header=None)[::6], read("winequality-red", header=None)[::2]),
        "occupancy": (read("occupancy_train")[::10], read("occupancy_test")[::4]),
        "electricity": (elec[:17424:25], elec[17424::40]),
        "air": (air[:4600:7], air[4600:9357:7]),
        "climate": (climate[decade == 195][::5], climate[decade == 200][::5]),
    }


def _read(folder: Path, name: str, **options: Any) -> pd.DataFrame:
    table = pd.read_csv(folder / f"{name}.csv", **options)
    return table.rename(columns=str)


def compared_tables(folder: Path, out: Path) -> None:
    """Results of the public tables with all numbers as they are, kept for the probes that only read them."""
    out.mkdir(parents=True, exist_ok=True)
    for name, pair in table_pairs(folder).items():
        path = out / f"{name}.pickle"
        if not path.exists():
            path.write_bytes(pickle.dumps(ss.compare(*pair, params=SMALL_PARAMS)))


def _result(results: Path, name: str) -> ss.ShiftResult:
    result: ss.ShiftResult = pickle.loads((results / f"{name}.pickle").read_bytes())
    return result


def words(results: Path, name: str) -> Unit:
    """What is said of each column of each mode of a public table."""
    result = _result(results, name)
    return _unit([f"{one.word}, {one.change}" for mode in result.modes for one in _directions(result, mode)])


def _directions(result: ss.ShiftResult, mode: Mode) -> Sequence[Any]:
    rows = result.encoded.in_pool(mode.rows, current=mode.side == "current")
    features = tuple(result.encoded.names.index(feature) for feature in mode.features)
    return directions(result.encoded, mode.side == "current", rows, features)


def smallest(results: Path, name: str) -> Unit:
    """The smallest groups that would have been found in a public table."""
    result = _result(results, name)
    assert result.scan is not None
    assert result.params.scan is not None
    rows_of_both = result.n_reference, result.n_current
    groups = smallest_groups(result.scan, result.encoded.categories, rows_of_both, result.params.scan, LEVEL)
    rows = [group.rows for group in groups]
    return _unit(rows, figures={"rows of the smallest group": float(np.mean(rows))} if rows else {})


def region(results: Path, name: str) -> Unit:
    """The surplus in the region of each mode, as `monitor` follows it."""
    result = _result(results, name)
    surplus = [drift(_region(mode, result.encoded), result.encoded) for mode in result.modes]
    there = [abs(one) for one in surplus if one is not None]
    return _unit([f"{one:.3f}" for one in there], figures={"surplus": float(np.mean(there))} if there else {})


def columns(folder: Path, name: str) -> Unit:
    """Which columns are left out of a public table to which names, lots, notes and odd texts were added."""
    pair = [_with_names(table, seed) for seed, table in enumerate(table_pairs(folder)[name])]
    with open_samples(*pair) as samples:
        out = {left.name: left.reason.split(",")[0].split(";")[0] for left in samples.encoded.left_out}
        return _unit([f"{column}: {out.get(column, 'kept')}" for column in pair[0].columns])


def _with_names(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Columns that name rows, some more and some less, and those with gaps as the text "?", as UCI publishes them."""
    rng, n = np.random.default_rng([seed, 17]), len(table)
    asked = table.astype(object).where(table.notna(), "?").astype(str)
    odd = {f"{column}?": asked[column] for column in table if table[column].isna().any()}
    lots = {f"lot of {size}": [f"lot {number // size}" for number in range(n)] for size in (2, 3, 5, 30)}
    added = {
        "name": [f"row {seed}-{number}" for number in range(n)],
        "patient_id": rng.permutation(10 * n)[:n],
        "number": np.arange(n),
        "grade": rng.choice([f"grade {grade}" for grade in range(30)], n),
        **{f"sent {share:g}": _mostly_numbers(n, share, rng) for share in (0.02, 0.07, 0.15)},
    }
    return table.assign(**odd, **lots, **added)


def _mostly_numbers(n: int, share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Numbers as text, except for a share of words."""
    numbers, odd = rng.permutation(10 * n)[:n].astype(str), np.char.add("word ", np.arange(n).astype(str))
    return np.where(rng.random(n) < share, odd, numbers)


def few_rows(folder: Path, name: str, rows: int) -> Unit:
    """As `columns`, of the first rows of either sample only."""
    pair = [_with_names(table[:rows], seed) for seed, table in enumerate(table_pairs(folder)[name])]
    with open_samples(*pair) as samples:
        out = {left.name for left in samples.encoded.left_out}
        return _unit([f"{column}: {'left out' if column in out else 'kept'}" for column in FEW_ROWS_COLUMNS])


# ---- all of them ----


def _unit(answers: Sequence[Any], right: Sequence[bool] = (), figures: dict[str, float] | None = None) -> Unit:
    return {"answers": list(answers), "right": list(right), "figures": figures or {}}


@dataclass(frozen=True)
class Probe:
    """What is asked, and of what: `asked(*key)` for each of the keys, and at each seed if it has any."""

    asked: Callable[..., Unit]
    keys: tuple[tuple[Any, ...], ...]
    seeded: bool = True
    reads: str = ""  # "results" or "tables": the folder it is given first

    def units(self, seeds: Sequence[int], out: Path, folder: Path) -> list[Unit]:
        """All units, computing those whose file is missing."""
        return run_units(self._keys(seeds), partial(self.asked, folder) if self.reads else self.asked, out)

    def is_answered(self, seeds: Sequence[int], out: Path) -> bool:
        """Whether no unit is missing."""
        return all((out / f"{joined(*key)}.json").exists() for key in self._keys(seeds))

    def _keys(self, seeds: Sequence[int]) -> list[tuple[Any, ...]]:
        return [(*key, seed) for seed, key in product(seeds, self.keys)] if self.seeded else list(self.keys)


TABLES = ("heart, two sites", "heart, two other sites", "wine", "occupancy", "electricity", "air", "climate")
_NAMES = tuple((name,) for name in TABLES)
_SCANNED = tuple((name,) for name in SMALL if name != FULL_SPACE)
PROBES = {
    "scan": Probe(scanned, _SCANNED),
    "full space": Probe(full_space, tuple((name,) for name in FULL_SPACE_CASES)),
    "interval": Probe(interval, (("two groups, small",), ("four columns, small",))),
    "suspected rows": Probe(suspected, SUSPICIONS),
    "independent tests": Probe(checked, (("broad",), ("local",))),
    "staged p-value": Probe(staged, (("no shift",), ("strong shift",))),
    "words": Probe(words, _NAMES, seeded=False, reads="results"),
    "smallest group": Probe(smallest, _NAMES, seeded=False, reads="results"),
    "region": Probe(region, _NAMES, seeded=False, reads="results"),
    "columns": Probe(columns, _NAMES, seeded=False, reads="tables"),
    "few rows": Probe(few_rows, tuple(product(("wine", "climate"), (20, 40, 80, 120))), seeded=False, reads="tables"),
}
