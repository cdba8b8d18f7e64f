"""Which columns only name their rows: identifiers, row numbers and free text."""

from __future__ import annotations

import re

import numpy as np

from shiftscope.encoding.column_facts import MOST_LEVELS, Facts
from shiftscope.messages import listed, shown
from shiftscope.tables.column_kinds import parsed_number

FEW_LEVELS = 20  # a text column with so few distinct values is a category, however few rows there are
DISTINCT_SHARE = 0.5  # of the rows: more distinct texts than this, in both samples, are names, not categories
ODD_SHARE = 0.1  # of the distinct texts that are no numbers: more, and the others are numbers by accident
FREE_TEXT = 4  # words in the typical value
ENOUGH_ROWS = 50  # whole numbers of smaller samples may all differ by chance
_NAMED = re.compile(r"(^|[^a-z])(id|uuid|guid|key|index|row|rownum|row_number)$|[a-z]I[dD]$")


def text_names(pair: tuple[Facts, Facts]) -> str | None:
    """Why a column of text is left out as a mere name of its rows; None if it is a category.

    More than `FEW_LEVELS` distinct values, and more than one for every two rows in each sample.
    """
    levels = {*pair[0].levels, *pair[1].levels}
    if len(levels) <= FEW_LEVELS:
        return None
    if all(len(facts.levels) > DISTINCT_SHARE * facts.there for facts in pair):
        odd = [level for level in levels if parsed_number(level) is None]
        if len(odd) <= ODD_SHARE * len(levels):
            found = f" except for {listed(sorted(odd))}" if odd else ""
            return f"holds numbers as text{found}; make it numbers, or missing, or declare it as a category"
        words = np.median([len(level.split()) for level in levels])
        what = "free text" if words >= FREE_TEXT else "identifier-like text"
        return (
            f"{what}, nearly every value is distinct, such as {shown(min(levels))}; "
            "declare it as a category to compare it"
        )
    return None


def too_many(pair: tuple[Facts, Facts]) -> str | None:
    """Why a category is left out whose levels are more than are counted; else None."""
    if len({*pair[0].levels, *pair[1].levels}) <= MOST_LEVELS:
        return None
    return f"more than {MOST_LEVELS:,} distinct texts; group them, or make them numbers"


def number_names(name: str, pair: tuple[Facts, Facts]) -> str | None:
    """Why a named column of whole numbers is left out if all of them are distinct within each sample; else None.

    Samples of at least `ENOUGH_ROWS` rows, and either the column is called an identifier or both samples are unbroken
    runs.
    """
    for facts in pair:
        if not facts.whole or facts.rows < ENOUGH_ROWS or facts.missing or facts.repeats:
            return None
    if all(facts.high - facts.low == facts.rows - 1 for facts in pair):
        return "identifier-like, the rows are numbered without a gap; declare it as a number to compare it"
    if _NAMED.search(name) or _NAMED.search(name.lower()):
        return "identifier-like, whole numbers that are all distinct; declare it as a number to compare it"
    return None
