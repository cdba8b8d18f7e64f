"""The one door: two samples in, read, encoded, in canonical order and on an engine; results go out turned back.

Every public function that takes two samples opens them here. So all of them take the same forms of data, engines,
seeds and progress, refuse the same mistakes in the same words, and swapping the samples swaps every answer exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import Groups
from shiftscope.encoding.sample_order import swapped
from shiftscope.engines.base import Engine, Pool
from shiftscope.engines.local import LocalEngine
from shiftscope.errors import InputError, ParameterError, check_seed
from shiftscope.progress import Progress, checked_progress, heard_by
from shiftscope.tables.column_choice import Columns, as_columns
from shiftscope.tables.file_readings import Look
from shiftscope.tables.options import TableOptions
from shiftscope.tables.table import Table

ChosenColumns = Columns | Sequence[str] | None
ChosenEngine = Engine | str | None


class Turnable(Protocol):
    """A result that tells the same with the two samples exchanged."""

    def swapped(self) -> Self:
        """The same with the two samples exchanged."""
        ...


Result = TypeVar("Result", bound=Turnable)


@dataclass(frozen=True)
class Samples:
    """Two samples, opened.

    Attributes
    ----------
    pool : Pool
        The samples in canonical order.
    engine : Engine
    random_state : int
    progress : Progress
    """

    pool: Pool
    engine: Engine
    random_state: int
    progress: Progress

    @property
    def encoded(self) -> Encoded:
        """The rows at hand, in canonical order."""
        return self.pool.encoded

    @property
    def as_given(self) -> Encoded:
        """The rows at hand, in the user's order of the samples."""
        return swapped(self.encoded) if self.pool.flipped else self.encoded

    @property
    def reading(self) -> Look | None:
        """What was understood of the samples, in canonical order."""
        return self.pool.reading

    @property
    def points(self) -> NDArray[np.float64]:
        """(n, D) pooled standardised matrix."""
        return self.encoded.points

    @property
    def groups(self) -> Groups:
        """The matrix columns of each feature."""
        return self.encoded.groups

    @property
    def is_current(self) -> NDArray[np.bool_]:
        """(n,) labels of the pool, in canonical order."""
        return self.encoded.is_current

    def tables(self) -> tuple[Table, Table]:
        """Both samples as tables on this machine, in the user's order."""
        first, second = self.pool.tables()
        return (second, first) if self.pool.flipped else (first, second)

    def stage(self, name: str) -> Callable[[float], None]:
        """Progress of one stage."""
        return lambda fraction: self.progress(name, fraction)

    def turned(self, result: Result) -> Result:
        """A result about the canonical order, in the user's."""
        return turned(result, self.pool.flipped)

    def need_all_rows(self, what: str) -> None:
        """Refuse samples of which only some rows are at hand."""
        if self.pool.gathered is not None:
            raise InputError(
                f"{what} needs all rows on this machine, and the samples have more than the engine's gathered_rows; "
                "raise that, or give fewer rows"
            )


@contextmanager
def open_samples(
    reference: Any,
    current: Any,
    *,
    columns: ChosenColumns = None,
    engine: ChosenEngine = None,
    random_state: int = 0,
    progress: Progress | None = None,
    tables: TableOptions | None = None,
) -> Iterator[Samples]:
    """Open two samples for the time of the block.

    Parameters
    ----------
    reference, current : array, data frame or path
        See `tables.table.read_table`; columns are matched by name.
    columns : Columns or sequence of str, optional
        Which columns take part, and as what; a sequence names the only ones.
    engine : Engine or str, optional
        "local" (the default), "dask" (a cluster on this machine that ends with the block), the address of a Dask
        scheduler, or an engine such as `DaskEngine`.
    random_state : int
        Seed of everything that is drawn.
    progress : callable(stage, fraction), optional
    tables : TableOptions, optional
        How files are to be read where that is not to be found out.
    """
    check_seed(random_state)
    chosen, told = as_columns(columns), checked_progress(progress)
    with heard_by(told), opened(engine) as where:
        seed = int(random_state)
        with closing(where.open(reference, current, chosen, seed, tables or TableOptions())) as pool:
            yield Samples(pool, where, seed, told)


@contextmanager
def opened(engine: ChosenEngine) -> Iterator[Engine]:
    """An engine by its name, or the engine itself."""
    check_engine(engine)
    if not isinstance(engine, str):
        yield LocalEngine() if engine is None else engine
    elif engine == "local":
        yield LocalEngine()
    else:
        try:
            from shiftscope.engines.dask.engine import DaskEngine  # its packages are an extra
        except ImportError as error:
            raise ParameterError(
                f"engine 'dask' needs packages that are not installed ({error}); install shiftscope[dask]"
            ) from error
        with DaskEngine.at(None if engine == "dask" else engine) as started:
            yield started


def check_engine(engine: object) -> None:
    """Refuse what names or is no engine."""
    named = engine is None or (isinstance(engine, str) and (engine in ("local", "dask") or "://" in engine))
    if not named and (isinstance(engine, type) or not isinstance(engine, Engine)):
        raise ParameterError(
            f"engine must be 'local', 'dask', the address of a Dask scheduler or an engine, got {engine!r}"
        )


def turned(result: Result, flipped: bool) -> Result:
    """The result with the two samples exchanged, if they had been."""
    return result.swapped() if flipped else result
