"""How tables are to be read where the reader's own findings are not what is meant."""

from __future__ import annotations

import codecs
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from shiftscope.errors import ParameterError

NAMED_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "bar": "|"}
DECIMAL_SIGNS = (".", ",")
GROUPING_SIGNS = (",", ".", " ", "'", "")
_NOT_DELIMITERS = '"\n\r'


class TableKeywords(TypedDict, total=False):
    """The fields of `TableOptions` as keywords."""

    header: bool | None
    names: Collection[str] | None
    delimiter: str | None
    decimal: str | None
    thousands: str | None
    encoding: str | None
    missing: Collection[str] | None
    comment: str | None
    day_first: bool | None


@dataclass(frozen=True)
class TableOptions:
    """What is known of the files; None leaves a decision to the reader, who says what was decided (`look`).

    Attributes
    ----------
    header
        Whether the first line of delimited text holds the names of the columns.
    names
        Names of the columns, from left to right, instead of those of the file.
    delimiter
        One character, or comma, semicolon, tab, blank (any number of them) or bar.
    decimal
        Decimal sign of the numbers: "." or ",".
    thousands
        What groups the digits of large numbers: ",", ".", " ", "'", or "" for nothing.
    encoding
        Such as "utf-8" or "cp1252".
    missing
        Texts that stand for a missing value, instead of the usual ones; an empty field always does. "chol=0" stands
        for the text 0 in column chol alone, and leaves the usual ones as they are.
    comment
        What lines begin with that are no data; "" if there are none.
    day_first
        Whether 3/4/2024 is the 3rd of April.
    """

    header: bool | None = None
    names: tuple[str, ...] | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    comment: str | None = None
    day_first: bool | None = None

    def __post_init__(self) -> None:
        for name in ("header", "day_first"):
            if not isinstance(getattr(self, name), bool | None):
                raise ParameterError(f"{name} must be True, False or None, got {getattr(self, name)!r}")
        for name in ("names", "missing"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        for name in ("delimiter", "decimal", "thousands", "encoding", "comment"):
            if not isinstance(getattr(self, name), str | None):
                raise ParameterError(f"{name} must be a text, got {getattr(self, name)!r}")
        self._check_signs()
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.names is not None and (not self.names or len({*self.names}) < len(self.names) or "" in self.names):
            raise ParameterError(f"names must be different and not empty, got {list(self.names)!r}")

    def _check_signs(self) -> None:
        if self.delimiter is not None:
            found = NAMED_DELIMITERS.get(self.delimiter.lower(), self.delimiter)
            if len(found) != 1 or not found.isascii() or found in _NOT_DELIMITERS:
                named = ", ".join(name for name in NAMED_DELIMITERS if name.isalpha())
                raise ParameterError(f"delimiter must be one character or {named}, got {self.delimiter!r}")
            object.__setattr__(self, "delimiter", found)
        for name, allowed in (("decimal", DECIMAL_SIGNS), ("thousands", GROUPING_SIGNS)):
            if getattr(self, name) not in (None, *allowed):
                raise ParameterError(f"{name} must be one of {list(allowed)}, got {getattr(self, name)!r}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ParameterError(f"decimal and thousands must differ, got {self.decimal!r} for both")

    @classmethod
    def of(cls, given: Any) -> TableOptions:
        """From keywords; those that do not exist are refused by name."""
        known = [field.name for field in fields(cls)]
        unknown = next((name for name in given if name not in known), None)
        if unknown is not None:
            raise TypeError(f"unexpected keyword {unknown!r}; options of tables are {', '.join(known)}")
        return cls(**given)


def _texts(name: str, given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    found = (given,) if isinstance(given, str) else given
    if not isinstance(found, Collection):
        raise ParameterError(f"{name} must be texts, got {given!r}")
    return tuple(str(text) for text in found)


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise ParameterError(f"encoding {encoding!r} is not known; utf-8 and cp1252 are usual ones") from error
