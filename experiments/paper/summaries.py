"""From unit files to tables: one row per setting and method, from whatever units are there."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from experiments.benchmark20d import BUDGET, DIMENSION, ROWS
from experiments.paper.study import METHODS, Study
from experiments.runner import Unit

RELIABLE = 0.9  # share of seeds from which on a shift counts as detectable: 10 of 11
FORMULA_LEVEL = 0.05  # at which the paper's rule begins to prune


@dataclass(frozen=True)
class Spread:
    """Mean and quartiles of a quantity over seeds."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """What one method does at one setting; None where the method says nothing or nothing is there to be found.

    Attributes
    ----------
    setting, method
    seeds : int
        Units there.
    detected : int or None
        Units in which the method's test rejects at 0.01.
    exact, exact_top : int or None
        Units whose support is exactly the true one: by the method's own selection, and by its strongest features if
        their number were known.
    exact_current : int or None
        Of our two protocols: units whose modes of the current sample, the one that was changed, have exactly the true
        features.
    recall, purity : Spread or None
        Of the rows named. Rankings name as many as are truly shifted.
    recall_400 : Spread or None
        Recall of 400 rows. Of a set of more rows, 400 at random.
    pruned : Spread or None
        Of our two protocols: pruned rows to all rows (global study), or to injected rows (localised study).
    formula_rejects : int or None
        Of the paper's protocol: units in which its own rule, without the calibrated verdict, would begin to prune.
    seconds, cpu_seconds : float or None
        Median wall and CPU time.
    inclusion : tuple of float or None
        Share of the units whose support holds each feature.
    """

    setting: float
    method: str
    seeds: int
    detected: int | None
    exact: int | None
    exact_top: int | None
    exact_current: int | None
    recall: Spread | None
    purity: Spread | None
    recall_400: Spread | None
    pruned: Spread | None
    formula_rejects: int | None
    seconds: float
    cpu_seconds: float | None
    inclusion: tuple[float, ...] | None


@dataclass(frozen=True)
class Reach:
    """The smallest shift from which on a method is reliable; None if it never is, or does not say.

    Attributes
    ----------
    study, method
    false_alarms : int or None
        Detections where nothing differs.
    detected_from, exact_from, exact_top_from : float or None
        Setting from which on at least `RELIABLE` of the units are detected, or attributed exactly.
    """

    study: str
    method: str
    false_alarms: int | None
    detected_from: float | None
    exact_from: float | None
    exact_top_from: float | None


def summarise(study: Study, folder: Path) -> list[Row]:
    """Rows of a study by method (in the order of `METHODS`) and setting, from the unit files in `folder`."""
    units = read_units(folder)
    groups: dict[tuple[str, float], list[Unit]] = {}
    for unit in units:
        groups.setdefault((unit.get("method", "default"), unit[study.setting]), []).append(unit)
    order = sorted(groups, key=lambda group: (list(METHODS).index(group[0]), group[1]))
    return [_row(study, method, setting, groups[method, setting]) for method, setting in order]


def read_units(folder: Path) -> list[Unit]:
    """All units of a folder."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def _row(study: Study, method: str, setting: float, units: list[Unit]) -> Row:
    return Row(
        setting=setting,
        method=method,
        seeds=len(units),
        detected=_count(unit["detected"] for unit in units),
        exact=_count(_same(unit, "support") for unit in units),
        exact_top=_count(_same(unit, "support_top") for unit in units),
        exact_current=_count(_exact_current(unit) for unit in units),
        recall=_spread(unit["recall"] for unit in units),
        purity=_spread(unit["purity"] for unit in units),
        recall_400=_spread(recall_at_budget(unit) for unit in units),
        pruned=_spread(pruned_ratio(study, unit) for unit in units),
        formula_rejects=_count(_formula_rejects(unit) for unit in units),
        seconds=float(np.median([unit["seconds"] for unit in units])),
        cpu_seconds=_median(unit.get("cpu_seconds") for unit in units),
        inclusion=_inclusion(units),
    )


def _count(answers: Iterable[bool | None]) -> int | None:
    given = [answer for answer in answers if answer is not None]
    return sum(given) if given else None


def _same(unit: Unit, key: str) -> bool | None:
    return None if unit.get(key) is None else unit[key] == unit["truth"]


def _exact_current(unit: Unit) -> bool | None:
    if "modes" not in unit:
        return None
    mine = [mode["features"] for mode in unit["modes"] if mode["side"] == "current"]
    return sorted({feature for features in mine for feature in features}) == sorted(unit["truth"])


def _spread(values: Iterable[float | None]) -> Spread | None:
    given = [value for value in values if value is not None]
    if not given:
        return None
    low, high = np.quantile(given, [0.25, 0.75])
    return Spread(float(np.mean(given)), float(low), float(high))


def _median(values: Iterable[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return float(np.median(given)) if given else None


def recall_at_budget(unit: Unit) -> float | None:
    """Share of the shifted rows among the first 400 rows named; of a larger set, that of 400 of its rows at random."""
    if "rows" not in unit:
        return unit.get("recall_400")
    return None if unit["recall"] is None else unit["recall"] * min(1.0, BUDGET / max(1, unit["rows"]))


def pruned_ratio(study: Study, unit: Unit) -> float | None:
    """Rows taken out by a protocol: of all rows (global study), or of the current sample to those injected."""
    if "kept" not in unit:
        return None
    if study.setting == "injected":
        return unit["rows"] / unit["injected"] if unit["injected"] else None
    total = sum(unit.get("sizes", (ROWS, ROWS)))
    return 1.0 - sum(unit["kept"]) / total


def _formula_rejects(unit: Unit) -> bool | None:
    return min(unit["p_formula"]) <= FORMULA_LEVEL if "p_formula" in unit else None


def _inclusion(units: list[Unit]) -> tuple[float, ...] | None:
    supports = [unit["support"] for unit in units if unit["support"] is not None]
    if not supports:
        return None
    return tuple(sum(feature in support for support in supports) / len(supports) for feature in range(DIMENSION))


def reaches(study: Study, rows: Sequence[Row]) -> list[Reach]:
    """The reach of each method, in the order of the rows."""
    found = []
    for method in dict.fromkeys(row.method for row in rows):
        mine = [row for row in rows if row.method == method]
        null = [row.detected for row in mine if row.setting == 0]
        found.append(
            Reach(
                study.name,
                method,
                null[0] if null else None,
                reliable_from(mine, lambda row: row.detected),
                reliable_from(mine, lambda row: row.exact),
                reliable_from(mine, lambda row: row.exact_top),
            )
        )
    return found


def reliable_from(rows: Sequence[Row], hits: Callable[[Row], int | None]) -> float | None:
    """The smallest non-zero setting with at least `RELIABLE` hits there and at every larger one."""
    reached = None
    for row in sorted(rows, key=lambda row: -row.setting):
        count = hits(row)
        if row.setting == 0 or count is None or count < RELIABLE * row.seeds:
            break
        reached = row.setting
    return reached


def rows_csv(rows: Sequence[Row], setting: str) -> str:
    """The table of a study; spreads take three columns."""
    return _csv([_flat(row, setting) for row in rows])


def _flat(row: Row, setting: str) -> dict[str, object]:
    flat: dict[str, object] = {}
    for field in fields(row):
        value = getattr(row, field.name)
        if field.name == "setting":
            flat[setting] = value
        elif field.name in ("recall", "purity", "recall_400", "pruned"):
            parts = (None, None, None) if value is None else (value.mean, value.low, value.high)
            flat |= dict(zip((f"{field.name}{end}" for end in ("", "_q25", "_q75")), parts, strict=True))
        elif field.name != "inclusion":
            flat[field.name] = value
    return flat


def inclusion_csv(rows: Sequence[Row], setting: str) -> str:
    """Inclusion frequency of each feature, one column a feature, for the methods that name features."""
    return _csv(
        [
            {setting: row.setting, "method": row.method, "seeds": row.seeds}
            | {f"x{feature}": share for feature, share in enumerate(row.inclusion)}
            for row in rows
            if row.inclusion is not None
        ]
    )


def reaches_csv(found: Sequence[Reach]) -> str:
    """The table of smallest shifts."""
    return _csv([asdict(reach) for reach in found])


def _csv(lines: list[dict[str, object]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]) if lines else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in line.items()} for line in lines)
    return text.getvalue()


def _cell(value: object) -> object:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else value
