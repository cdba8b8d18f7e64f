"""Units of work that leave one file each: a study that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Unit = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A unit's name and how to compute it: `compute(*arguments)` gives what its file holds."""

    name: str
    compute: Callable[..., Unit]
    arguments: tuple[Any, ...]


def run(tasks: Sequence[Task], folder: Path, processes: int = 1) -> dict[str, Unit]:
    """Results by name: tasks with a file in `folder` are read, others computed (or left out if `processes` is 0)."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [task for task in tasks if not (folder / f"{task.name}.json").exists()]
    if processes == 0:
        tasks = [task for task in tasks if task not in missing]
    elif processes == 1 or len(missing) < 2:
        for task in missing:
            _finish(folder, task.name, _measured(task))
    else:  # fresh processes: a forked one would inherit threads that are not there
        with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_on_one_core) as pool:
            waiting = {pool.submit(_measured, task): task.name for task in missing}
            for done in as_completed(waiting):
                _finish(folder, waiting[done], done.result())
    return {task.name: json.loads((folder / f"{task.name}.json").read_text()) for task in tasks}


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _on_one_core() -> None:
    """Kernels of a process take one thread: the processes already fill the cores. Before Numba is loaded."""
    os.environ["NUMBA_NUM_THREADS"] = "1"


def _measured(task: Task) -> Unit:
    wall, cpu = time.perf_counter(), _cpu()
    unit = task.compute(*task.arguments)
    return {**unit, "wall_seconds": time.perf_counter() - wall, "cpu_seconds": _cpu() - cpu}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _finish(folder: Path, name: str, unit: Unit) -> None:
    write_whole(folder / f"{name}.json", json.dumps(unit))
    print(f"{name}: {unit['wall_seconds']:.0f} s, {unit['cpu_seconds']:.0f} s of CPU", file=sys.stderr, flush=True)
