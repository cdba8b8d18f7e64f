"""Failures of a cluster as one clear line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from distributed import KilledWorker
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError

from shiftscope.errors import EngineError
from shiftscope.messages import one_line


@contextmanager
def guarded(stage: str) -> Iterator[None]:
    """Turn what a lost cluster raises during `stage` into an `EngineError`; errors of the data pass."""
    try:
        with warnings.catch_warnings():
            # On purpose: data that travel with their task survive the loss of a worker.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            yield
    except KilledWorker as error:
        raise EngineError(
            f"dask: workers died again and again during {stage!r} ({one_line(error)}); give them more memory, or take "
            "smaller partitions"
        ) from error
    except (CommClosedError, FutureCancelledError, CancelledError, TimeoutError, OSError) as error:
        raise EngineError(
            f"dask: the scheduler was lost during {stage!r} ({one_line(error)}); check that it runs and can be reached"
        ) from error
