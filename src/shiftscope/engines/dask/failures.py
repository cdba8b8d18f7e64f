"""Failures of a cluster as one clear line."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from distributed import KilledWorker
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError

from shiftscope.errors import EngineError
from shiftscope.ignored_warnings import ignored_warning
from shiftscope.messages import one_line


@contextmanager
def guarded(stage: str) -> Iterator[None]:
    """Turn what a lost cluster raises during `stage` into an `EngineError`; errors of the data pass."""
    try:
        with ignored_warning("Sending large graph"):  # on purpose: such data survive the loss of a worker
            yield
    except KilledWorker as error:
        raise EngineError(
            f"dask: workers died again and again during {stage!r} ({one_line(error)}); give them more memory, or take "
            "smaller partitions"
        ) from error
    except (FileNotFoundError, PermissionError) as error:
        raise EngineError(
            f"dask: a file cannot be read during {stage!r} ({one_line(error)}); files must be visible to all workers"
        ) from error
    except (CommClosedError, FutureCancelledError, CancelledError, TimeoutError, OSError) as error:
        raise EngineError(
            f"dask: the scheduler was lost during {stage!r} ({one_line(error)}); check that it runs and can be reached"
        ) from error
