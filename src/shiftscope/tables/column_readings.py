"""What a column is, decided on both samples together, and its values read accordingly."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shiftscope.messages import listed
from shiftscope.tables.column_kinds import Column, Kind, Unusable, category_of
from shiftscope.tables.field_kinds import LEADING_ZERO
from shiftscope.tables.sentinels import find_sentinels
from shiftscope.tables.text_parts import ColumnAnswer, Part, Settings, TextPart, counted, without_missing
from shiftscope.tables.typed_readings import BOOLEANS, as_compact_dates, as_dates, as_numbers, as_times

LARGEST_WHOLE = 2.0**53  # beyond, a double may stand for another integer than the text


def read_parts(name: str, parts: Sequence[Part], declared: Kind | None, settings: Settings) -> ColumnAnswer:
    """Decide what a column is by all of its parts, and read each."""
    if any(isinstance(part, Unusable) for part in parts):
        return ColumnAnswer(tuple(_as_is(part) for part in parts))
    cleaned, gone = without_missing(name, parts, settings)
    answer = _answer(name, cleaned, declared, settings)
    whole = tuple(
        column if isinstance(column, Unusable) else _whole(column, part)
        for column, part in zip(answer.columns, parts, strict=True)
    )
    more = answer.missing or ({},) * len(parts)
    missing = tuple(dict(Counter(first) + Counter(second)) for first, second in zip(gone, more, strict=True))
    far = find_sentinels([c for c in whole if isinstance(c, Column)]) if declared is None else ()
    apart = _words_apart(cleaned, whole, answer.words, missing)
    return replace(answer, columns=whole, missing=missing, sentinels=far, apart=apart)


def _as_is(part: Part) -> Column | Unusable:
    return category_of(part.text) if isinstance(part, TextPart) else part


def _answer(name: str, parts: Sequence[Part], declared: Kind | None, settings: Settings) -> ColumnAnswer:
    texts = [part for part in parts if isinstance(part, TextPart) and part.text.null_count() < len(part.text)]
    kinds = {part.kind for part in parts if isinstance(part, Column) and not part.empty}
    if not texts:
        return _nothing_to_read(parts, kinds)
    if declared == "category" or "category" in kinds or len(kinds) > 1 or "duration" in kinds:
        return _category(name, parts)
    only: Kind | None = declared or (kinds.pop() if kinds else None)
    padded = _leading_zeros(texts) if only is None else None
    readers = (("date", as_compact_dates), ("number", as_numbers), ("date", as_dates), ("time", as_times))
    for kind, read in readers:
        if only not in (None, kind) or (kind == "number" and padded is not None):
            continue
        found = read(name, parts, settings, declared == kind)
        if found is not None:
            return found
    answer = _category(name, parts)
    if padded is not None:
        option = shlex.quote(f"{name}=number")
        doubt = f"{name}: leading zeros as in {padded}, so it is read as text; --kind {option} reads it as numbers"
        return replace(answer, form="leading zeros", doubts=(*answer.doubts, doubt))
    return answer


def _nothing_to_read(parts: Sequence[Part], kinds: set[Kind]) -> ColumnAnswer:
    """No text that holds anything: parts keep what they are, and empty ones join them."""
    kind: Kind = next(iter(kinds)) if len(kinds) == 1 else "number"
    return ColumnAnswer(
        tuple(Column(kind, np.full(len(part.text), np.nan)) if isinstance(part, TextPart) else part for part in parts)
    )


def _leading_zeros(texts: Sequence[TextPart]) -> str | None:
    """A whole number with zeros in front, if there is one: such texts are names."""
    for part in texts:
        hits = part.text.filter(part.text.str.contains(LEADING_ZERO).fill_null(False))
        if not hits.is_empty():
            return str(hits[0])
    return None


def _words_apart(
    parts: Sequence[Part],
    columns: Sequence[Column | Unusable],
    words: Sequence[dict[str, int]],
    missing: Sequence[dict[str, int]],
) -> tuple[Column, ...]:
    """Which word stands where no value does; nothing if there is only one way of being missing."""
    kinds = {word for counts in words for word in counts}
    if not kinds or len(kinds) + any(missing) < 2:
        return ()
    found = []
    for part, column in zip(parts, columns, strict=True):
        if isinstance(column, Unusable):
            return ()
        gone = pl.Series(np.isnan(column.values))
        text = part.text if isinstance(part, TextPart) else pl.Series([None] * len(gone), dtype=pl.String)
        level = pl.select(
            pl.when(gone & text.is_in(list(kinds)).fill_null(False))
            .then(text)
            .when(gone)
            .then(pl.lit("missing"))
            .otherwise(pl.lit(f"a {column.kind}"))
        ).to_series()
        found.append(category_of(level))
    return tuple(found)


def _category(name: str, parts: Sequence[Part]) -> ColumnAnswer:
    """The column as text: one spelling for 1 and 1.0, and for yes and Yes."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    spelled = _spellings(texts)
    columns: list[Column | Unusable] = []
    for part in parts:
        if isinstance(part, TextPart):
            columns.append(category_of(part.text.replace(spelled) if spelled else part.text))
        else:
            columns.append(part)
    doubts: tuple[str, ...] = ()
    if spelled:
        pairs = listed([f"{old} = {new}" for old, new in sorted(spelled.items())])
        doubts = (f"{name}: one value in several spellings: {pairs}",)
    return ColumnAnswer(tuple(columns), doubts=doubts)


def _spellings(texts: Sequence[pl.Series]) -> dict[str, str]:
    """Which levels are other spellings of one: 1.0 beside 1, and words of yes and no in other letters."""
    if not texts or any(text.head(10_000).n_unique() > 1000 for text in texts):
        return {}
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(counted(text.rename("")))
    found = {}
    for level in counts:
        bare = level.rstrip("0").removesuffix(".") if level.endswith("0") and "." in level else level
        if bare != level and bare in counts and bare.lstrip("+-").isdecimal():
            found[level] = bare
    if {level.lower() for level in counts} in BOOLEANS:
        for word in {level.lower() for level in counts}:
            spellings = sorted((level for level in counts if level.lower() == word), key=lambda s: (-counts[s], s))
            found.update(dict.fromkeys(spellings[1:], spellings[0]))
    return found


def _whole(column: Column, part: Part) -> Column:
    """Marked as whole if all numbers are: text does not tell integers from floats, but identifiers are integers."""
    if column.kind != "number" or not isinstance(part, TextPart):
        return column
    values = column.values
    if np.isnan(values).any() or not len(values) or not np.isfinite(values).all():
        return column
    return replace(column, whole=bool(np.all((values % 1 == 0) & (np.abs(values) < LARGEST_WHOLE))))
