"""Wall and CPU time of a piece of work."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Wall and CPU seconds; on a shared machine the second is the steadier one."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.cpu_seconds - other.cpu_seconds)


def spent() -> Cost:
    """A reading of both clocks; the difference of two readings is what lies between them."""
    return Cost(time.perf_counter(), time.process_time())
