"""Studies run unit by unit: one JSON file per unit, units already there are not run again, results appear whole."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import shiftscope as ss
from experiments.benchmark20d import Pair

Unit = dict[str, Any]


def run_units(keys: Iterable[tuple[Any, ...]], compute: Callable[..., Unit], out: Path) -> list[Unit]:
    """Results of all units, computing those whose file is missing in `out`."""
    out.mkdir(parents=True, exist_ok=True)
    keys = list(keys)
    done = []
    for number, key in enumerate(keys):
        path = out / ("_".join(str(part) for part in key) + ".json")
        if not path.exists():
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {len(keys)}: {path.stem}   ", end="", file=sys.stderr)
            write_whole(path, json.dumps(compute(*key)))
        done.append(json.loads(path.read_text()))
    return done


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_suffix(".part")
    temporary.write_text(text)
    os.replace(temporary, path)


def compared(pair: Pair, params: ss.CompareParams | None = None) -> Unit:
    """What `compare` says of a pair with known truth: detection, support, row recall and purity of each mode."""
    start = time.perf_counter()
    result = ss.compare(pair.reference, pair.current, params=params)
    return outcome(pair, result, time.perf_counter() - start)


def outcome(pair: Pair, result: ss.ShiftResult, seconds: float) -> Unit:
    """A result held against the truth."""
    total = int(pair.shifted.sum())
    found = np.unique(np.concatenate([np.empty(0, int), *(m.rows for m in result.modes if m.side == "current")]))
    true = int(pair.shifted[found].sum())
    return {
        "p_value": result.p_value,
        "p_scan": result.scan.p_value if result.scan else None,
        "p_full": result.calibration.p_value,
        "detected": result.detected,
        "support": sorted({int(name[1:]) for mode in result.modes for name in mode.features}),
        "truth": sorted(pair.support),
        "modes": [
            {
                "side": mode.side,
                "features": sorted(int(name[1:]) for name in mode.features),
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
        "seconds": seconds,
        "timings": dict(result.timings),
    }


def table(units: list[Unit], key: str) -> str:
    """Detection, exact support, recall and purity by setting."""
    lines = [f"{key:>9s}  seeds  detected  exact support  recall  purity  seconds"]
    for setting in sorted({unit[key] for unit in units}):
        rows = [unit for unit in units if unit[key] == setting]
        exact = sum(unit["support"] == unit["truth"] for unit in rows)
        lines.append(
            f"{setting:9g}  {len(rows):5d}  {sum(unit['detected'] for unit in rows):8d}  {exact:13d}  "
            f"{_mean(rows, 'recall')}  {_mean(rows, 'purity')}  {np.mean([unit['seconds'] for unit in rows]):7.1f}"
        )
    return "\n".join(lines)


def _mean(units: list[Unit], key: str) -> str:
    values = [unit[key] for unit in units if unit[key] is not None]
    return f"{np.mean(values):6.3f}" if values else "     -"
