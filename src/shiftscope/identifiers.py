"""Which columns only name their rows: identifiers, row numbers and free text."""

from __future__ import annotations

import re

import numpy as np

from shiftscope.columns import Column, parsed_number
from shiftscope.wording import listed, shown

FEW_LEVELS = 20  # a text column with so few distinct values is a category, however few rows there are
DISTINCT_SHARE = 0.5  # of the rows: more distinct texts than this, in both samples, are names, not categories
ODD_SHARE = 0.1  # of the distinct texts that are no numbers: more, and the others are numbers by accident
FREE_TEXT = 4  # words in the typical value
MANY_ROWS = 50  # whole numbers of smaller samples may all differ by chance
_NAMED = re.compile(r"(^|[^a-z])(id|uuid|guid|key|index|row|rownum|row_number)$|[a-z]I[dD]$")


def identifier(name: str, pair: tuple[Column, Column], *, named: bool) -> str | None:
    """Why a column is left out as a mere name of its rows; None if it is none.

    Text: more than `FEW_LEVELS` distinct values, and more than one for every two rows in each sample. Whole numbers of
    named columns: all distinct within each sample of at least `MANY_ROWS` rows, and either the column is called an
    identifier or both samples are unbroken runs.
    """
    if pair[0].kind == "category":
        return _names_of_text(pair)
    if named and all(column.whole and len(column.values) >= MANY_ROWS for column in pair):
        return _names_of_numbers(name, pair)
    return None


def _names_of_text(pair: tuple[Column, Column]) -> str | None:
    levels = {*pair[0].levels, *pair[1].levels}
    if len(levels) <= FEW_LEVELS:
        return None
    for column in pair:
        rows = int(np.sum(~np.isnan(column.values)))
        if len(column.levels) <= DISTINCT_SHARE * rows or rows == 0:
            return None
    odd = [level for level in levels if parsed_number(level) is None]
    if len(odd) <= ODD_SHARE * len(levels):
        found = f" except for {listed(sorted(odd))}" if odd else ""
        return f"holds numbers as text{found}; make it numbers, or missing, or declare it as a category"
    example = min(levels)
    words = np.median([len(level.split()) for level in levels])
    what = "free text" if words >= FREE_TEXT else "identifier-like text"
    return f"{what}, nearly every value is distinct, such as {shown(example)}; declare it as a category to compare it"


def _names_of_numbers(name: str, pair: tuple[Column, Column]) -> str | None:
    runs = []
    for column in pair:
        values = column.values
        if np.isnan(values).any() or np.unique(values).size < values.size:
            return None
        runs.append(np.ptp(values) == values.size - 1)
    if all(runs):
        return "identifier-like, the rows are numbered without a gap; declare it as a number to compare it"
    if _NAMED.search(name) or _NAMED.search(name.lower()):
        return "identifier-like, whole numbers that are all distinct; declare it as a number to compare it"
    return None
