"""One comparison under way: what every stage of it needs to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import Groups
from shiftscope.engines.base import Engine
from shiftscope.params import CompareParams
from shiftscope.progress import Progress
from shiftscope.samples import Pool
from shiftscope.searched_rows import Design, draw_design


@dataclass(frozen=True)
class Job:
    """The pool, the settings, and where to compute and report."""

    pool: Pool
    params: CompareParams
    random_state: int
    engine: Engine
    progress: Progress

    @property
    def encoded(self) -> Encoded:
        """The rows at hand."""
        return self.pool.encoded

    @property
    def points(self) -> NDArray[np.float64]:
        """(n, D) pooled standardised matrix, reference rows first."""
        return self.encoded.points

    @property
    def groups(self) -> Groups:
        """The matrix columns of each feature."""
        return self.encoded.groups

    @property
    def is_current(self) -> NDArray[np.bool_]:
        """(n,) labels of the pool."""
        return self.encoded.is_current

    @cached_property
    def design(self) -> Design:
        """The rows whose neighbourhoods in the full space are looked at."""
        encoded = self.encoded
        return draw_design(encoded.n_reference, encoded.n_current, self.params.full_space_rows, self.random_state)

    @property
    def searches(self) -> int:
        """Searches behind the verdict."""
        return self.params.searches

    @property
    def level(self) -> float:
        """What each search is held against: its share of alpha (Bonferroni)."""
        return self.params.level

    def stage(self, name: str) -> Callable[[float], None]:
        """Progress of one stage."""
        return lambda fraction: self.progress(name, fraction)


class Clock:
    """Seconds since the last stop, by stage."""

    def __init__(self) -> None:
        self._last = perf_counter()
        self._laps: list[tuple[str, float]] = []

    def stop(self, stage: str) -> None:
        """End a stage."""
        now = perf_counter()
        self._laps.append((stage, now - self._last))
        self._last = now

    def laps(self) -> tuple[tuple[str, float], ...]:
        """All stages so far."""
        return tuple(self._laps)
