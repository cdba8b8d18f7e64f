"""One comparison under way: the samples, the settings, and the time each stage took."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

from shiftscope.params import CompareParams
from shiftscope.samples import Samples
from shiftscope.searched_rows import SearchedRows, draw_searched_rows


@dataclass(frozen=True)
class Job(Samples):
    """Two samples, opened, and the settings of their comparison: what every stage needs to know."""

    params: CompareParams

    @classmethod
    def of(cls, samples: Samples, params: CompareParams) -> Job:
        """A comparison of samples that are open."""
        return cls(samples.pool, samples.engine, samples.random_state, samples.progress, params)

    @cached_property
    def searched(self) -> SearchedRows:
        """The rows whose neighbourhoods in the full space are looked at."""
        encoded = self.encoded
        return draw_searched_rows(
            encoded.n_reference, encoded.n_current, self.params.full_space_rows, self.random_state
        )

    @property
    def searches(self) -> int:
        """Searches behind the verdict."""
        return self.params.searches

    @property
    def level(self) -> float:
        """What each search is held against: its share of alpha (Bonferroni)."""
        return self.params.level

    @property
    def k_max(self) -> int:
        """Largest neighbourhood K_M."""
        return self.params.k_max


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
