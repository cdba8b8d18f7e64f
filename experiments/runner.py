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
from experiments.cost import Cost, spent
from experiments.shared_search import SharedSearch

Unit = dict[str, Any]

BUDGET = 400  # rows a ranking may name: the paper's InjectedRecall@400
INTERRUPTED = 130  # exit code of a command ended by Ctrl-C


def joined(*key: Any) -> str:
    """File name of a unit: the parts of its key."""
    return "_".join(str(part) for part in key)


def run_units(
    keys: Iterable[tuple[Any, ...]], compute: Callable[..., Unit], out: Path, name: Callable[..., str] = joined
) -> list[Unit]:
    """Results of all units, computing with `compute(*key)` those whose file `name(*key).json` is missing in `out`.

    On a terminal, tells which unit is under way and about how long the missing ones will take. Ctrl-C ends the
    program; units finished by then are kept.
    """
    out.mkdir(parents=True, exist_ok=True)
    paths = {key: out / f"{name(*key)}.json" for key in keys}
    missing = [key for key, path in paths.items() if not path.exists()]
    counter = _Counter(len(missing))
    try:
        for key in missing:
            counter.begin(paths[key].stem)
            if not paths[key].exists():  # another process may have done it meanwhile
                write_whole(paths[key], json.dumps(compute(*key)))
    except KeyboardInterrupt:
        counter.end()
        print(f"stopped after {counter.done} of {len(missing)} missing units; run again to go on", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    counter.end()
    return [json.loads(path.read_text()) for path in paths.values()]


class _Counter:
    """One line on a terminal: the unit under way and the time left at the mean pace so far; silent in a pipe."""

    def __init__(self, total: int) -> None:
        self.done = -1
        self._total = total
        self._started = time.monotonic()
        self._shown = sys.stderr.isatty()

    def begin(self, name: str) -> None:
        self.done += 1
        if self._shown:
            left = (time.monotonic() - self._started) / max(1, self.done) * (self._total - self.done)
            text = f", about {duration(left)} left" if self.done else ""
            print(f"\r\x1b[K{self.done + 1} of {self._total}: {name}{text}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._shown and self.done >= 0:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time span in words of one or two units."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{seconds} s"


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def compared(pair: Pair, params: ss.CompareParams | None = None, engine: SharedSearch | None = None) -> Unit:
    """What `compare` says of a pair with known truth: detection, support, row recall and purity of each mode."""
    result, cost = timed_compare(pair, params, engine or SharedSearch(pair.reference.shape[1]))
    return outcome(pair, result, cost.seconds) | {"cpu_seconds": cost.cpu_seconds, "sizes": sizes(pair)}


def timed_compare(pair: Pair, params: ss.CompareParams | None, engine: SharedSearch) -> tuple[ss.ShiftResult, Cost]:
    """`compare` and its cost; a search that `engine` remembers counts with what it had cost."""
    engine.spared = Cost()
    start = spent()
    result = ss.compare(pair.reference, pair.current, params=params, engine=engine)
    return result, spent() - start + engine.spared


def sizes(pair: Pair) -> list[int]:
    """Rows of both samples."""
    return [len(pair.reference), len(pair.current)]


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
