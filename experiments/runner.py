"""The runner of all studies: units of work that leave one file each, so that a study that was stopped goes on.

A unit is computed if its file is missing, and its file appears whole or not at all; to repeat a unit, delete its file.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Unit = dict[str, Any]

THREADS = "NUMBA_NUM_THREADS"
INTERRUPTED = 130  # exit code of a command ended by Ctrl-C


@dataclass(frozen=True)
class Task:
    """How to make a unit: `compute(*arguments)` gives what the file `name`.json holds."""

    name: str
    compute: Callable[..., Unit]
    arguments: tuple[Any, ...]


def joined(*key: Any) -> str:
    """Name of a unit: the parts of its key."""
    return "_".join(str(part) for part in key)


def run_units(
    keys: Iterable[tuple[Any, ...]], compute: Callable[..., Unit], out: Path, name: Callable[..., str] = joined
) -> list[Unit]:
    """Units of a study in which `compute(*key)` makes the unit `name(*key)`, in the order of their keys."""
    return list(run_tasks([Task(name(*key), compute, key) for key in keys], out).values())


def run_tasks(tasks: Sequence[Task], out: Path, processes: int = 1) -> dict[str, Unit]:
    """Units by name, computing those whose file is missing in `out`.

    On a terminal, tells how many are done and about how long the others will take. Ctrl-C ends the program; units
    finished by then are kept.

    Parameters
    ----------
    tasks : sequence of Task
    out : Path
        Folder of the files.
    processes : int
        Units computed at the same time, each on one core; 0 gives those that are there and computes nothing.
    """
    out.mkdir(parents=True, exist_ok=True)
    missing = [task for task in tasks if not _path(out, task).exists()] if processes else []
    counter = _Counter(len(missing))
    try:
        _complete_all(missing, out, processes, counter.add)
    except KeyboardInterrupt:
        counter.end()
        print(f"stopped after {counter.done} of {len(missing)} missing units; run again to go on", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    counter.end()
    return {task.name: json.loads(_path(out, task).read_text()) for task in tasks if _path(out, task).exists()}


def _path(out: Path, task: Task) -> Path:
    return out / f"{task.name}.json"


def _complete_all(tasks: Sequence[Task], out: Path, processes: int, tell: Callable[[], None]) -> None:
    if processes < 2 or len(tasks) < 2:
        for task in tasks:
            _complete(task, out)
            tell()
        return
    # fresh processes: a forked one would inherit threads that are not there
    with _one_thread_each(), ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        try:
            for done in as_completed([pool.submit(_complete, task, out) for task in tasks]):
                done.result()
                tell()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _complete(task: Task, out: Path) -> None:
    if not _path(out, task).exists():  # another process may have done it meanwhile
        write_whole(_path(out, task), json.dumps(task.compute(*task.arguments)))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Kernels of processes started meanwhile take one thread, since the processes already fill the cores.

    Numba looks at the environment when it is loaded, which in a new process is before any code of ours can run.
    """
    before = os.environ.get(THREADS)
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[THREADS]
        os.environ |= {} if before is None else {THREADS: before}


class _Counter:
    """One line on a terminal: units done, and the time left at the mean pace so far; silent in a pipe."""

    def __init__(self, total: int) -> None:
        self.done = 0
        self._total = total
        self._started = time.monotonic()
        self._shown = sys.stderr.isatty() and total > 0
        self._show("")

    def add(self) -> None:
        self.done += 1
        left = (time.monotonic() - self._started) / self.done * (self._total - self.done)
        self._show(f", about {duration(left)} left")

    def end(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self, more: str) -> None:
        if self._shown:
            print(f"\r\x1b[K{self.done} of {self._total} units{more}", end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time span in words of one or two units."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{seconds} s"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.replace(temporary, path)
