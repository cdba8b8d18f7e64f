"""Wall and CPU time of a piece of work."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any


@dataclass(frozen=True)
class Cost:
    """Wall and CPU seconds; on a shared machine the second is the steadier one."""

    seconds: float
    cpu_seconds: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.cpu_seconds - other.cpu_seconds)


def spent() -> Cost:
    """A reading of both clocks; the difference of two readings is what lies between them."""
    return Cost(time.perf_counter(), time.process_time())


def measured(compute: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """`compute` with its cost in what it gives: `wall_seconds` and `cpu_seconds`."""

    @wraps(compute)
    def timed(*arguments: Any) -> dict[str, Any]:
        start = spent()
        unit = compute(*arguments)
        cost = spent() - start
        return {**unit, "wall_seconds": cost.seconds, "cpu_seconds": cost.cpu_seconds}

    return timed
