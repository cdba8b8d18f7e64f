"""Columns of a sample that are text so far, and which of their texts stand for nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from shiftscope.tables.column_kinds import Column, Unusable
from shiftscope.tables.field_kinds import MISSING_NUMBER, MISSING_TEXT
from shiftscope.tables.sentinels import Sentinel

PROBED = 2000  # values of a part by which a reading is tried before all are read


@dataclass(frozen=True)
class TextPart:
    """A column of one sample that is text so far.

    Attributes
    ----------
    text
        Stripped; null where nothing stands.
    decimal
        The decimal sign of its file.
    typed
        Its owner's type says text (a data frame): numbers alone stay text.
    """

    text: pl.Series
    decimal: str = "."
    typed: bool = False


Part = TextPart | Column | Unusable


@dataclass(frozen=True)
class ColumnAnswer:
    """A column of one or two samples, read.

    Attributes
    ----------
    columns
        One per sample.
    form
        How the values are written, in words; "" if there is nothing to say.
    missing
        Per sample, the rows of each text that stands for a missing value.
    words
        Per sample, the rows of each word that stands among numbers.
    doubts
        What may have been meant otherwise, with the option that says so.
    sentinels
    apart
        Per sample, which word stands where no value does, if there is more than one way of being missing.
    """

    columns: tuple[Column | Unusable, ...]
    form: str = ""
    missing: tuple[dict[str, int], ...] = ()
    words: tuple[dict[str, int], ...] = ()
    doubts: tuple[str, ...] = ()
    sentinels: tuple[Sentinel, ...] = ()
    apart: tuple[Column, ...] = ()


@dataclass(frozen=True)
class Settings:
    """What the user has said about values: see `TableOptions`."""

    missing: tuple[str, ...] | None = None
    own_missing: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of one column alone
    thousands: str | None = None
    day_first: bool | None = None

    def markers(self, name: str) -> tuple[str, ...]:
        """Texts that are missing in a column whatever it is."""
        usual = MISSING_TEXT if self.missing is None else self.missing
        return (*usual, *self.own_missing.get(name, ()))


def without_missing(name: str, parts: Sequence[Part], settings: Settings) -> tuple[list[Part], list[dict[str, int]]]:
    """The parts with null for every text that means nothing, and how often each occurred."""
    markers = [marker for marker in settings.markers(name) if marker]
    asked = [] if settings.missing is None and name not in settings.own_missing else markers
    found: list[Part] = []
    counts: list[dict[str, int]] = []
    for part in parts:
        if isinstance(part, TextPart):
            if part.typed and settings.missing is None:
                markers = list(settings.own_missing.get(name, ()))
            gone = part.text.is_in(markers).fill_null(False)
            counts.append(counted(part.text.filter(gone)))
            empty = int(part.text.null_count())
            if empty:
                counts[-1][""] = empty
            found.append(replace(part, text=part.text.set(gone, None) if gone.any() else part.text))
        elif isinstance(part, Column) and part.kind == "number":
            column, rows = _numbers_missing(part, asked)
            found.append(column)
            counts.append(rows)
        else:
            found.append(part)
            counts.append({})
    return found, counts


def _numbers_missing(column: Column, asked: Sequence[str]) -> tuple[Column, dict[str, int]]:
    """A column of numbers without those that the user declares missing."""
    gone = np.isnan(column.values)
    rows = {"": int(gone.sum())} if gone.any() else {}
    for text in asked:
        value = _float(text)
        if value is not None and (hits := int((column.values == value).sum())):
            rows[text] = hits
            gone = gone | (column.values == value)
    return (replace(column, values=np.where(gone, np.nan, column.values)) if len(rows) > ("" in rows) else column), rows


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def counted(text: pl.Series) -> dict[str, int]:
    """How often each text occurs, the commonest first."""
    counts = text.drop_nulls().value_counts(sort=True, name="rows").sort(["rows", text.name], descending=[True, False])
    return dict(zip(counts[text.name].to_list(), counts["rows"].to_list(), strict=True))


def probe(texts: pl.Series) -> pl.Series:
    """Some of the values, spread over the column."""
    there = texts.drop_nulls()
    return there.gather_every(max(1, len(there) // PROBED))


def unmarked(text: pl.Series) -> pl.Series:
    """Texts that do not stand for a missing number."""
    return text.filter(~text.str.to_lowercase().is_in(list(MISSING_NUMBER)).fill_null(False))
