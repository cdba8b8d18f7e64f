"""A column as numbers, dates or times of day, if most of its texts are such and the others few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.messages import shown
from shiftscope.tables.column_kinds import Column, Kind, Unusable
from shiftscope.tables.date_texts import ORDERS, Order, clock_values, compact_date_values, date_values
from shiftscope.tables.field_kinds import COMPACT_DATE, MISSING_NUMBER
from shiftscope.tables.number_texts import USUAL_FORM, NumberForm, number_form
from shiftscope.tables.text_parts import PROBED, ColumnAnswer, Part, Settings, TextPart, counted, probe, unmarked

MOST_WORDS = 10  # distinct words among numbers; more are no exceptions
NUMBERS_PER_WORD = 5  # distinct values for each distinct word among them
LEAST_SHARE = 0.5  # of the values that must be of the kind of the column
BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})
_TRUE = {"true", "yes", "t", "y", "1"}


def as_numbers(name: str, parts: Sequence[Part], settings: Settings, declared: bool) -> ColumnAnswer | None:
    """The column as numbers, if it is one: booleans of different words too."""
    truth = _truth(parts)
    if truth is not None:
        return truth
    forms = {}
    for at, part in enumerate(parts):
        if isinstance(part, TextPart):
            some = unmarked(probe(part.text))
            forms[at] = number_form(some, part.decimal, settings.thousands)
            if not declared and len(some) - forms[at].values(some).null_count() < LEAST_SHARE * len(some):
                return None
    if not declared and all(isinstance(part, TextPart) and part.typed for part in parts) and _pure(parts, forms):
        return None
    read = [forms[at].values(part.text) if isinstance(part, TextPart) else None for at, part in enumerate(parts)]
    answer = _typed("number", parts, read, declared)
    if answer is None:
        return None
    said = sorted({form.said() for form in forms.values() if form.said()})
    return replace(answer, form="; ".join(said), doubts=answer.doubts + _number_doubts(name, parts, forms))


def _pure(parts: Sequence[Part], forms: dict[int, NumberForm]) -> bool:
    """Whether texts of a data frame are all plain numbers: their owner has made them text."""
    return all(
        forms[at] == USUAL_FORM and USUAL_FORM.values(part.text).null_count() == part.text.null_count()
        for at, part in enumerate(parts)
        if isinstance(part, TextPart)
    )


def _number_doubts(name: str, parts: Sequence[Part], forms: dict[int, NumberForm]) -> tuple[str, ...]:
    """Numbers such as 1,234 or 1.234, which may be meant either way."""
    for at, form in forms.items():
        part = parts[at]
        if isinstance(part, TextPart) and form.grouped:
            there = unmarked(probe(part.text))
            sign = "," if form.decimal == "," else "."
            other = "." if sign == "," else ","
            odd = r"^[+-]?\d{1,3}[.,]\d{3}$"
            signed = there.filter(there.str.contains("[.,]").fill_null(False))
            if not signed.is_empty() and signed.str.contains(odd).all():
                example = str(signed[0])
                meant = example.replace(sign, ".") if sign in example else example.replace(other, "")
                return (f"{name}: {shown(example)} is read as {meant}; --decimal says otherwise",)
    return ()


def _truth(parts: Sequence[Part]) -> ColumnAnswer | None:
    """Booleans as 0 and 1: true and false always, other words if the samples use different ones."""
    levels: list[set[str]] = []
    for part in parts:
        if isinstance(part, TextPart):
            distinct = part.text.drop_nulls()
            if len(distinct) > 100 and distinct.head(100).n_unique() > 8:
                return None
            found = {str(text).lower() for text in distinct.unique()}
            if len(found) > 8:
                return None
            levels.append({level for level in found if level not in MISSING_NUMBER})
        elif not _is_binary(part):
            return None
    together = set().union(*levels)
    words = together - {"0", "1"}
    pairs = [pair for pair in BOOLEANS if words & pair]
    if (
        not words
        or not all(any(word in pair for pair in pairs) for word in words)
        or (together & {"0", "1"} and len(words) > 4)
    ):
        return None
    plain = len(pairs) == 1 and pairs[0] != {"true", "false"} and not together & {"0", "1"}
    if plain and not any(isinstance(part, Column) and not part.empty for part in parts):
        return None  # yes and no are better told as words
    read: list[pl.Series | None] = []
    for part in parts:
        if isinstance(part, TextPart):
            low = part.text.str.to_lowercase()
            false = low.is_in(["0", *words])
            chosen = pl.when(low.is_in(list(_TRUE))).then(1.0).when(false).then(0.0).otherwise(None)
            read.append(pl.select(chosen).to_series())
        else:
            read.append(None)
    answer = _typed("number", parts, read, True)
    return None if answer is None else replace(answer, form=f"{' and '.join(sorted(words))} as 1 and 0")


def _is_binary(part: Part) -> bool:
    """Whether a column holds nothing but 0 and 1."""
    if not isinstance(part, Column) or part.kind != "number":
        return False
    there = part.values[~np.isnan(part.values)]
    return bool(np.all((there == 0.0) | (there == 1.0)))


def as_dates(name: str, parts: Sequence[Part], settings: Settings, declared: bool) -> ColumnAnswer | None:
    """The column as dates, if it is one; the order of day and month by the evidence of all parts."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    some = pl.concat([unmarked(probe(text)).rename("") for text in texts])
    counts = {order: int((~np.isnan(date_values(some, order))).sum()) for order in ORDERS}
    most = max(counts.values())
    if not most or (not declared and most < LEAST_SHARE * len(some)):
        return None
    orders = [order for order in ORDERS if counts[order] >= 0.5 * most]
    if settings.day_first is not None and len(orders) > 1:
        orders = [order for order in orders if order != ("mdy" if settings.day_first else "dmy")] or orders
    values = {
        order: [date_values(part.text, order) if isinstance(part, TextPart) else None for part in parts]
        for order in orders
    }
    there = {order: sum(int((~np.isnan(v)).sum()) for v in found if v is not None) for order, found in values.items()}
    best = [order for order in orders if there[order] == max(there.values())]
    order, doubts = _order(name, best, values, texts)
    answer = _typed("date", parts, values[order], declared)
    if answer is None:
        return None
    return replace(answer, form=_date_form(order, texts), doubts=answer.doubts + doubts)


def as_compact_dates(name: str, parts: Sequence[Part], settings: Settings, declared: bool) -> ColumnAnswer | None:
    """The column as dates such as 20240131, if every value of every part is one, and they differ."""
    texts = [part for part in parts if isinstance(part, TextPart) and not part.typed]
    there = [unmarked(part.text.drop_nulls()) for part in texts]
    if len(texts) < len(parts) or not all(text.head(PROBED).str.contains(COMPACT_DATE).all() for text in there):
        return None
    if pl.concat([text.rename("") for text in there]).n_unique() < 2:
        return None
    read = [compact_date_values(part.text) for part in texts]
    answer = _typed("date", parts, read, False)
    if answer is None or any(answer.words):
        return None
    return replace(answer, form="year, month and day without signs")


def _order(
    name: str, orders: list[Order], values: dict[Order, list[Any]], texts: Sequence[pl.Series]
) -> tuple[Order, tuple[str, ...]]:
    """The order of day, month and year; if several fit, the one whose dates go up, else by the sign, in doubt."""
    first = orders[0]
    same = [
        order
        for order in orders
        if all(
            a is None or np.array_equal(a, b, equal_nan=True) for a, b in zip(values[first], values[order], strict=True)
        )
    ]
    if len(same) == len(orders):
        return first, ()
    rising = [order for order in orders if all(v is None or _rises(v) for v in values[order])]
    if len(rising) == 1:
        return rising[0], ()
    slashed = any(text.drop_nulls().head(1).str.contains("/", literal=True).any() for text in texts)
    order: Order = "mdy" if slashed and "mdy" in orders else "dmy" if "dmy" in orders else orders[-1]
    example = next(str(text.drop_nulls()[0]) for text in texts if text.null_count() < len(text))
    option, other = ("--day-first", "day") if order == "mdy" else ("--month-first", "month")
    read = "month" if order == "mdy" else "day"
    return order, (f"{name}: dates such as {example} are read {read} first; {option} reads them {other} first",)


def _rises(values: NDArray[np.float64]) -> bool:
    there = values[~np.isnan(values)]
    return len(there) > 2 and bool(np.all(np.diff(there) >= 0)) and there[-1] > there[0]


def _date_form(order: Order, texts: Sequence[pl.Series]) -> str:
    first = pl.concat([text.drop_nulls().head(5).rename("") for text in texts])
    if first.str.contains(r"^\d{4}").all():
        return "year first"
    if first.str.contains("[A-Za-z]{3}").any():
        return "month by name"
    return {"ymd": "year first", "mdy": "month/day/year", "dmy": "day/month/year"}[order]


def as_times(name: str, parts: Sequence[Part], settings: Settings, declared: bool) -> ColumnAnswer | None:
    """The column as times of day, if it is one."""
    some = pl.concat([unmarked(probe(part.text)).rename("") for part in parts if isinstance(part, TextPart)])
    if not declared and np.isnan(clock_values(some)).sum() > (1 - LEAST_SHARE) * len(some):
        return None
    read = [clock_values(part.text) if isinstance(part, TextPart) else None for part in parts]
    return _typed("time", parts, read, declared)


def _typed(kind: Kind, parts: Sequence[Part], read: Sequence[Any], declared: bool) -> ColumnAnswer | None:
    """Columns of one kind, if what does not read as it is few: marks of missing values, and a few words."""
    columns: list[Column | Unusable] = []
    missing: list[dict[str, int]] = []
    words: list[dict[str, int]] = []
    for part, values in zip(parts, read, strict=True):
        if not isinstance(part, TextPart):
            columns.append(part)
            missing.append({})
            words.append({})
            continue
        values = values.fill_null(float("nan")).to_numpy() if isinstance(values, pl.Series) else values
        left = part.text.filter(pl.Series(np.isnan(values)) & part.text.is_not_null())
        counts = counted(left) if left.n_unique() <= 1000 else {str(at): 1 for at in range(1001)}
        missing.append({word: rows for word, rows in counts.items() if word.lower() in MISSING_NUMBER})
        words.append({word: rows for word, rows in counts.items() if word.lower() not in MISSING_NUMBER})
        columns.append(Column(kind, values))
    odd = {word for counts in words for word in counts}
    if odd and not (_most(words, columns) if declared else _few(odd, words, columns)):
        return None
    if not any(isinstance(column, Column) and not column.empty for column in columns):
        return None
    return ColumnAnswer(tuple(columns), missing=tuple(missing), words=tuple(words))


def _few(odd: set[str], words: Sequence[dict[str, int]], columns: Sequence[Column | Unusable]) -> bool:
    """Whether words among values are so few that the column is still one of values."""
    if len(odd) > MOST_WORDS or not _most(words, columns):
        return False
    return np.unique(_values(columns)).size >= NUMBERS_PER_WORD * len(odd)


def _most(words: Sequence[dict[str, int]], columns: Sequence[Column | Unusable]) -> bool:
    """Whether there are at least as many values as words."""
    return len(_values(columns)) >= sum(sum(counts.values()) for counts in words)


def _values(columns: Sequence[Column | Unusable]) -> NDArray[np.float64]:
    return np.concatenate([c.values[~np.isnan(c.values)] for c in columns if isinstance(c, Column)])
