"""How long stages tell that they advance: a call with the stage's name and the fraction done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from shiftscope.errors import ParameterError

DELAY_SECONDS = 2.0  # short runs stay quiet
SPEED_PERIOD_SECONDS = 600.0  # stages may report rarely; the speed is taken over this span


class Progress(Protocol):
    """Anything that wants to hear how far a stage has come."""

    def __call__(self, stage: str, fraction: float) -> None:
        """Tell that `stage` is done to `fraction`, from 0 to 1."""


def silent(stage: str, fraction: float) -> None:
    """Ignore progress."""


def checked_progress(progress: Progress | None) -> Progress:
    """What to tell how far a stage has come; None is nobody."""
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress must be callable(stage, fraction) or None, got {progress!r}")
    return silent if progress is None else progress


_listener: ContextVar[Progress] = ContextVar("listener", default=silent)


@contextmanager
def heard_by(progress: Progress) -> Iterator[None]:
    """Whoever has no progress at hand can `tell` it for the time of the block."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(stage: str, fraction: float) -> None:
    """Tell whoever hears of the work under way."""
    _listener.get()(stage, fraction)


@contextmanager
def terminal_progress() -> Iterator[Progress]:
    """Draw one bar per stage, with the time left, while the context lasts.

    The bars go to standard error, only if it is a terminal and only once `DELAY_SECONDS` have passed; they
    are wiped at the end. Otherwise what is yielded is `silent`.
    """
    console = Console(file=sys.stderr)
    if sys.stderr is None or not sys.stderr.isatty() or console.is_dumb_terminal:
        yield silent
        return
    bars = _Bars(console)
    try:
        yield bars
    finally:
        bars.stop()


class _Bars:
    """A `Progress` that draws itself on a terminal."""

    def __init__(self, console: Console) -> None:
        self._display = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,  # results may be on their way there
            speed_estimate_period=SPEED_PERIOD_SECONDS,
        )
        self._tasks: dict[str, TaskID] = {}
        self._fractions: dict[str, float] = {}
        self._due = time.monotonic() + DELAY_SECONDS
        self._started = False

    def __call__(self, stage: str, fraction: float) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._display.add_task(stage, total=1.0)
        elif fraction < self._fractions[stage]:
            self._display.reset(self._tasks[stage])  # the stage runs again, for another mode
        self._fractions[stage] = fraction
        self._display.update(self._tasks[stage], completed=min(max(fraction, 0.0), 1.0))
        if not self._started and time.monotonic() >= self._due:
            self._display.start()
            self._started = True

    def stop(self) -> None:
        """Wipe the bars; harmless if none was drawn."""
        if self._started:
            self._display.stop()
