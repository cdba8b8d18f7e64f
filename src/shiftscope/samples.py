"""The two samples as an engine holds them: encoded rows at hand, and the scan of all rows wherever they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Columns, Encoded, encode_pair
from shiftscope.encoding.sample_order import canonical
from shiftscope.engines.base import Engine
from shiftscope.engines.local import LocalEngine
from shiftscope.errors import ParameterError
from shiftscope.params import ScanParams
from shiftscope.progress import Progress
from shiftscope.subspaces.scan import ScanResult, scan_points

ChosenColumns = Columns | Sequence[str] | None


@dataclass(frozen=True)
class Gathered:
    """Which rows of samples too large for one machine are at hand; everything but the scan is about these.

    Attributes
    ----------
    reference, current : intp arrays
        Their positions in either sample, increasing.
    n_reference, n_current : int
        Rows of the samples, all of which the scan has counted.
    """

    reference: NDArray[np.intp]
    current: NDArray[np.intp]
    n_reference: int
    n_current: int

    def swapped(self) -> Gathered:
        """The same with the two samples exchanged."""
        return Gathered(self.current, self.reference, self.n_current, self.n_reference)


class Pool(Protocol):
    """Both samples, in canonical order."""

    @property
    def encoded(self) -> Encoded:
        """The rows at hand."""
        ...

    @property
    def flipped(self) -> bool:
        """Whether the order is not that of the user."""
        ...

    @property
    def gathered(self) -> Gathered | None:
        """Which rows are at hand; None if all are."""
        ...

    def scan(self, params: ScanParams, random_state: int, progress: Progress) -> ScanResult:
        """Scan all rows; the rows of the sets are positions among those at hand."""
        ...


@runtime_checkable
class Reader(Protocol):
    """An engine that reads the samples itself."""

    def read(self, reference: Any, current: Any, columns: ChosenColumns, random_state: int) -> Pool:
        """The two samples."""
        ...


@dataclass(frozen=True)
class LocalPool:
    """All rows on this machine."""

    encoded: Encoded
    flipped: bool
    gathered: None = None

    def scan(self, params: ScanParams, random_state: int, progress: Progress) -> ScanResult:
        """Scan all rows."""
        encoded = self.encoded
        return scan_points(
            encoded.ranked,
            encoded.n_reference,
            encoded.names,
            params,
            categories=encoded.categories,
            random_state=random_state,
            progress=progress,
        )


def read_pool(engine: Engine, reference: Any, current: Any, columns: ChosenColumns, random_state: int) -> Pool:
    """Both samples, as the engine reads them."""
    if isinstance(engine, Reader):
        return engine.read(reference, current, columns, random_state)
    return LocalPool(*canonical(encode_pair(reference, current, columns)))


@contextmanager
def opened(engine: Engine | str | None) -> Iterator[Engine]:
    """An engine by its name, or the engine itself.

    Names are "local", "dask" (a cluster on this machine that ends with the block) and the address of a Dask scheduler.
    """
    if engine is None or engine == "local":
        yield LocalEngine()
    elif isinstance(engine, Engine):
        yield engine
    elif isinstance(engine, str) and (engine == "dask" or "://" in engine):
        try:
            from shiftscope.engines.dask.engine import DaskEngine
        except ImportError as error:
            raise ParameterError(
                f"engine 'dask' needs packages that are not installed ({error}); install shiftscope[dask]"
            ) from error
        with DaskEngine.at(None if engine == "dask" else engine) as started:
            yield started
    else:
        raise ParameterError(
            f"engine must be 'local', 'dask', the address of a Dask scheduler or an engine, got {engine!r}"
        )
