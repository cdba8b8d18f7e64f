"""What `compare` says of a pair, held against the truth."""

from __future__ import annotations

import numpy as np

import shiftscope as ss
from experiments.benchmark20d import Pair
from experiments.cost import Cost, spent
from experiments.runner import Unit


def compared(pair: Pair, params: ss.CompareParams | None = None) -> tuple[ss.ShiftResult, Unit]:
    """`compare` of a pair, and the result as a unit: detection, support, rows and purity of each mode, cost."""
    start = spent()
    result = ss.compare(pair.reference, pair.current, params=params)
    return result, outcome(pair, result, spent() - start)


def outcome(pair: Pair, result: ss.ShiftResult, cost: Cost) -> Unit:
    """A result held against the truth."""
    total = int(pair.shifted.sum())
    found = np.unique(np.concatenate([np.empty(0, int), *(m.rows for m in result.modes if m.side == "current")]))
    true = int(pair.shifted[found].sum())
    return {
        "p_value": result.p_value,
        "p_scan": result.scan.p_value if result.scan else None,
        "p_full": result.calibration.p_value,
        "detected": result.detected,
        "support": sorted({feature for mode in result.modes for feature in positions(mode)}),
        "truth": sorted(pair.support),
        "modes": [
            {
                "side": mode.side,
                "features": positions(mode),
                "rows": int(mode.rows.size),
                "true": int(pair.shifted[mode.rows].sum()) if mode.side == "current" else 0,
                "excess": mode.excess,
                "interval": mode.excess_interval,
                "p_value": mode.p_value,
                "origin": mode.origin,
                "settled": mode.settled,
            }
            for mode in result.modes
        ],
        "rows": int(found.size),
        "recall": true / total if total else None,
        "purity": true / found.size if found.size else None,
        "kept": [int(result.kept_reference.size), int(result.kept_current.size)],
        "seconds": cost.seconds,
        "cpu_seconds": cost.cpu_seconds,
        "sizes": pair.sizes,
        "timings": dict(result.timings),
    }


def positions(mode: ss.Mode) -> list[int]:
    """Positions of a mode's features, ascending: columns of arrays are named x0, x1, ..."""
    return sorted(int(name[1:]) for name in mode.features)


def table(units: list[Unit], key: str) -> str:
    """Detection, exact support, recall and purity by setting; what a method does not say shows as a dash."""
    lines = [f"{key:>9s}  seeds  detected  exact support  recall  purity  seconds"]
    for setting in sorted({unit[key] for unit in units}):
        rows = [unit for unit in units if unit[key] == setting]
        exact = [unit["support"] == unit["truth"] for unit in rows if unit["support"] is not None]
        detected = [unit["detected"] for unit in rows if unit["detected"] is not None]
        lines.append(
            f"{setting:9g}  {len(rows):5d}  {_count(detected):>8s}  {_count(exact):>13s}  "
            f"{_mean(rows, 'recall')}  {_mean(rows, 'purity')}  {np.mean([unit['seconds'] for unit in rows]):7.1f}"
        )
    return "\n".join(lines)


def _count(answers: list[bool]) -> str:
    return str(sum(answers)) if answers else "-"


def _mean(units: list[Unit], key: str) -> str:
    values = [unit[key] for unit in units if unit[key] is not None]
    return f"{np.mean(values):6.3f}" if values else "     -"
