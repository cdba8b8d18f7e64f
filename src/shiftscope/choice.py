"""Which columns the user wants to take part, and which do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shiftscope.columns import KINDS, Kind
from shiftscope.errors import ParameterError
from shiftscope.wording import shown


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
        wrong = [f"{shown(name)}: {kind!r}" for name, kind in self.kinds.items() if kind not in KINDS]
        if wrong:
            raise ParameterError(f"columns: kinds must be one of {', '.join(KINDS)}, got {', '.join(wrong)}")
        if isinstance(self.include, str) or isinstance(self.exclude, str):
            raise ParameterError("columns: include and exclude must be sequences of names, got a single text")


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part, and why."""

    name: str
    reason: str
