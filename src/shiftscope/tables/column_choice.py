"""Which columns the user wants to take part, and which do not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from shiftscope.errors import ParameterError, is_one_of
from shiftscope.messages import shown
from shiftscope.tables.column_kinds import KINDS, Kind


@dataclass(frozen=True)
class Columns:
    """Which columns take part, and as what.

    Attributes
    ----------
    include
        The only columns that take part; None for all that can.
    exclude
        Columns that take no part.
    kinds
        "number", "date", "time", "duration" or "category" for columns that are to be read as such. A column with a
        declared kind is never taken for an identifier.
    """

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.kinds, Mapping):
            raise ParameterError(f"columns: kinds must map names to kinds, got {self.kinds!r}")
        wrong = [f"{shown(name)}: {kind!r}" for name, kind in self.kinds.items() if not is_one_of(kind, *KINDS)]
        if wrong:
            raise ParameterError(f"columns: kinds must be one of {', '.join(KINDS)}, got {', '.join(wrong)}")
        for names in (() if self.include is None else self.include, self.exclude):
            if isinstance(names, str):
                raise ParameterError("columns: include and exclude must be sequences of names, got a single text")
            if not _are_names(names):
                raise ParameterError(f"columns: include and exclude must be sequences of names, got {names!r}")


def _are_names(names: Any) -> bool:
    try:
        return isinstance(names, Collection) and all(isinstance(name, str) for name in names)
    except TypeError:  # an array without any dimension
        return False


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part, and why.

    Attributes
    ----------
    name, reason : str
    apart : bool
        It tells the samples apart by itself, and was set aside so that it does not hide the others.
    chance : float
        Of a column set aside that is part of the verdict: how likely that is for samples of one distribution, at most.
        A date only says that the samples are from different times, and is not part of it: 1.
    """

    name: str
    reason: str
    apart: bool = False
    chance: float = 1.0


def as_columns(columns: Any) -> Columns:
    """The choice of columns; a sequence names the only ones, and anything else is for `Columns` to judge."""
    if isinstance(columns, Columns):
        return columns
    if isinstance(columns, str):
        return Columns(columns)  # type: ignore[arg-type]  # refused there
    with suppress(TypeError):  # None, or nothing that can be gone through
        columns = tuple(columns)
    return Columns(columns)
